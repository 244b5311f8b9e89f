"""A comparison in words and tables."""

import json
from types import SimpleNamespace

import pytest

import karat
from karat.report import objects, tables
from karat.report.build.comparison import _letters, _marks, document, means, sentences
from karat.report.charts import comparison_charts
from karat.report.document import Document, level_of
from karat.report.render import console, html, latex, markdown


def shown(found, *, quiet=False, verbose=False, width=100):
    return console.render(document(found), level_of(quiet, verbose), width=width)


def tex(found):
    return latex.render(Document("", [means(found)]))


def rows(lifts, n=30, column="MRR"):
    """Each system is better than the last on most questions."""
    return [
        {"id": f"q{i:02}", "system": name, column: round(0.3 + (i * 7 % 10) / 20 + lift * (i % 4 > 0), 4)}
        for name, lift in lifts.items()
        for i in range(n)
    ]


def test_better_and_not_distinguishable():
    found = karat.compare(rows({"a": 0.0, "b": 0.1}))
    assert sentences(found)[0].startswith("By MRR, b is significantly better than a by .07")
    few = karat.compare(rows({"a": 0.0, "b": 0.1}, n=4))
    said = sentences(few)[0]
    assert said.startswith("By MRR, b is not significantly different from a: +.075")
    assert "in 80% of studies" in said


def test_the_interval_holds_the_difference_that_is_said():
    said, turned = (
        sentences(found)[0]
        for found in (karat.compare(rows({"a": 0.0, "b": 0.1})), karat.compare(rows({"b": 0.1, "a": 0.0})))
    )
    assert turned == said
    assert "by .073 [.0" in turned


def test_differences_that_are_all_the_same_say_nothing_of_what_could_be_found():
    table = [{"id": f"q{i}", "system": s, "MRR": 0.5 + lift} for s, lift in (("a", 0.0), ("b", 0.1)) for i in range(4)]
    (pair,) = (found := karat.compare(table)).pairs
    assert pair.detectable is None
    assert sentences(found)[0] == "By MRR, b is not significantly different from a: +.100, adjusted p .125."


def test_it_is_said_why_a_pair_has_no_interval():
    table = rows({"a": 0.0, "b": 0.1}, n=6)  # four of six differ
    found = karat.compare(table)
    assert (found.pairs[0].low, found.pairs[0].p) == (None, 0.125)
    why = "A pair without an interval differs on fewer than 6 questions (or conversations), so that no p of .05 or less"
    assert why in " ".join(shown(found).split())
    assert why in html.render(document(found))
    assert why not in shown(karat.compare(rows({"a": 0.0, "b": 0.1})))


def test_the_caption_names_the_correction_of_the_test():
    table = rows({"a": 0.0, "b": 0.1, "c": 0.2})
    assert "HSD, p up" in tex(karat.compare(table, test="tukey"))
    assert "correction over 3 tests, p" in tex(karat.compare(table))
    assert "correction, p" in tex(karat.compare(table[:60]))


def test_less_is_better_turns_the_sentence():
    found = karat.compare(rows({"a": 0.0, "b": 0.1}, column="effort"), lower="effort")
    assert sentences(found)[0].startswith("By effort, a is significantly better than b by .07")
    assert means(found).columns[2].title == "effort (less is better)"


def test_a_measure_without_a_better():
    found = karat.compare(rows({"a": 0.0, "b": 0.1}, column="Retrieved"))
    assert sentences(found)[0].startswith("By Retrieved, b is higher than a")
    assert json.loads(objects.comparison(found))["pairs"][0]["better_system"] is None


def test_many_systems_are_summed_up():
    found = karat.compare(rows({"a": 0.0, "b": 0.0001, "c": 0.1, "d": 0.2}))
    assert sentences(found) == ["By MRR, d has the best mean, .67, significantly better than all 3 others."]
    marks = _marks(found)
    assert marks["d", "MRR"] == "abc"
    assert marks["c", "MRR"] == "ab"
    text = shown(found, verbose=True, width=200)
    assert "Who differs significantly from whom" in text
    assert "rank-biserial" in text


def test_systems_that_tie_are_not_called_the_best_alone():
    same = karat.compare(rows(dict.fromkeys("abcd", 0.0)))
    assert sentences(same) == ["By MRR, all 4 systems have the same mean, .53."]
    two = sentences(karat.compare(rows({"a": 0.0, "b": 0.0001, "c": 0.2, "d": 0.2})))
    assert two == [
        "By MRR, c ties with d for the best mean, .67: significantly better than 2 of the others, "
        "not significantly different from d."
    ]


def test_letters_do_not_run_out():
    made = _letters(SimpleNamespace(systems=[f"s{i}" for i in range(703)]))
    assert [made[f"s{i}"] for i in (0, 25, 26, 701, 702)] == ["a", "z", "aa", "zz", "aaa"]
    assert len(set(made.values())) == 703


def test_against_a_baseline():
    found = karat.compare(rows({"a": 0.0, "b": 0.1, "c": -0.1, "d": 0.0, "e": 0.0}), baseline="a")
    assert sentences(found) == [
        "By MRR, b is significantly better than a, c is worse, and 2 not significantly different from it."
    ]
    paper = tex(found)
    assert "$^{**}$ {\\footnotesize [" in paper
    assert "    a & .5" in paper
    assert paper.count("\\\\") == 6


def test_a_measure_without_a_difference_has_no_chart():
    rows = [
        {"id": f"q{i:02}", "system": s, "MRR": (i % 5 + (s == "b")) / 10, "Hit@5": 1.0 if s == "a" else None}
        for s in "ab"
        for i in range(9)
    ]
    assert list(comparison_charts(karat.compare(rows))) == ["1_differences_by_MRR"]


def test_names_are_escaped():
    found = karat.compare(rows({"a_1 & <b>": 0.0, "x|y": 0.1}))
    assert "a\\_1 \\& \\textless{}b\\textgreater{}" in tex(found)
    assert "x\\|y" in markdown.render(document(found))


def test_csv_holds_every_pair():
    lines = tables.comparison(karat.compare(rows({"a": 0.0, "b": 0.1, "c": 0.2}))).splitlines()
    assert lines[0].startswith("measure,a,b,n,mean_a,mean_b,difference,low,high,p,adjusted")
    assert len(lines) == 4


def test_letters_go_on_after_z():
    lifts = {f"s{i:02}": 0.001 * i for i in range(28)}
    found = karat.compare(rows(lifts, n=12), test={"draws": 200})
    assert list(_letters(found).values())[25:] == ["z", "aa", "ab"]
    marks = _marks(found)
    assert all("," in mark or len(mark) <= 2 for mark in marks.values())


@pytest.mark.parametrize("quiet", [True, False])
def test_plain_text(quiet):
    text = shown(karat.compare(rows({"a": 0.0, "b": 0.1})), quiet=quiet)
    assert ("losses" in text) is not quiet
    assert ("Significant: adjusted p of 0.05 or less" in text) is not quiet


def test_a_system_without_values_is_neither_equal_nor_counted():
    """Four systems of which one has no value at all: the others are compared as if it were not there."""
    lifts = {"a": 0.0, "b": 0.1, "c": 0.4}
    without = [{"system": "d", "id": f"q{i:02}", "MRR": None} for i in range(30)]
    three, four = karat.compare(rows(lifts)), karat.compare([*rows(lifts), *without])
    assert (four.tests, {p.adjusted for p in four.pairs if p.difference is not None}) == (
        three.tests, {p.adjusted for p in three.pairs}
    )  # fmt: skip
    (line,) = sentences(four)
    assert "1 without a question in common left aside" in line
    assert "d" not in line.partition("different from")[2]


def test_questions_that_are_their_own_ids_are_listed_once(tmp_path):
    gold = [{"question": f"What is number {i}?", "gold": ["a"]} for i in range(8)]
    for name, hits in {"x": ["a"], "y": ["b", "a"]}.items():
        lines = [json.dumps({"question": one["question"], "retrieved": hits}) for one in gold]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    text = shown(karat.compare(tmp_path / "x.jsonl", tmp_path / "y.jsonl", testset=gold, measures="MRR"), verbose=True)
    assert text.count("What is number 3?") == 1
    assert "better has worse has" in " ".join(text.split())


def test_a_pair_without_a_question_in_common_has_no_p():
    table = [row | ({"nDCG": row["MRR"]} if row["system"] == "a" else {}) for row in rows({"a": 0.0, "b": 0.1})]
    text = shown(karat.compare(table), verbose=True, width=200)
    (line,) = (line for line in text.splitlines() if line.startswith("nDCG ") and "0/0/0" in line)
    assert line.split() == ["nDCG", "b", "a", "–", "–", "–", "–", "0/0/0", "0", *["–"] * 6]
    assert "n 0: no question has a value for both" in text
    assert "n 0" not in shown(karat.compare(rows({"a": 0.0, "b": 0.1})), verbose=True, width=200)


def test_files_have_no_p_of_a_pair_without_a_question_in_common():
    """They said 1.0, and its table a dash."""
    known = {"a": (0, 1, 2), "b": (3, 4, 5), "c": range(6)}
    given = [
        {"id": f"q{i}", "system": name, "MRR": i % 2 if i in of else None}
        for name, of in known.items()
        for i in range(6)
    ]
    compared = karat.compare(given)
    lines = {tuple(line.split(",")[1:4]): line.split(",") for line in tables.comparison(compared).splitlines()[1:]}
    columns = tables.COMPARED.index("p"), tables.COMPARED.index("tukey") + 1
    assert set(lines["a", "b", "0"][slice(*columns)]) == {""}
    assert lines["a", "c", "3"][columns[0]]
    (pair, *others) = json.loads(objects.comparison(compared))["pairs"]
    assert {pair[name] for name in tables.TESTS} == {None}
    assert all(other["p"] is not None for other in others)
