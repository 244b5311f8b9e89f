"""TREC runs as they are found: any blanks, any order, and every way to be wrong."""

import gzip

import pytest

from karat.core.errors import InputError
from karat.core.ranked import ranking
from karat.files import read_results
from karat.files.trec_run import read
from karat.io.source import Source


def run_of(tmp_path, text, name="a.run"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(Source(path))[0]


def lists_of(run):
    order, docs = ranking(run).tolist(), run.doc_list
    return {q: [docs[i] for i in order[run.offsets[n] : run.offsets[n + 1]]] for n, q in enumerate(run.question_ids)}


GOOD = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\nq2 Q0 d1 1 -3e-2 t\n"
WANTED = {"q1": ["d1", "d2"], "q2": ["d1"]}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace(" ", "\t"),
        GOOD.replace(" ", "   "),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(" ", " \t "),
        GOOD.rstrip("\n"),
        "\n" + GOOD.replace("\n", "\n\n"),
        "\ufeff" + GOOD,
    ],
    ids=["spaces", "tabs", "runs of blanks", "crlf", "mixed", "no end of line", "blank lines", "byte order mark"],
)
def test_blanks(tmp_path, text):
    assert lists_of(run_of(tmp_path, text)) == WANTED


def test_score_orders_and_rank_does_not(tmp_path):
    text = "q Q0 a 1 1.0 t\nq Q0 b 2 9.0 t\nq Q0 c 3 1.0 t\n"
    assert lists_of(run_of(tmp_path, text)) == {"q": ["b", "c", "a"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("q Q0 a 1 1.0 t\nq Q0 b 2 9.0 t\n", "question 'q': rank 1 has 1, rank 2 9"),
        ("q Q0 b 2 9.0 t\np Q0 b 1 9.0 t\nq Q0 a 1 1.0 t\n", "question 'q': rank 1 has 1, rank 2 9"),
        (GOOD, None),
        ("q Q0 a 0 1.0 t\nq Q0 b 0 9.0 t\n", None),
        (f"q Q0 a {'9' * 5000} 1.0 t\nq Q0 b ² 9.0 t\n", None),
    ],
    ids=["against", "apart", "with", "no ranks", "no numbers"],
)
def test_ranks_that_contradict_the_scores_are_told(tmp_path, text, says):
    path = tmp_path / "a.run"
    path.write_text(text, encoding="utf-8")
    notes = read_results(path)[1].notes
    if says is None:
        assert notes == ()
    else:
        assert notes == (f"the ranks contradict the scores ({says}): hits are ranked by score, as trec_eval does",)


def test_rows_of_a_question_need_not_stand_together(tmp_path):
    text = "q2 Q0 a 1 1 t\nq1 Q0 a 1 1 t\nq2 Q0 b 1 2 t\nq1 Q0 b 1 2 t\nq2 Q0 c 1 3 t\n"
    run = run_of(tmp_path, text)
    assert run.question_ids == ["q2", "q1"]
    assert lists_of(run) == {"q2": ["c", "b", "a"], "q1": ["b", "a"]}


def test_quotes_and_numbers_are_plain_ids(tmp_path):
    run = run_of(tmp_path, 'q Q0 "d1 1 2 t\n07 Q0 007 1 2 t\n')
    assert lists_of(run) == {"q": ['"d1'], "07": ["007"]}


def test_gzip_is_told_by_content(tmp_path):
    run = run_of(tmp_path, gzip.compress(GOOD.encode()), "a.run")
    assert lists_of(run) == WANTED
    runs, taken = read_results(tmp_path / "a.run")
    assert (runs[0].name, taken.format) == ("a", "trec_run")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("q2 Q0 d9 1", r'line 3: has 4 fields .* the "score" is missing'),
        ("q2 Q0", r'line 3: has 2 fields .* the "doc" is missing'),
        ("q2 Q0 d9 1 2.5", r'line 3: has 5 fields .* the "tag" is missing'),
        ("q2 Q0 d nine 1 2 t", "line 3: has 7 fields"),
        ("q2 Q0 d9 1 nan t", "line 3 .*'nan' is not a finite number"),
        ("q2 Q0 d9 1 inf t", "line 3 .*'inf' is not a finite number"),
        ("q2 Q0 d9 1 high t", "line 3 .*'high' is not a finite number"),
        ("q1 Q0 d1 7 0.1 t", r"line 3: document 'd1' stands twice for question 'q1' \(first in line 1\)"),
    ],
)
def test_bad_rows_are_named(tmp_path, row, says):
    lines = GOOD.splitlines()
    with pytest.raises(InputError, match=says):
        run_of(tmp_path, "\n".join([*lines[:2], row, *lines[2:]]))


def test_a_blank_inside_an_id_is_not_read_as_a_shifted_row(tmp_path):
    """A row too short and one too long must not make up for each other."""
    with pytest.raises(InputError, match="line 2: has 7 fields"):
        run_of(tmp_path, "q1 Q0 d1 1 2.5 t\nq1 Q0 my doc 2 1.5 t\nq1 Q0 d3 3 1.0\n")


def test_a_bad_row_far_down_has_the_right_number(tmp_path):
    rows = [f"q{i // 100} Q0 document-number-{i} 1 {i} t" for i in range(700_000)]
    rows[650_000] = "q6500 Q0 x 1 oops t"
    with pytest.raises(InputError, match="line 650001 "):
        run_of(tmp_path, "\n".join(rows))


def test_bytes_that_are_no_text(tmp_path):
    with pytest.raises(InputError, match=r"line 2: .*UTF-8"):
        run_of(tmp_path, b"q1 Q0 d1 1 2 t\nq1 Q0 d\xff 1 1 t\n")


def test_two_ids_whose_short_hashes_meet_are_no_duplicates(tmp_path):
    """200,000 ids in one list: some share 32 bits of their hash for certain."""
    run = run_of(tmp_path, "".join(f"q Q0 {i} 1 {i} t\n" for i in range(200_000)))
    assert len(run) == 200_000
