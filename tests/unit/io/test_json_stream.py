import gzip
import json
import tracemalloc

import pytest

from karat.core.errors import InputError
from karat.io import json_stream
from karat.io.json_stream import TruncatedError, json_values, outline
from karat.io.records import JSONError
from karat.io.source import Source


@pytest.fixture
def values(tmp_path):
    def read(text, inside=None):
        path = tmp_path / "x.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return list(json_values(Source(path), inside or {}))

    return read


def test_documents_lists_and_lines_are_values_alike(values):
    assert values('{"a": 1}') == [(1, {"a": 1})]
    assert values('[{"a": 1},\n {"a": 2}]') == [(1, {"a": 1}), (2, {"a": 2})]
    assert values('{"a": 1}\r\n\n{"a": 2}{"a": 3}') == [(1, {"a": 1}), (3, {"a": 2}), (3, {"a": 3})]
    assert values(gzip.compress(b"\xef\xbb\xbf[1, 2]")) == [(1, 1), (1, 2)]


def test_values_inside(values):
    text = '{"v": 1, "a": [{"s": [1, {"x": 3}], "r": {"s": 9}}, {"s": []}, {"s": [4]}], "b": [7]}'
    assert [value for _, value in values(text, {"a": {"s": {}}})] == [1, {"x": 3}, 4]


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_pieces_may_end_anywhere(values, monkeypatch, piece):
    monkeypatch.setattr(json_stream, "PIECE", piece)
    rows = [{"n": 12345.5, "t": 'a\\"ü€', "l": [True, None, -1e9]}, 98765, {"": {}}]
    for text in (json.dumps(rows, ensure_ascii=False), "\n".join(map(json.dumps, rows)), json.dumps(rows, indent=3)):
        assert [value for _, value in values(text)] == rows


@pytest.mark.parametrize("text", ['[1, {"a"', "[1, 2", '[1, "ab', '{"a": 1}\n{"a": tru', "[1,", '{"a": 1} {"b":'])
def test_a_file_that_ends_too_early(values, text, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(text)
    read = json_values(Source(path), {})
    assert next(read) in ((1, 1), (1, {"a": 1}))
    with pytest.raises(TruncatedError):
        list(read)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1 2, 33333333333333333333]", ", was expected"),
        ('{"a" 1}\n{"b": 2}                                ', "not valid JSON"),
        ("[" * 200, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
    ],
)
def test_what_is_no_json(values, text, problem):
    with pytest.raises(JSONError, match=problem):
        values(text)


def test_what_is_no_text(values, tmp_path):
    with pytest.raises(InputError, match="not UTF-8"):
        values(b'{"a": "\xff"}')
    assert values('{"a": "\\ud800"}') == [(1, {"a": "�"})]


def test_a_value_that_is_too_long(values, monkeypatch):
    monkeypatch.setattr(json_stream, "LINE_LIMIT", 1000)
    with pytest.raises(JSONError, match="longer than"):
        values(json.dumps(["a" * 2000]))


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[" + ",".join(json.dumps({"t": "x" * 1000}) for _ in range(30_000)) + "]")
    tracemalloc.start()
    count = sum(1 for _ in json_values(Source(path), {}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 30_000
    assert peak < 12 << 20  # of 30 MB


def test_outline():
    head = b'[{"resourceSpans":[{"resource":{"a":[{"key":"b:{"}]},"scopeSpans":[{"spans":[{"traceId":"x","attr'
    assert outline(head) >= {"resourceSpans", "resourceSpans.resource.a.key", "resourceSpans.scopeSpans.spans.traceId"}
    assert outline(b'{"a.b": 1, "c": {"d": [{"e": 2}, {"f": 3}]}}\n{"g": 4}') == {
        "a.b", "c", "c.d", "c.d.e", "c.d.f", "g",
    }  # fmt: skip
    assert outline(b"a,b,c") == outline(b"") == frozenset()
    assert len(outline(b'{"a":' * 10_000)) < 100
