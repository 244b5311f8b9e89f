"""Claims tables as files: the flat form, RAGChecker's JSON, and what is wrong with either."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL, UNJUDGED, ClaimRows
from karat.core.errors import InputError, UsageError
from karat.files import read_claims, write_claims

HEADER = "system,question,side,claim,text,premise,verdict\n"


@pytest.fixture
def put(tmp_path):
    def write(text, name="claims.csv"):
        path = tmp_path / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    return write


def refused(path, systems=("a",), questions=("q1",), **more):
    with pytest.raises(InputError) as caught:
        read_claims(path, systems, questions, **more)
    return str(caught.value).removeprefix(str(path))


def record(**changes):
    whole = {
        "query_id": "q1",
        "response_claims": [["Nile", "is", "long"], "It floods."],
        "gt_answer_claims": [["Nile", "is", "longest"]],
        "answer2response": ["Entailment", "Neutral"],
        "response2answer": ["Contradiction"],
        "retrieved_context": [{"doc_id": "1", "text": "x"}, {"doc_id": "2", "text": "y"}],
        "retrieved2response": [["Neutral", "Entailment"], ["Neutral", "Neutral"]],
        "retrieved2answer": [["Entailment", "Neutral"]],
    }
    return {key: value for key, value in {**whole, **changes}.items() if value != "left out"}


def by_claim(table, side, premise):
    return table.verdicts(side, premise)[table.of_side(side)].tolist()


def test_ragcheckers_lists_become_verdicts(put):
    table, taken = read_claims(put({"results": [record()]}, "c.json"), ["a"], ["q0", "q1"])
    assert table.texts == ["Nile is long", "It floods.", "Nile is longest"]
    assert by_claim(table, "answer", "reference") == [ENTAILED, NEITHER]
    assert by_claim(table, "reference", "answer") == [CONTRADICTED]
    assert [column.tolist() for column in table.entailments("answer")] == [[0], [2]]
    assert [column.tolist() for column in table.entailments("reference")] == [[2], [1]]
    assert table.passages.tolist() == [-1, 2]
    assert table.known[:, :2].tolist() == [[False, False], [True, True]]
    assert not table.lacking("answer by passage")
    assert not table.lacking("reference by passage")
    assert taken.read_as == "read as RAGChecker claims: 3 claims, 9 verdicts for 1 answer"


def test_ragchecker_without_claims_or_passages(put):
    nothing = record(
        response_claims=[], answer2response=[], retrieved2response=[], retrieved_context=[], retrieved2answer=[[]]
    )
    table, _ = read_claims(put([nothing], "c.json"), ["a"], ["q1"])
    assert table.known[0, 0]
    assert table.passages.tolist() == [0]
    assert len(table.texts) == 1
    bare, _ = read_claims([record(retrieved2answer="left out", retrieved2response=None)], ["a"], ["q1"])
    assert bare.lacking("reference by passage") == {0: "2 of 2 verdicts are missing (reference by passage)"}


def test_one_verdict_a_claim_is_that_of_all_passages_together():
    table, _ = read_claims([record(retrieved2response=["Entailment", "Neutral"])], ["a"], ["q1"])
    assert table.set_verdicts("answer") == {(0, frozenset({1, 2})): ENTAILED, (1, frozenset({1, 2})): NEITHER}
    assert table.lacking("answer by passage") == {0: "4 of 4 verdicts are missing (answer by passage)"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"response_claims": ["x", ["", " "]]}, 'claim 2 of response_claims is [\'\', \' \'], which has no text'),
        ({"response_claims": ["x", 7]}, "claim 2 of response_claims is 7, which has no text"),
        ({"response_claims": "x"}, 'response_claims is "x" where a list is meant'),
        ({"response_claims": None}, "answer2response stands without response_claims"),
        ({"answer2response": ["Entailment"]}, "answer2response has 1 entry for 2 claims"),
        ({"answer2response": ["Entailment", 1]}, "1 in answer2response is no verdict"),
        ({"retrieved2response": [["Neutral"], ["Neutral", "Neutral"]]}, "claim 1 of retrieved2response has 1 verdict"),
        ({"retrieved2response": [["Neutral"] * 3] * 2}, "claim 1 of retrieved2response has 3 verdicts for 2 passages"),
        ({"retrieved2response": [["Neutral"] * 2, "Neutral"]}, "entry 2 of retrieved2response is no list"),
        (
            {"retrieved2response": ["Neutral"] * 2, "retrieved_context": None, "retrieved2answer": None},
            "retrieved2response has verdicts, and there are no passages",
        ),
        ({"answer2response": ["Entailment", "Maybe"]}, 'the verdict "Maybe" is not known'),
    ],
)  # fmt: skip
def test_a_broken_ragchecker_record_is_named(put, changes, problem):
    said = refused(put({"results": [record(query_id="q0"), record(**changes)]}, "c.json"), questions=("q0", "q1"))
    assert said.startswith(" record 2")
    assert problem in said
    assert said.endswith(".")


def test_a_question_of_one_file_stands_once(put):
    assert "stands twice (first in record 1)" in refused(put([record(), record()], "c.json"))


def test_flat_rows_in_any_order(put):
    rows = [
        "a,q1,answer,2,second,reference,Contradiction",
        'a,q1,answer,1,"first, ""quoted""",1,support',
        'a,q1,answer,1,,"2,1",not_support',
        "a,q1,answer,2,,1,neutral",
        "a,q1,answer,1,,2,",
        "a,q2,reference,,,,",
        "b,q2,passages,0,,,",
    ]
    table, taken = read_claims(put(HEADER + "\n".join(rows) + "\n"), ["a", "b"], ["q1", "q2"])
    assert table.texts == ['first, "quoted"', "second"]
    assert table.set_verdicts("answer") == {
        (0, frozenset({1})): ENTAILED, (0, frozenset({2})): UNJUDGED, (0, frozenset({1, 2})): NEITHER,
        (1, frozenset({1})): NEITHER,
    }  # fmt: skip
    assert by_claim(table, "answer", "reference") == [UNJUDGED, CONTRADICTED]
    assert table.passages.tolist() == [2, -1, -1, 0]
    assert np.argwhere(table.known).tolist() == [[0, 0], [1, 1]]
    assert table.lacking("answer by passage") == {0: "2 of 4 verdicts are missing (answer by passage)"}
    assert "1 row without a verdict" in taken.notes


def test_claims_without_numbers_are_told_apart_by_their_texts(put):
    rows = ("it is,1,entailed", "a dog,1,neither", "it is,2,entailed")
    text = "question,side,claim,premise,verdict\n" + "".join(f"q1,answer,{row}\n" for row in rows)
    table, _ = read_claims(put(text), ["a"], ["q1"])
    assert table.texts == ["it is", "a dog"]
    assert [column.tolist() for column in table.entailments("answer")] == [[0, 0], [1, 2]]


@pytest.mark.parametrize("name", ["claims.jsonl", "claims.json"])
def test_flat_records_of_json(put, name):
    rows = [
        {"qid": 1, "side": "sentence", "claim": 1, "text": ["a", "b"], "cites": [2, 1], "premise": [1, 2],
         "verdict": "support"},
        {"qid": 1, "side": "nugget", "claim": 1, "text": "n", "importance": "okay", "premise": "response",
         "verdict": "partial_support"},
    ]  # fmt: skip
    text = "\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows)
    table, _ = read_claims(put(text, name), ["a"], ["1"])
    assert table.texts == ["a b", "n"]
    assert table.cites == {0: (2, 1)}
    assert table.vital.tolist() == [True, False]
    assert table.set_verdicts("sentence") == {(0, frozenset({1, 2})): ENTAILED}
    assert by_claim(table, "nugget", "answer") == [PARTIAL]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a,q1,answer,2,,1,entailed", ' line 3 field "text": a claim without text. Write what it claims.'),
        ("a,q1,answer,1,y,1,entailed", ' line 3 field "text": claim 1 has another text in line 2.'),
        ("a,q1,answer,1,x,1,neutral", ' line 3 field "verdict": the verdict is neither, and entailed in line 2.'),
        ("a,q1,answer,1,x,0,entailed", ' line 3 field "premise": "0" is no passage. Passages are numbered from 1'),
        ("a,q1,answer,1,x,99999,entailed", ' line 3 field "premise": "99999" is no passage.'),
        ("a,q1,answer,1,x,it,entailed", ' line 3 field "premise": "it" names no premise.'),
        ("a,q1,answer,1,x,passages,entailed", ' line 3 field "premise": a premise without numbers.'),
        ("a,q1,answer,1,x,,entailed", ' line 3 field "premise": a verdict without its claim or premise.'),
        ("a,q1,answer,1,x,2,perhaps", ' line 3 field "verdict": the verdict "perhaps" is not known.'),
        ("a,q1,query,1,x,2,entailed", ' line 3 field "side": the side "query" is not known.'),
        ("a,q1,,1,x,2,entailed", ' line 3 field "side": no side.'),
        ("a,,answer,1,x,2,entailed", " line 3: no question."),
        (",q1,answer,1,x,2,entailed", " line 3: no system, and there are several."),
        ("a,q1,answer,one,x,2,entailed", ' line 3 field "claim": the number of a claim is no whole number.'),
        ("a,q1,answer,,x,2,entailed", ' line 3 field "claim": a claim without number, where others have one.'),
        ("a,q1,passages,,,,", ' line 3 field "claim": no number of passages.'),
        ("a,q1,passages,0,,,", ' line 2 field "premise": a verdict by passage 1, and there are 0.'),
        ("a,q1,nugget,1,x,answer,support", ' line 3: a nugget without importance. Write vital or okay.'),
        ("a,q1,nugget,,,reference,failed", ' line 3 field "premise": there is no relation "nugget by reference"'),
    ],
)  # fmt: skip
def test_a_broken_row_is_named(put, row, problem):
    path = put(f"{HEADER}a,q1,answer,1,x,1,entailed\n{row}\n")
    assert refused(path, systems=("a", "b")).startswith(problem)


def test_passages_that_are_not_there_are_refused_where_their_number_is_known(put):
    path = put(f"{HEADER}a,q1,answer,1,x,3,entailed\n")
    assert refused(path, passages=[2]).startswith(' line 2 field "premise": a verdict by passage 3, and there are 2.')
    assert read_claims(path, ["a"], ["q1"], passages=[4])[0].passages.tolist() == [4]


def test_systems_and_questions_that_are_not_scored_are_counted(put):
    path = put(f"{HEADER}a,q1,answer,1,x,1,entailed\na,q9,answer,1,x,1,entailed\nb,q1,answer,1,x,1,entailed\n")
    table, taken = read_claims(path, ["a"], ["q1"])
    assert len(table.texts) == 1
    assert '1 row of 1 system not scored here left out: "b"' in taken.notes
    assert '1 row of 1 question not scored here left out: "q9"' in taken.notes
    assert "none of its questions is scored: it has" in refused(path, questions=("x",))
    assert 'none of its systems is scored: it has "a", and there is "z"' in refused(path, systems=("z",))


def test_whose_claims_they_are_can_be_said(put):
    path = put("question,side,claim,text\nq1,answer,1,x\n")
    table, _ = read_claims(path, ["a", "b"], ["q1"], system="b")
    assert table.pair.tolist() == [1]
    assert "--claims NAME=FILE" in refused(path, systems=("a", "b"))


def test_what_is_no_claims_table_is_refused(put, tmp_path):
    assert "is a folder" in refused(tmp_path)
    assert "no column holds the side (there are question, text)" in refused(put("question,text\nq1,x\n"))
    assert "no column holds the claims" in refused(put("question,side\nq1,answer\n"))
    assert "is no table of claims" in refused(put("one word", "w.txt"))
    mapped = put("who,side,claim,text\nq1,answer,1,x\n")
    assert read_claims(mapped, ["a"], ["q1"], {"who": "question"})[0].texts == ["x"]


def test_alike_verdicts_are_counted_once(put):
    table, taken = read_claims(put(HEADER + "a,q1,answer,1,x,1,entailed\n" * 3), ["a"], ["q1"])
    assert len(table.claim) == 1
    assert "2 verdicts given more than once, alike" in taken.notes


def filled():
    rows = ClaimRows(["a", "b"], ["q1", "q2"])
    rows.passages(0, 2)
    rows.passages(3, 0)
    rows.claims(0, "answer", ["=1+1", 'say "x", twice\nover'])
    rows.claims(0, "reference", [])
    rows.claims(0, "sentence", ["s"], cites=[(2, 1)])
    rows.claims(3, "nugget", ["n1", "n2"], vital=[False, True])
    rows.verdict(0, "answer", 1, "reference", CONTRADICTED, reason="-no")
    rows.verdict(0, "answer", 1, "passage", ENTAILED, passages=[2])
    rows.verdict(0, "sentence", 1, "passages", NEITHER, passages=[1, 2])
    rows.verdict(0, "answer", 2, "passage", UNJUDGED, passages=[1])
    rows.verdict(3, "nugget", 2, "answer", PARTIAL)
    rows.failed[1, "sentence by cited"] = "the judge answered nonsense"
    return rows.table()


def same(one, other):
    for name in ("pair", "side", "vital", "known", "passages", "claim", "premise", "passage", "verdict"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    for name in ("systems", "questions", "texts", "cites", "sets", "reasons", "failed"):
        assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize("name", ["claims.parquet", "claims.csv"])
def test_reading_what_was_written_gives_the_same_table(tmp_path, name):
    table, path = filled(), tmp_path / name
    write_claims(table, path, judge="lexical", prompt="p1", keys=[str(row) for row in range(len(table.claim))])
    read, taken = read_claims(path, table.systems, table.questions)
    same(read, table)
    assert taken.notes[0].startswith("used system, question, side")
    frame = pl.read_parquet(path) if name.endswith("t") else pl.read_csv(path)
    assert frame.columns == [
        "system", "question", "side", "claim", "text", "cites", "importance", "premise", "verdict", "reason", "judge",
        "prompt", "key",
    ]  # fmt: skip
    assert frame.filter(pl.col("verdict") == "partial")["judge"].to_list() == ["lexical"]


def test_a_claims_table_is_written_as_parquet_or_csv(tmp_path):
    with pytest.raises(UsageError, match=r"is written as \.parquet or \.csv"):
        write_claims(filled(), tmp_path / "claims.txt")
