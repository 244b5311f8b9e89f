import io

import polars as pl
import pyarrow as pa
import pytest

from karat.files import read_testset
from karat.io.arrow import read_arrow
from karat.io.opening import FileRefusedError


def stream(table, **options):
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return buffer.getvalue()


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_rows_come_as_they_were_written(compression):
    table = pa.table(
        {"id": ["a", "b"], "n": [1, 2], "nested": [{"x": [1]}, None], "d": pa.array(["u", "u"]).dictionary_encode()}
    )
    frame = read_arrow(stream(table, compression=compression), "x.arrow")
    assert frame.to_dicts() == table.to_pylist()


def test_a_file_is_a_table_of_its_own(tmp_path):
    pl.DataFrame({"id": ["1"], "question": ["Who?"], "gold_doc": ["d"]}).write_ipc_stream(tmp_path / "qa.arrow")
    testset, info = read_testset(tmp_path / "qa.arrow")
    assert (testset.ids, testset.name, info.format) == (("1",), "qa", "records")


def swollen(data, old, new):
    """The stream with a number of eight bytes replaced wherever it stands."""
    assert old.to_bytes(8, "little") in data
    return data.replace(old.to_bytes(8, "little"), new.to_bytes(8, "little", signed=True))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (swollen(stream(pa.table({"a": pa.nulls(7919)})), 7919, 1 << 28), "unpacks to more than 32 MB"),
        (swollen(stream(pa.table({"a": pa.nulls(7919)})), 7919, -5), "its headers cannot be read"),
        (swollen(stream(pa.table({"a": ["x" * 7919]}), compression="zstd"), 7919, 1 << 50), "more than 32 MB"),
        (stream(pa.table({"a": ["x" * (40 << 20)]}), compression="zstd"), "unpacks to more than 32 MB"),
    ],
)  # fmt: skip
def test_huge_counts_are_refused_before_anything_is_read(data, words):
    with pytest.raises(FileRefusedError, match=words):
        read_arrow(data, "x.arrow")


def test_a_stream_that_is_cut_anywhere_before_its_end_is_refused():
    data = stream(pa.table({"id": ["a", "b"], "text": ["x", "y"]}))
    end = len(data) - 8  # where the mark of the end begins
    for cut in range(4, end + 1):
        with pytest.raises(FileRefusedError, match="is a damaged Arrow file"):
            read_arrow(data[:cut], "x.arrow")
