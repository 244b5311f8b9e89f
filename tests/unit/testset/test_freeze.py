"""Frozen test sets: what is written, what is refused, and how a change is told wherever the file is read."""

import json

import pytest

from karat.core.errors import InputError, UsageError
from karat.files import Frozen, frozen_beside, frozen_path, read_testset
from karat.testset.freeze import freeze

ROWS = [
    {"id": "q1", "question": "How long is the watch?", "answers": ["four hours"], "gold": [{"doc": "a"}],
     "kind": "literal", "tags": {"source": "literal/1", "model": "m"}},
    {"id": "q2", "question": "Who keeps it?", "answers": ["two people"], "gold": [{"doc": "a"}], "kind": "paraphrase",
     "tags": {"source": "offline/number"}},
    {"id": "q3", "question": "Which room answers?", "answers": ["the radio room"], "gold": [{"doc": "b"}]},
]  # fmt: skip


def put(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def qa(tmp_path):
    put(tmp_path / "qa.jsonl", ROWS)
    return tmp_path / "qa.jsonl"


def test_a_version_is_written_beside_the_test_set(qa):
    before = qa.read_bytes()
    done = freeze(qa, "1.0")
    assert done.note == qa.with_name("qa.jsonl.frozen.json") == frozen_path(qa)
    assert json.loads(done.note.read_text()) == {
        "version": "1.0",
        "digest": read_testset(qa)[0].digest,
        "questions": 3,
        "kinds": {"(none)": 1, "literal": 1, "paraphrase": 1},
        "made_by": {"literal/1 by m": 1, "offline/number": 1},
        "earlier": {},
    }
    assert qa.read_bytes() == before
    testset, taken = read_testset(qa)
    assert (testset.version, testset.changed) == ("1.0", None)
    assert taken.what == "3 questions, 2 kinds, frozen as version 1.0"


def test_the_same_again_writes_nothing(qa):
    freeze(qa, "1.0")
    stood = frozen_path(qa).read_bytes()
    assert freeze(qa, "1.0").stood
    assert frozen_path(qa).read_bytes() == stood
    with pytest.raises(UsageError, match=r"frozen as version 1\.0, and its questions did not change"):
        freeze(qa, "1.1")


def test_a_layout_that_reads_the_same_is_the_same_version(qa):
    freeze(qa, "1.0")
    qa.write_text("\n".join(json.dumps(row, indent=None, separators=(" , ", " : ")) for row in ROWS) + "\n\n")
    assert read_testset(qa)[0].version == "1.0"


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[0].update(question="How long?"),
        lambda rows: rows[0].update(answers=["five hours"]),
        lambda rows: rows[0]["gold"][0].update(doc="b"),
        lambda rows: rows.pop(),
        lambda rows: rows.reverse(),
    ],
)
def test_any_change_is_told(qa, change):
    first = freeze(qa, "1.0").frozen
    rows = json.loads(json.dumps(ROWS))
    change(rows)
    put(qa, rows)
    testset, taken = read_testset(qa)
    assert testset.version is None
    assert f"frozen as version 1.0 (digest {first.digest[:12]}" in testset.changed
    assert f"changed since (digest {testset.digest[:12]}" in testset.changed
    assert ("3 questions), and" in testset.changed) == (len(rows) == 2)
    assert taken.notes[-1] == testset.changed


def test_a_changed_set_needs_a_new_version_for_good(qa):
    first = freeze(qa, "1.0").frozen
    put(qa, ROWS[:2])
    with pytest.raises(UsageError, match=r"version 1\.0 names other questions already"):
        freeze(qa, "1.0")
    second = freeze(qa, "1.1").frozen
    assert second.earlier == {"1.0": first.digest}
    put(qa, ROWS[:1])
    with pytest.raises(UsageError, match="names other questions already"):
        freeze(qa, "1.0")
    assert freeze(qa, "2").frozen.earlier == {"1.0": first.digest, "1.1": second.digest}
    put(qa, ROWS)
    assert freeze(qa, "1.0").frozen.digest == first.digest  # back to the very same questions


def test_a_copy_is_frozen_in_its_place(qa, tmp_path):
    copy = tmp_path / "qa-1.0.jsonl"
    done = freeze(qa, "1.0", output=copy)
    assert read_testset(copy)[0].digest == read_testset(qa)[0].digest == done.frozen.digest
    assert frozen_beside(qa) is None
    assert frozen_beside(copy).version == "1.0"
    with pytest.raises(UsageError, match="nothing is overwritten unasked"):
        freeze(qa, "1.1", output=copy)


@pytest.mark.parametrize("version", ["", " 1", "a b", "../1", "x" * 41, "1\n"])
def test_a_version_is_one_plain_word(qa, version):
    with pytest.raises(UsageError, match="cannot be"):
        freeze(qa, version)
    assert not frozen_path(qa).exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"version": 1, "digest": "x", "questions": 3}', "[" * 100_000]
)
def test_a_damaged_note_is_an_error_that_names_it(qa, text):
    frozen_path(qa).write_text(text)
    with pytest.raises(InputError, match=r"qa\.jsonl\.frozen\.json: what the test set is frozen as cannot be read"):
        read_testset(qa)


def test_what_is_not_frozen_says_nothing(qa):
    testset, taken = read_testset(qa)
    assert (testset.version, testset.changed, taken.what) == (None, None, "3 questions, 2 kinds")
    assert frozen_beside(qa) is None
    assert Frozen("1", testset.digest, 3).changed(testset) is None
