"""Opening: regular files only, and what is packed within bounds."""

import gzip
import io
import os
import struct
import zipfile
import zlib
from pathlib import Path

import polars as pl
import pytest

from karat.core.errors import InputError, UsageError
from karat.files import read_results
from karat.io.limits import UNPACK_FREE, ReadLimits, unpacked_most
from karat.io.opening import FileRefusedError, check_zip, open_regular, pieces, read_whole
from karat.io.parquet import read_parquet


def packed(size, unit=b"\0"):
    """gzip of so many bytes, made without holding them."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        for _ in range(size >> 20):
            file.write(unit * ((1 << 20) // len(unit)))
    return out.getvalue()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused_in_one_sentence(device):
    with pytest.raises(InputError) as caught:
        read_results(device)
    assert str(caught.value) == (
        f"{device}: is no regular file (a pipe, socket or device). Save what it gives to a file, and name that."
    )


def test_a_pipe_is_refused_without_being_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileRefusedError, match="is no regular file"):
        open_regular(tmp_path / "pipe")
    with pytest.raises(InputError, match="is no regular file"):
        read_results(tmp_path / "pipe")


def test_what_gzip_packed_is_read_whole_and_no_further_than_its_size_warrants(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b"one\n") + bytes(9) + gzip.compress(b"two\n"))
    assert read_whole(path) == b"one\ntwo\n"
    path.write_bytes(packed(UNPACK_FREE))
    assert sum(map(len, pieces(path))) == UNPACK_FREE
    path.write_bytes(packed(UNPACK_FREE + (1 << 20)))
    with pytest.raises(FileRefusedError) as caught:
        read_whole(path)
    assert caught.value.kind == "large"
    assert caught.value.problem == f"unpacks to more than 32 MB, and has {path.stat().st_size:,} bytes itself"


def test_a_file_over_the_limit_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * (1 << 20) + b"x")
    with pytest.raises(FileRefusedError, match="is larger than 1 MB, the most that is read"):
        read_whole(tmp_path / "a", 1 << 20)


def lying_archive(size):
    """A zip archive whose only part declares 10 bytes and unpacks to `size`."""
    data = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = data.compress(bytes(size)) + data.flush()
    name = b"word/document.xml"
    sizes = struct.pack("<III", 0, len(deflated), 10)
    local = b"PK\x03\x04" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", len(name), 0) + name
    entry = b"PK\x01\x02" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes
    entry += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local) + len(deflated), 0)
    return local + deflated + entry + end


def test_the_parts_of_an_archive_are_counted_whatever_they_declare():
    assert zipfile.ZipFile(io.BytesIO(lying_archive(100))).infolist()[0].file_size == 10
    check_zip(io.BytesIO(lying_archive(100)), "a.docx")
    with pytest.raises(FileRefusedError, match="unpacks to more than 32 MB"):
        check_zip(io.BytesIO(lying_archive(UNPACK_FREE + (2 << 20))), "a.docx")


def parquet_of(**columns):
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize("compression", ["zstd", "snappy", "lz4", "uncompressed"])
def test_a_parquet_file_is_read_as_it_was_written(compression):
    frame = pl.DataFrame({"id": ["a", "b"], "n": [1, None], "many": [["x", "y"], []], "in": [{"t": 1.5}, {"t": None}]})
    out = io.BytesIO()
    frame.write_parquet(out, compression=compression, row_group_size=1)
    assert read_parquet(out.getvalue(), "a.parquet").equals(frame)


def test_a_few_bytes_of_parquet_do_not_become_gigabytes(tmp_path):
    repeated = parquet_of(text=["x" * (1 << 20)] * 400)
    assert len(repeated) < 10_000
    with pytest.raises(FileRefusedError, match="unpacks to more than 256 MB"):
        read_parquet(repeated, "a.parquet")
    zeros = parquet_of(n=pl.zeros(5_000_000, eager=True))
    assert len(zeros) < 20_000
    (tmp_path / "a.parquet").write_bytes(zeros)
    with pytest.raises(FileRefusedError, match="unpacks to more than 32 MB"):
        read_parquet(tmp_path / "a.parquet", "a.parquet")
    with pytest.raises(InputError, match="unpacks to more than 32 MB"):
        read_results(tmp_path / "a.parquet")


def test_a_parquet_file_whose_footer_is_torn_is_damaged():
    whole = parquet_of(n=[1, 2, 3])
    for torn in (
        whole[:-4],
        whole[:-8] + b"\xff\xff\xff\x7fPAR1",
        whole[:-30] + b"\xff" * 22 + whole[-8:],
        b"PAR1" * 3,
    ):
        with pytest.raises(FileRefusedError, match="is a damaged Parquet file"):
            read_parquet(torn, "a.parquet")


def test_want_of_memory_is_no_damage_of_the_file(monkeypatch):
    def scan(*_):
        raise MemoryError

    monkeypatch.setattr(pl, "scan_parquet", scan)
    with pytest.raises(MemoryError):
        read_parquet(parquet_of(n=[1, 2, 3]), "a.parquet")


def test_more_is_granted_to_larger_files():
    limits = ReadLimits(memory_mb=100, text_mb=10)
    assert (limits.memory(0), limits.memory(1 << 20)) == (100 << 20, 120 << 20)
    assert (limits.text(0), limits.text(1 << 20)) == (10 << 20, 20 << 20)
    assert unpacked_most(1 << 30) == 100 << 30


def test_a_limit_is_a_number_above_0_of_a_known_name():
    assert ReadLimits.of({"pages": None, "seconds": 1.5}) == ReadLimits(seconds=1.5)
    with pytest.raises(UsageError, match=r"the limit pages is 0\. Write a number above 0\."):
        ReadLimits(pages=0)
    with pytest.raises(UsageError, match=r"there is no limit 'page'\. Did you mean pages\?"):
        ReadLimits.of({"page": 3})


def test_a_name_with_half_of_a_character_is_no_path():
    with pytest.raises(InputError, match="is no path: it holds half of a character"):
        open_regular(Path("\ud800"))
