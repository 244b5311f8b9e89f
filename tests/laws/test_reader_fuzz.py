"""Whatever bytes a file holds, a reader returns or raises a KaratError: never a traceback."""

import contextlib
import gzip
import io
import json
import math

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.core.errors import KaratError
from karat.core.run import Run
from karat.core.types import TestSet
from karat.files import as_runs, as_testset, read_any, read_results, read_testset

LIGHT = settings(
    max_examples=2 * settings.default.max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _parquet() -> bytes:
    made = io.BytesIO()
    pl.DataFrame({"query": ["1", "2"], "doc": ["a", "b"], "score": [1.0, 2.0]}).write_parquet(made)
    return made.getvalue()


def _jsonl(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


HIT = {"id": "c", "score": 1.5, "text": "t", "doc": "d", "page": "3", "page_number": "4", "url": "u", "span": [1, 2]}
VALID = {
    "canonical test set": _jsonl(
        {"id": "1", "question": "a?", "answers": ["A"], "gold": [{"doc": "d", "page": "3", "grade": 2}], "kind": "x",
         "tags": {"a": "b"}, "answerable": True},
        {"id": "2", "question": "b?", "gold": [], "answerable": False},
    ),
    "canonical results": _jsonl(
        {"id": "1", "retrieved": [HIT], "answer": "A", "seconds": {"total": 1}, "tokens": 3, "cost_usd": 1,
         "status": "ok"},
        {"id": "2", "error": "no"},
    ),
    "healthcare": json.dumps([{"query": "a?", "relevant_docs": ["34"], "query_type": "x"}], indent=1).encode(),
    "healthcare rows": b"config_name,alpha,k,query_id,query,mrr,retrieved_pages,relevant_pages\n"
    b"A,1.0,5,0,a?,1.0,\"['8', 'N/A']\",['8']\nA,0.5,5,0,a?,0.0,['9'],['8']\n",
    "hybrid_rag": json.dumps({"questions": [{"question_id": 1, "question": "a?", "source_url": ["u"]},
                                            {"question_id": 2, "question": "b?", "source_url": "NONE"}]}).encode(),
    "hybrid_rag rows": b"question,expected_url,retrieved_top1_url,answer,expected_answer,method\na?,u,v,A,B,dense\n",
    "rag_benchmark": json.dumps([{"question": "a?", "answer": "A", "relevant_chunk_ids": ["c"]}]).encode(),
    "liverag": b"qid\tquestion\tanswer\tcontext\tdocument_ids\tuser_x\n"
    b"1\ta?\tA\t\"[\"\"t\"\"]\"\t['<urn:uuid:1>']\ty\n",
    "liverag results": b"qid\tquestion\tanswer\tcontext\tdoc_ids\ttotal_time_ms\tsystem_name\n"
    b"1\ta?\tA\t['t']\t['d']\t5\tS\n",
    "liverag live": _jsonl({"id": 1, "question": "a?", "passages": [{"passage": "t", "doc_IDs": ["d"]}],
                            "answer": "A"}),
    "qrels": b"1 0 a 1\n1 0 b 0\n2 0 a -1\n",
    "run": b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n2 Q0 a 1 1e3 t\n",
    "topics": b"1\tfirst question\n2\tsecond question\n",
    "squad": json.dumps({"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": [
        {"id": "1", "question": "a?", "answers": [{"text": "A"}], "is_impossible": False}]}]}]}).encode(),
    "squad predictions": json.dumps({"56be": "A", "57aa": ""}).encode(),
    "ragas": _jsonl({"user_input": "a?", "retrieved_contexts": ["t"], "retrieved_context_ids": ["c"], "response": "A",
                     "reference": "R", "reference_contexts": ["t"]}),
    "mapping": json.dumps({"q1": {"a": 1.5}, "q2": {"b": 2}}).encode(),
    "columns": json.dumps({"question": ["a?", "b?"], "answer": ["A", "B"]}).encode(),
    "table": b"query,doc,score,system\n1,a,0.5,x\n2,b,1,x\n",
    "judgements": b"query_id,doc_id,relevance\n1,a,2\n",
    "parquet": _parquet(),
    "gzip": gzip.compress(b"1 0 a 1\n1 0 b 0\n"),
}  # fmt: skip

WEIRD = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 3000, b'"', b"'",
    b'{"a":' * 2000, b"\t", b"\r", b"\n", b",", b"null", b"true", b"{}", b"[]", b"\xef\xbb\xbf", b"\xff\xfe", b"PAR1",
    b"\x1f\x8b", b"(" * 500, b"\xc2\x85", b"\xe2\x80\xa8",
]  # fmt: skip


def attempt(path) -> None:
    for read in (read_testset, read_results, read_any):
        try:
            found, taken = read(path)
        except KaratError as error:
            text = str(error)
            assert text
            text.encode("utf-8")
            continue
        for part in [found] if isinstance(found, TestSet) else found:
            consistent(part)
        taken.what.encode("utf-8")


def consistent(found: TestSet | Run) -> None:
    """What was read keeps the promises the rest of karat builds on."""
    if isinstance(found, TestSet):
        assert len(set(found.ids)) == len(found.ids) > 0
        assert all(type(g.grade) is int for q in found for g in q.gold)
        assert found.digest
        return
    assert len(found.offsets) == len(found.question_ids) + 1
    assert len(set(found.question_ids)) == len(found.question_ids)
    assert len(set(found.asked)) == len(found.asked)  # none, where one of several systems returned nothing
    assert len(found.doc_list) == len(found)
    assert all(type(doc) is str for doc in found.doc_list)
    assert all(len(column) == len(found) for column in found.fields.values())
    assert found.scores is None or (len(found.scores) == len(found) and all(map(math.isfinite, found.scores)))
    assert set(found.question_ids) | set(found.answers) | set(found.failed) == set(found.asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", VALID)
def test_the_seeds_are_read(tmp_path, name):
    path = tmp_path / "file"
    path.write_bytes(VALID[name])
    found, _ = read_any(path)
    for part in [found] if isinstance(found, TestSet) else found:
        consistent(part)


@pytest.mark.fuzz
@LIGHT
@given(data=st.binary(max_size=300))
def test_random_bytes(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    attempt(path)


@pytest.mark.fuzz
@settings(LIGHT, max_examples=6 * settings.default.max_examples)
@given(data=st.data())
def test_mutations_of_valid_files(tmp_path, data):
    content = VALID[data.draw(st.sampled_from(sorted(VALID)))]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 6))
        piece = data.draw(
            st.one_of(st.sampled_from(WEIRD), st.binary(max_size=3), st.just(content[place // 2 : place]))
        )
        content = content[:place] + piece + content[place + length :]
    path = tmp_path / "file"
    path.write_bytes(content)
    attempt(path)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.integers(10**400, 10**400 + 5),
    st.sampled_from(["['a']", "[1", "NONE", "N/A", "\ud800", "", " ", "1.0", "{}", '["x"]', "\x00"]),
)  # fmt: skip
HIT_KEYS = ["id", "doc", "page", "score", "grade", "text", "span", "metadata", "start", "x"]
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["id", "doc", "page", "score", "grade", "text", "span", "metadata", "start", "x"]), inner
        ),
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        "id", "qid", "question", "query", "answers", "answer", "gold", "relevant_docs", "relevant_pages", "source_url",
        "document_ids", "relevant_chunk_ids", "reference_contexts", "kind", "tags", "answerable", "is_impossible",
        "retrieved", "passages", "doc_ids", "retrieved_pages", "retrieved_contexts", "scores", "response", "system",
        "alpha", "k", "seconds", "total_time_ms", "tokens", "cost_usd", "status", "error", "user_input", "doc", "score",
        "rank", "grade", "data", "questions", "question_x", "user_y", "retreived", "1", "",
    ]
)  # fmt: skip
RECORDS = st.lists(st.dictionaries(FIELDS, VALUES, max_size=6), min_size=1, max_size=3)


@pytest.mark.fuzz
@settings(LIGHT, max_examples=4 * settings.default.max_examples)
@given(rows=RECORDS, shape=st.sampled_from(["jsonl", "list", "questions", "one"]))
def test_random_json(tmp_path, rows, shape):
    if shape == "jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        text = json.dumps({"list": rows, "questions": {"questions": rows}, "one": rows[0]}[shape])
    path = tmp_path / "file"
    path.write_text(text)
    attempt(path)


@pytest.mark.slow
@settings(LIGHT, max_examples=3 * settings.default.max_examples)
@given(given=st.one_of(RECORDS, VALUES, st.dictionaries(st.one_of(FIELDS, SCALARS), VALUES, max_size=3)))
def test_random_objects(given):
    for take in (as_testset, as_runs):
        try:
            found, _ = take(given)
            _ = [run.scores for run in found] if isinstance(found, list) else None  # dicts are read when asked
        except KaratError:
            continue
        for part in [found] if isinstance(found, TestSet) else found:
            consistent(part)


CELLS = st.one_of(
    st.text(alphabet="ab1.0'\"[], \n", max_size=10), st.sampled_from(["['a', 'b']", "nan", "1", "0.5", "NONE", ""])
)


@pytest.mark.fuzz
@settings(LIGHT, max_examples=3 * settings.default.max_examples)
@given(
    header=st.lists(FIELDS, min_size=1, max_size=5),
    rows=st.lists(st.lists(CELLS, max_size=5), max_size=4),
    separator=st.sampled_from(",\t;"),
)
def test_random_tables(tmp_path, header, rows, separator):
    path = tmp_path / "file"
    path.write_text("\n".join(separator.join(cells) for cells in [header, *rows]), newline="")
    attempt(path)


@LIGHT
@given(data=st.data())
def test_random_frames(data):
    names = data.draw(st.lists(FIELDS, min_size=1, max_size=4, unique=True))
    size = data.draw(st.integers(0, 3))
    kinds = st.sampled_from([st.integers(-5, 5), st.floats(), st.text("ab", max_size=3), st.booleans(), st.none(),
                             st.lists(st.text("ab", max_size=2), max_size=2)])  # fmt: skip
    frame = pl.DataFrame({name: data.draw(st.lists(data.draw(kinds), min_size=size, max_size=size)) for name in names})
    for take in (as_testset, as_runs):
        with contextlib.suppress(KaratError):
            take(frame)
