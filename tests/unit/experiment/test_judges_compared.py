"""Judges of a file compared with people and with each other, with figures that can be worked out by hand."""

import json

import krippendorff
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from karat.core.errors import InputError, NoOverlapError, UsageError
from karat.experiment.calibrate import calibrate_judges, calibration_writer
from karat.report import objects, tables
from karat.report.build.calibration import document
from karat.report.render import console
from karat.stats.prediction_powered import powered_mean


def table(systems=("a", "b"), **columns):
    """Rows of systems x questions; each column a list over all rows."""
    many = len(next(iter(columns.values())))
    each = many // len(systems)
    return [
        {"id": f"q{i % each}", "system": systems[i // each]} | {name: values[i] for name, values in columns.items()}
        for i in range(many)
    ]


PEOPLE = [1, 2, 3, 1, 2, 3, 3, 3, 2, 1]
GPT = [1, 2, 3, 2, 2, 3, 3, 2, 2, 1]
LLAMA = [2, 2, 3, 1, 3, 3, 1, 3, 2, 1]


def compared(judges=("gpt",), scale=("1:3",), **columns):
    given = {"label": PEOPLE, "gpt": GPT, "llama": LLAMA} | columns
    return calibrate_judges(table(**given), {name: name for name in judges}, scale=scale)


def notes(found):
    return " ".join(note.text for one in (found, *found.measures) for note in one.notes)


def test_a_judge_against_people_by_hand():
    (one,) = compared().measures
    # they part on the fourth (people 1, gpt 2) and the eighth (people 3, gpt 2)
    assert one.confusion.counts == ((2, 1, 0), (0, 3, 0), (0, 1, 3))
    assert one.confusion.is_exact
    # margins 3 3 4 and 2 5 3: 8 of 10 agree, by chance 33 of 100
    assert one.agreement.kappa == pytest.approx((0.8 - 0.33) / (1 - 0.33))
    # linear: 2 seen against (3x5+2x3x3 + 3x2+3x3 + 2x4x2+4x5)/10 = 8.4; quadratic: 2 against (15+36+6+9+32+20)/10
    assert one.agreement.linear == pytest.approx(1 - 2 / 8.4)
    assert one.agreement.weighted == pytest.approx(1 - 2 / 11.8)
    assert one.bias == pytest.approx(0.0)
    # means 1.8 and 2.4 by people, 2.0 and 2.2 by gpt: both prefer b
    assert (one.order.n, one.order.n_answers, one.order.tau) == (2, 10, 1.0)
    assert "1 or -1" in one.order.why


def test_figures_are_those_of_the_peers():
    found = compared(("gpt", "llama"))
    for one, grades in zip(found.measures, (GPT, LLAMA), strict=True):
        counts = np.array(one.confusion.counts)
        assert one.agreement.kappa == pytest.approx(cohens_kappa(counts).kappa)
        assert one.agreement.linear == pytest.approx(cohens_kappa(counts, wt="linear").kappa)
        assert one.agreement.weighted == pytest.approx(cohens_kappa(counts, wt="quadratic").kappa)
        for metric, alpha in one.agreement.alphas.items():
            peer = krippendorff.alpha(np.array([PEOPLE, grades], float), level_of_measurement=metric)
            assert alpha == pytest.approx(peer)
    (pair,) = found.pairs
    assert (pair.a, pair.b, pair.agreement.n) == ("gpt", "llama", 10)
    assert pair.difference == pytest.approx(np.mean(LLAMA) - np.mean(GPT))
    assert pair.spearman == pytest.approx(stats.spearmanr(GPT, LLAMA).statistic)
    assert set(pair.agreement.alphas) == {"nominal", "ordinal", "interval", "ratio"}


def test_the_order_of_systems_is_that_of_scipy():
    draw = np.random.default_rng(2)
    systems = tuple("abcdef")
    people = np.clip(np.repeat(np.linspace(1, 5, 6), 15) + draw.normal(size=90), 1, 5).round()
    judge = np.clip(people + draw.integers(-2, 3, 90), 1, 5)
    rows = table(systems, label=people.tolist(), gpt=judge.tolist())
    (one,) = calibrate_judges(rows, {"gpt": "gpt"}, scale=["1:5"]).measures
    means = [values.reshape(6, 15).mean(axis=1) for values in (people, judge)]
    assert one.order.tau == pytest.approx(stats.kendalltau(*means).statistic)
    assert one.order.low <= one.order.tau <= one.order.high
    assert one.order.why == ""


@pytest.mark.parametrize(
    ("systems", "tau", "words"),
    [(("a",), None, "there is one system"), (("a", "b"), 1.0, "1 or -1"), (tuple("abcde"), 4 / 9, "")],
)
def test_an_order_of_few_systems_says_what_it_is_worth(systems, tau, words):
    # five systems: 6 pairs alike, 2 turned round, one tied by each
    rows = table(systems, label=PEOPLE, gpt=[1, 2, 3, 1, 2, 3, 3, 3, 3, 3])
    (one,) = calibrate_judges(rows, {"gpt": "gpt"}, scale=["1:3"]).measures
    assert one.order.tau == pytest.approx(tau) if tau is not None else one.order.tau is None
    assert words in one.order.why


def test_four_systems_may_be_in_order_by_chance():
    rows = table(tuple("abcd"), label=[1, 1, 2, 2, 3, 3, 4, 4], gpt=[1, 1, 2, 2, 3, 3, 4, 4])
    (one,) = calibrate_judges(rows, {"gpt": "gpt"}, scale=["1:4"]).measures
    assert one.order.tau == 1
    assert "4 systems are few" in one.order.why
    assert "p 0.08" in one.order.why


def test_means_are_corrected_by_the_labels_there_are():
    draw = np.random.default_rng(0)
    judge = draw.integers(1, 6, 60).astype(float)
    people = [float(np.clip(value - 1, 1, 5)) if i < 25 else None for i, value in enumerate(judge)]
    rows = table(("a",), label=people, gpt=judge.tolist())
    (one,) = calibrate_judges(rows, {"gpt": "gpt"}, scale=["1:5"]).measures
    (system,) = one.systems
    wanted = powered_mean(np.array(people[:25]), judge[:25], judge[25:])
    assert (system.n, system.n_scored) == (25, 60)
    assert (system.mean, system.low) == pytest.approx((wanted.mean, wanted.low))


def test_each_judge_may_have_a_scale_and_a_file_of_its_own(tmp_path):
    path = tmp_path / "ten.csv"
    path.write_text("id,system,score\n" + "".join(f"q{i % 5},{'ab'[i // 5]},{g * 4 - 3}\n" for i, g in enumerate(GPT)))
    rows = table(label=PEOPLE, gpt=GPT)
    judges = {"gpt": "gpt", "ten": str(path)}
    found = calibrate_judges(rows, judges, scale=["1:3", "ten=1:9"])
    first, second = found.measures
    assert second.agreement == first.agreement
    assert found.pairs[0].agreement.kappa == 1
    assert found.others[0].what == "10 grades of ten"
    with pytest.raises(UsageError, match="say the scale of the others too"):
        calibrate_judges(rows, judges, scale=["ten=1:9"])
    with pytest.raises(UsageError, match=r"there is no judge 'tne'. Did you mean ten"):
        calibrate_judges(rows, judges, scale=["1:3", "tne=1:9"])
    assert "ten grades from 1 to 9, people from 1 to 3" in notes(calibrate_judges(rows, judges))


def test_a_grade_that_people_never_gave_is_a_category_too():
    (one,) = compared(scale=(), label=[1, 1, 3, 1, 1, 3, 3, 3, 1, 1]).measures
    assert one.confusion.names == ("1", "2", "3")
    assert sum(row[1] for row in one.confusion.counts) == 5


def test_people_may_have_a_column_each():
    rows = table(ann=PEOPLE, ben=[*PEOPLE[:-1], 2], gpt=GPT)
    found = calibrate_judges(rows, {"gpt": "gpt"}, people=["ann", "ben"], scale=["1:3"])
    assert found.measures[0].raters == ("ann", "ben")
    assert found.measures[0].people.kappa is not None
    with pytest.raises(InputError, match=r"no column 'cat' for --people. There are"):
        calibrate_judges(rows, {"gpt": "gpt"}, people=["cat"])


def test_a_row_for_each_rater_repeats_the_judge_and_may_not_contradict_it():
    rows = [row | {"rater": rater} for row in table(label=PEOPLE, gpt=GPT) for rater in ("ann", "ben")]
    (one,) = calibrate_judges(rows, {"gpt": "gpt"}, scale=["1:3"]).measures
    assert (one.n_labels, one.n_scored, one.raters) == (20, 10, ("ann", "ben"))
    rows[1] = rows[1] | {"gpt": 3}
    with pytest.raises(InputError, match=r"record 2: a judge gives 3 to the answer .* it gives 1 in record 1"):
        calibrate_judges(rows, {"gpt": "gpt"})


def test_judges_without_people_are_compared_with_each_other():
    rows = table(gpt=GPT, llama=LLAMA, third=PEOPLE)
    found = calibrate_judges(rows, {name: name for name in ("gpt", "llama", "third")}, scale=["1:3"])
    assert found.measures == ()
    assert [(pair.a, pair.b) for pair in found.pairs] == [("gpt", "llama"), ("gpt", "third"), ("llama", "third")]
    assert "gpt, third" not in console.render(document(found))
    assert "third, gpt" in console.render(document(found))
    with pytest.raises(UsageError, match="one judge and no label of people"):
        calibrate_judges(rows, {"gpt": "gpt"})


def test_a_judge_that_likes_length_and_the_first_place_is_seen():
    draw = np.random.default_rng(1)
    people = draw.integers(1, 6, 80)
    length, place = draw.integers(10, 500, 80), draw.integers(1, 3, 80)
    judge = people + 2 * (length > np.median(length)) + draw.integers(0, 2, 80)
    rows = table(label=people.tolist(), gpt=judge.tolist(), length=length.tolist(), position=place.tolist())
    (one,) = calibrate_judges(rows, {"gpt": "gpt"}).measures
    by_length, by_place = one.slants
    short, long = by_length.groups
    assert (by_length.by, short.n + long.n) == ("length", 80)
    off = judge - people
    assert short.bias == pytest.approx(off[length <= np.median(length)].mean())
    assert by_length.difference == pytest.approx(long.bias - short.bias)
    assert 1.5 < by_length.low < by_length.high < 2.5
    assert by_length.spearman == pytest.approx(stats.spearmanr(off, length).statistic)
    assert [group.name for group in by_place.groups] == ["position 1", "position 2"]
    assert by_place.low < 0 < by_place.high
    shown = console.render(document(calibrate_judges(rows, {"gpt": "gpt"})), width=200)
    assert "gpt is biased by length: judge - people differs by" in shown
    assert "biased by position" not in shown


def test_the_length_of_an_answer_is_counted_where_no_column_says_it():
    answers = ["a" * (10 + i) for i in range(10)]
    (one,) = compared(answer=answers).measures
    assert [group.name for group in one.slants[0].groups] == ["length up to 14", "length above 14"]
    (one,) = compared(position=["left", "right"] * 5).measures
    assert [(group.name, group.n) for group in one.slants[0].groups] == [("position left", 5), ("position right", 5)]
    assert one.slants[0].spearman is None
    assert compared(length=[7] * 10).measures[0].slants == ()


@pytest.mark.parametrize(
    ("columns", "options", "error", "sentence"),
    [
        ({"gpt": [*GPT[:-1], 9]}, {"scale": ["1:3"]}, InputError, "record 10: grade of gpt, 9 lies outside the scale"),
        ({"label": [*PEOPLE[:-1], 9]}, {"scale": ["1:3"]}, InputError, "record 10: label 9 lies outside the scale 1:3"),
        ({"gpt": ["yes"] * 10}, {}, InputError, "gpt grades by words and people by numbers"),
        ({"gpt": ["yes", *GPT[1:]]}, {}, InputError, "record 2: a number where record 1 has a word"),
        ({"gpt": ["good"] * 10}, {}, InputError, "neither a number nor yes or no"),
        ({"gpt": [None] * 10}, {}, InputError, 'no row holds a label. Fill in the column "gpt"'),
        ({"label": ["yes"] * 10, "gpt": ["no"] * 10}, {"scale": ["1:3"]}, UsageError, "grades are words"),
        ({"length": ["long"] * 10}, {}, InputError, "record 1"),
        ({"measure": ["F", "G"] * 5}, {}, InputError, "labels are of 2 measures .*-m F"),
        ({"measure": ["F"] * 10}, {"measures": ["Faith"]}, UsageError, "-m Faith: no label is of it"),
        ({}, {"measures": ["F", "G"]}, UsageError, "one measure at a time"),
    ],
    ids=str,
)
def test_grades_that_cannot_be_are_one_sentence(columns, options, error, sentence):
    rows = table(**{"label": PEOPLE, "gpt": GPT} | columns)
    with pytest.raises(error, match=sentence):
        calibrate_judges(rows, {"gpt": "gpt"}, **options)


def test_an_answer_graded_twice_is_refused():
    rows = table(label=PEOPLE, gpt=GPT)
    with pytest.raises(InputError, match="stands twice"):
        calibrate_judges([*rows, rows[0]], {"gpt": "gpt"})


@pytest.mark.parametrize("judges", [{}, {"people": "gpt"}, {"gpt": "gtp"}, {"gpt": "."}])
def test_a_judge_that_is_none_is_refused(judges):
    with pytest.raises((UsageError, InputError)):
        calibrate_judges(table(label=PEOPLE, gpt=GPT), judges)


def test_judges_without_a_common_answer_say_so():
    early, late = [*GPT[:5], *[None] * 5], [*[None] * 5, *LLAMA[5:]]
    found = compared(("gpt", "llama"), gpt=early, llama=late)
    (pair,) = found.pairs
    assert (pair.agreement.n, pair.agreement.kappa, pair.spearman, pair.difference) == (0, None, None, None)
    assert pair.order.tau is None
    assert "no answer was rated by two" in console.render(document(found))
    other = [{"id": f"x{i}", "label": 1} for i in range(5)]
    with pytest.raises(NoOverlapError, match="no answer was graded by people and by gpt"):
        calibrate_judges([{"id": "q0", "label": 1}], {"gpt": other})


def test_a_judge_of_one_grade_tells_nothing_and_that_is_said():
    found = compared(("gpt", "llama"), gpt=[2] * 10)
    one = found.measures[0]
    assert one.agreement.kappa == pytest.approx(0.0)
    assert one.spearman is None
    assert one.order.tau is None
    assert "same mean" in one.order.why
    assert "scores all labelled answers 2: it tells nothing apart" in notes(found)
    alone = calibrate_judges(table(gpt=[2] * 10, llama=[2] * 10), {"gpt": "gpt", "llama": "llama"})
    assert alone.pairs[0].agreement.kappa is None
    assert "gpt gives all 10 answers 2" in notes(alone)


def test_whose_answers_grades_are_of_is_told_where_there_are_several():
    bare = [{"id": f"q{i}", "score": 1} for i in range(5)]
    with pytest.raises(InputError, match="do not say whose answers they are about, and there are 2 systems"):
        calibrate_judges(table(label=PEOPLE, gpt=GPT), {"gpt": "gpt", "bare": bare})
    one = calibrate_judges([{"id": f"q{i}", "label": i % 2} for i in range(5)], {"bare": bare})
    assert one.measures[0].systems[0].system == "answers"


def test_a_table_of_too_many_systems_is_refused():
    rows = [{"id": f"q{i}", "system": f"s{i}", "label": 1, "gpt": 1} for i in range(5000)]
    with pytest.raises(InputError, match=r'5,000 systems by 5,000 questions .* Does the column "system"'):
        calibrate_judges(rows, {"gpt": "gpt"})


def test_all_outputs_hold_the_figures(tmp_path):
    found = compared(("gpt", "llama"), length=list(range(10)), position=[1, 2] * 5)
    data = json.loads(objects.calibration(found))
    assert data["pairs"][0]["agreement"]["linear"] == pytest.approx(found.pairs[0].agreement.linear)
    assert data["measures"][0]["order"]["tau"] == 1
    header = tables.calibration(found).splitlines()[0].split(",")
    assert {"kappa_linear", "alpha_ratio", "tau"} <= set(header)
    for name in ("x.json", "x.md", "x.csv", "x.txt"):
        calibration_writer(tmp_path / name)(found)
    text = (tmp_path / "x.md").read_text(encoding="utf-8")
    for part in ("Krippendorff's alpha", "gpt by length and position", "gpt and llama", "Means of systems"):
        assert part in text
    brief = console.render(document(found), width=100)
    assert len(brief.splitlines()) < 45
