"""Labels and gold: what they change, what they cannot, and the scores beside those without, by hand."""

import json
from dataclasses import replace

import pytest

import karat
from karat.core.errors import UsageError
from karat.core.types import Gold, Question, TestSet
from karat.experiment.relabel import CHANGED_QUESTION, EVEN, HIGHER, OTHER_QUESTION, PART, relabelled
from karat.experiment.review import apply_review, digest_of, export_review
from karat.files import mark_of
from karat.report.build.labelled import labelled_table
from karat.report.document import Document
from karat.report.lookups import EvaluationView
from karat.report.render import markdown
from karat.results.marks import Marks, ScoreWithLabels


def hit(question, id_, grade, by="ann", **fields):
    about = {name: fields.pop(name) for name in ("doc", "page", "quote") if name in fields}
    return mark_of({"kind": "hit", "question": question, "hit": {"id": id_, **about}, "grade": grade, "by": by,
                    **fields})  # fmt: skip


def bad(question, by="ann", value="bad"):
    return mark_of({"kind": "question", "question": question, "value": value, "by": by})


def made(testset, *marks, **how):
    numbered = [mark_of({**_fields(mark), "id": str(n)}) for n, mark in enumerate(marks)]
    return relabelled(testset, Marks(place="labels.jsonl", every=tuple(numbered)), **how)


def _fields(mark):
    fields = {name: getattr(mark, name) for name in ("kind", "question", "by", "grade", "value", "digest", "testset")}
    if mark.hit is not None:
        names = ("id", "doc", "page", "quote")
        fields["hit"] = {name: value for name in names if (value := getattr(mark.hit, name)) is not None}
    return {name: value for name, value in fields.items() if value is not None}


def of(*gold, **more):
    return TestSet([Question("q1", "One?", gold=gold, **more), Question("q2", "Two?", gold=(Gold(id="d2"),))])


@pytest.mark.parametrize(
    ("gold", "about", "added"),
    [
        (Gold(id="d1"), {}, Gold(id="c9", grade=2)),
        (Gold(chunk="c1", doc="d"), {"doc": "d"}, Gold(chunk="c9", doc="d", grade=2)),
        (Gold(doc="d", page="4"), {"doc": "d", "page": "7, 8"}, Gold(doc="d", page="7", grade=2)),
        (Gold(doc="other"), {"doc": "d"}, Gold(doc="d", grade=2)),
        (Gold(doc="d", quote="in May"), {"doc": "d", "quote": "or June"}, Gold(doc="d", quote="or June", grade=2)),
    ],
)
def test_a_hit_becomes_gold_as_the_gold_is_named(gold, about, added):
    found = made(of(gold), hit("q1", "c9", 2, **about))
    assert found.testset["q1"].gold == (gold, added)
    assert (found.changed, found.unused) == (("q1",), {})
    assert found.testset["q2"] == of(gold)["q2"]


def test_not_gold_removes_the_unit_that_it_names_and_no_other():
    found = made(of(Gold(id="d1"), Gold(id="d3")), hit("q1", "d1", 0), hit("q1", "x", 0))
    assert found.testset["q1"].gold == (Gold(id="d1", grade=0), Gold(id="d3"), Gold(id="x", grade=0))


@pytest.mark.parametrize(
    ("gold", "about"),
    [
        (Gold(doc="d", page="4"), {"doc": "d", "page": "4"}),
        (Gold(doc="d"), {"doc": "d"}),
        (Gold(doc="d", quote="in May"), {"doc": "d", "quote": "It is in May, they say."}),
        (Gold(doc="d", page="4"), {"doc": "d", "page": "9"}),
    ],
)
def test_not_gold_of_a_part_says_nothing_of_the_whole(gold, about):
    found = made(of(gold), hit("q1", "c9", 0, **about))
    assert found.testset["q1"].gold == (gold,)
    assert found.unused == {PART: 1}
    assert found.applied == ()


def test_gold_that_holds_gold_already_confirms_it():
    gold = Gold(doc="d", quote="in May")
    found = made(of(gold), hit("q1", "c9", 1, doc="d", quote="It is in May, they say."))
    assert (found.testset["q1"].gold, found.changed, len(found.applied)) == ((gold,), (), 1)


@pytest.mark.parametrize("grades", [(1, 2), (2, 1)])
def test_hits_of_one_unit_give_it_the_highest_grade_in_whatever_order(grades):
    page = {"doc": "d", "page": "7"}
    found = made(of(Gold(doc="d", page="4")), *(hit("q1", f"c{grade}", grade, **page) for grade in grades))
    assert found.testset["q1"].gold == (Gold(doc="d", page="4"), Gold(**page, grade=2))


def test_a_grade_above_that_of_the_gold_which_a_hit_confirms_is_counted():
    gold = Gold(doc="d", page="4")
    found = made(of(gold), hit("q1", "c9", 2, doc="d", page="4"))
    assert (found.testset["q1"].gold, found.unused, found.applied) == ((gold,), {HIGHER: 1}, ())


def test_a_quote_is_held_word_for_word():
    gold = Gold(doc="d", quote="in May")
    found = made(of(gold), hit("q1", "c9", 1, doc="d", quote="Not in Mayfair."))
    assert found.testset["q1"].gold == (gold, Gold(doc="d", quote="Not in Mayfair."))


def test_a_chunk_of_another_document_is_another_chunk():
    gold = Gold(chunk="1", doc="a.md")
    found = made(of(gold), hit("q1", "1", 0, doc="b.md"))
    assert found.testset["q1"].gold == (gold, Gold(chunk="1", doc="b.md", grade=0))


@pytest.mark.parametrize(("page", "recall"), [("4", 1.0), ("5", 0.75)])
def test_files_are_called_as_the_gold_calls_them(page, recall, tmp_path):
    """Gold of `docs/a.md` beside that of `a.md` made two files of it, and hits no longer held the other."""
    gold = [{"id": f"q{n}", "question": f"{n}?", "gold": [{"doc": "a.md", "page": "4"}]} for n in range(2)]
    rows = [{"id": f"q{n}", "retrieved": [{"id": "c", "doc": "docs/a.md", "page": "4"}]} for n in range(2)]
    marked = {"id": f"c{page}", "doc": "docs/a.md", "page": page}
    mark = {"kind": "hit", "question": "q1", "hit": marked, "grade": 1, "by": "ann", "at": ""}
    (tmp_path / "labels.jsonl").write_text(json.dumps(mark) + "\n")
    report = karat.score(gold, {"a": rows}, measures="Recall", labels=tmp_path / "labels.jsonl")
    after = [row.after for row in report.evaluation.labelled.rows] or [report.mean("Recall")]
    assert after == [pytest.approx(recall)]


@pytest.mark.parametrize(
    ("gold", "page", "offset", "added"), [("4-5", "5", 0, ()), ("4", "3", 1, ()), ("4", "4", 1, ("5",))]
)
def test_pages_are_counted_as_the_gold_counts_them(gold, page, offset, added):
    found = made(of(Gold(doc="d", page=gold)), hit("q1", "c9", 1, doc="d", page=page), page_offset=offset)
    assert [one.page for one in found.testset["q1"].gold] == [gold, *added]


def test_a_hit_of_which_too_little_is_known_is_counted():
    found = made(of(Gold(doc="d", page="4")), hit("q1", "c9", 1))
    assert (found.changed, list(found.unused.values())) == ((), [1])


@pytest.mark.parametrize(
    ("grades", "wanted"),
    [((1, 0), None), ((1, 0, 3), 1), ((2, 0, 0), 0), ((1, 2, 3, 0), 2), ((3,), 3), ((2, 3, 0), 2)],
)
def test_most_people_decide_and_an_even_division_does_not(grades, wanted):
    found = made(of(Gold(id="d1")), *(hit("q1", "x", grade, by=f"p{n}") for n, grade in enumerate(grades)))
    if wanted is None:
        assert (found.changed, found.unused) == ((), {EVEN: 2})
    else:
        assert found.testset["q1"].gold == (Gold(id="d1"), Gold(id="x", grade=wanted))


def test_labels_of_other_questions_are_counted_and_not_applied():
    testset = of(Gold(id="d1"))
    own = digest_of(testset["q1"])
    found = made(testset, hit("q7", "x", 1), hit("q1", "x", 1, testset="other", digest="other"),
                 hit("q1", "y", 1, testset="other", digest=own), hit("q2", "z", 1, testset=testset.digest))  # fmt: skip
    assert found.unused == {OTHER_QUESTION: 1, CHANGED_QUESTION: 1}
    assert [gold.id for gold in found.testset["q1"].gold] == ["d1", "y"]
    assert [gold.id for gold in found.testset["q2"].gold] == ["d2", "z"]


def test_bad_questions_are_named_and_left_out_by_choice_alone():
    marks = (bad("q1"), bad("q1", "ben"), bad("q2"), bad("q2", "ben", "good"))
    found = made(of(Gold(id="d1")), *marks)
    assert (found.bad, found.left_out, len(found.testset)) == (("q1",), (), 2)
    assert made(of(Gold(id="d1")), *marks, without_bad=True).testset.ids == ("q2",)
    with pytest.raises(UsageError, match="leaves nothing"):
        made(of(Gold(id="d1")), bad("q1"), bad("q2"), without_bad=True)


@pytest.fixture
def labels(tmp_path):
    """q0: x0 is gold too; q1: x1 is gold in the place of d1; q3 is bad; one label of a question that is not there."""
    said = [
        {"kind": "hit", "question": "q0", "hit": {"id": "x0"}, "grade": 1},
        {"kind": "hit", "question": "q1", "hit": {"id": "d1"}, "grade": 0},
        {"kind": "hit", "question": "q1", "hit": {"id": "x1"}, "grade": 1},
        {"kind": "question", "question": "q3", "value": "bad"},
        {"kind": "hit", "question": "q9", "hit": {"id": "x1"}, "grade": 1},
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text(
        "".join(json.dumps({"id": f"m{n}", "by": "ann", "at": "", **one}) + "\n" for n, one in enumerate(said))
    )
    return path


GOLD = {f"q{i}": {f"d{i}": 1} for i in range(4)}
HITS = {f"q{i}": [f"x{i}", f"d{i}"] for i in range(4)}


def scored(labels, testset=GOLD, **how):
    return karat.score(testset, {"bm25": HITS}, measures=["MRR", "Recall@1"], labels=labels, **how)


def rows(report):
    return {row.measure: (row.before, row.after, row.n_after) for row in report.evaluation.labelled.rows}


@pytest.mark.parametrize("as_questions", [False, True])
def test_scores_stand_beside_those_with_labels(labels, as_questions):
    given = [{"id": id_, "gold": list(gold)} for id_, gold in GOLD.items()] if as_questions else GOLD
    report = scored(labels, given)
    assert report.mean("MRR") == 0.5  # as it is
    # q0: x0 at rank 1 of two gold; q1: x1 at rank 1 of one; q2, q3: rank 2
    assert rows(report)["MRR"] == (0.5, pytest.approx((1 + 1 + 0.5 + 0.5) / 4), 4)
    assert rows(report)["Recall@1"] == (0.0, pytest.approx((0.5 + 1 + 0 + 0) / 4), 4)
    notes = " ".join(report.notes)
    assert "3 labels of hits applied by ann; they change the gold of 2 questions." in notes
    assert "1 label not applied: of questions that this test set does not have." in notes
    assert "1 question is marked bad and still counted: --without-bad leaves them out: q3." in notes
    shown = str(report)
    assert "Scores with 3 labels by ann: 2 questions with other gold" in shown
    assert json.loads(report.to_json())["labelled"]["changed"] == 2


def test_bad_questions_are_left_out_of_the_scores_beside(labels):
    report = scored(labels, without_bad=True)
    assert rows(report)["MRR"] == (0.5, pytest.approx((1 + 1 + 0.5) / 3), 3)
    assert report.evaluation.labelled.left_out == ("q3",)


def test_a_difference_of_ten_is_shown_as_ten(labels):
    """AQWV falls to -39: "-10.2500" was written "-1.2500"."""
    found = scored(labels).evaluation
    rows = [ScoreWithLabels(system="bm25", measure="MRR", before=0.5, after=after, n_before=4, n_after=4)
            for after in (-9.75, 0.75)]  # fmt: skip
    (table,) = labelled_table(EvaluationView(replace(found, labelled=replace(found.labelled, rows=tuple(rows)))))
    shown = markdown.render(Document("", [table]))
    assert [line.split("|")[-3].strip() for line in shown.splitlines() if "bm25" in line] == ["-10.2500", "+.2500"]


def test_without_bad_needs_labels():
    with pytest.raises(UsageError, match="Name the labels"):
        scored(None, without_bad=True)


def test_a_review_takes_labels_over(labels, tmp_path):
    path = tmp_path / "qa.jsonl"
    lines = [{"id": f"q{i}", "question": f"What is thing {i}?", "gold": [{"id": f"d{i}"}]} for i in range(4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    noted = []
    review, _ = export_review(path, labels=labels, notify=noted.append)
    assert any("not applied" in note for note in noted)
    assert "labels: 1 question is marked bad and given the verdict drop: q3." in noted  # it has no --without-bad
    done = apply_review(path, review, output=tmp_path / "out.jsonl")
    assert done.testset.ids == ("q0", "q1", "q2")
    assert done.testset["q0"].gold == (Gold(id="d0"), Gold(id="x0"))
    assert done.testset["q1"].gold == (Gold(id="d1", grade=0), Gold(id="x1"))
    assert (done.dropped, done.edited, done.undecided) == (1, 2, 1)
