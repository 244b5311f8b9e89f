"""Charts: every one over every kind of study, and what each computes."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from studies import study_with

from karat.experiment.pareto import with_fronts
from karat.report.charts import CHARTS, Chart, Missing, draw, theme, write_charts
from karat.report.charts import _draw as drawing_module
from karat.report.charts._chart import in_order
from karat.report.charts._draw import Drawing, steady
from karat.report.charts._lens import BARS, Lens, distinct, shortened, wrap
from karat.results.comparison import Pair
from karat.results.evaluation import SelectiveAccuracy
from karat.results.study import Configuration, FailureCount, StudyAnswer

CUTS = "@{1,3,5,10}"
MEASURES = ("F1" + CUTS, "Precision" + CUTS, "Recall" + CUTS, "Hit@5", "nDCG@5", "MRR")
HOSTILE = "<script>alert(1)</script> \"\x1b[31m' + alert(2) + '"
FIVE = [
    "1_retrieval_methods_comparison",
    "2_alpha_sensitivity",
    "3_topk_analysis",
    "4_comprehensive_comparison",
    "5_radar_chart",
]


@pytest.fixture(scope="module")
def study(make):
    def made(systems=("bm25", "dense", "hybrid"), configurations=None, **given):
        evaluation = make(systems, measures=given.pop("measures", MEASURES), **{"n": 20, "by": ("kind",)} | given)
        return study_with(evaluation, main="F1@5", **{"configurations": configurations} if configurations else {})

    return made


@pytest.fixture(scope="module")
def full(study):
    """A study with everything: a sweep over alpha of two ways, answers, failures, times, a pair."""
    names, found = [], []
    for normalise in ("minmax", "zscore"):
        for alpha in (0.0, 0.5, 1.0):
            names.append(f"{normalise} {alpha}")
            found.append(Configuration(names[-1], {"fusion": "weighted", "normalise": normalise, "alpha": alpha}))
    made = study(tuple(names), tuple(found), answers=True, failed=1)
    best = Lens(made).best
    curves = [
        SelectiveAccuracy(
            system=name, correct_by="CRAG", n=20, answered=4, right=1, accuracy=(1.0, 0.5, 1 / 3, 0.25), area=0.104
        )
        for name in names[:-1]
    ]
    point = SelectiveAccuracy(system=names[-1], correct_by="CRAG", n=20, answered=10, right=4, accuracy=(0.4,))
    return replace(
        made,
        evaluation=with_fronts(replace(made.evaluation, selective=(*curves, point)), Lens(made).main, ()),
        failure_counts=(
            FailureCount(best, "not_in_pool", questions=("q5", "q6"), gain=0.1),
            FailureCount(best, "below_k", questions=("q7",), gain=0.05),
        ),
        seconds={name: [0.01 * (i + 1) for i in range(20)] for name in names},
        pairs=(
            Pair(
                measure="F1@5",
                a=best,
                b="minmax 0.0",
                n=17,
                difference=-0.1,
                low=-0.2,
                high=0.0,
                p=0.01,
                adjusted=0.02,
                wins=1,
                ties=2,
                losses=3,
            ),
        ),
    )


@pytest.fixture(scope="module")
def drawn(full):
    """Its charts, for those who only look."""
    return draw(full)


def rows_of(spec):
    return [row for rows in spec["datasets"].values() for row in rows]


def spec_of(study, name):
    """One chart alone."""
    return CHARTS.get(name).make(study).to_dict()


def texts_of(spec):
    title = spec["title"]
    return " ".join([*title["text"], *title["subtitle"]])


@pytest.mark.slow
def test_the_five_named_charts_come_first_and_every_file_is_named_as_its_chart(drawn):
    charts = in_order()
    assert [c.stem for c in charts[:5]] == FIVE
    assert [c.name.replace("_", "") for c in CHARTS] == CHARTS.keys()
    assert all(c.title and c.about.endswith(".") for c in charts)
    assert [*drawn.specs] == [c.stem for c in charts]


def test_a_full_study_draws_every_chart_with_its_n_and_no_config(drawn):
    assert drawn.missing == {}
    for name, spec in drawn.specs.items():
        assert "config" not in spec, name
        assert re.search(r"\bn = |n stands under", texts_of(spec)), name
        assert "http" not in json.dumps({k: v for k, v in spec.items() if k != "$schema"}), name


def test_what_a_study_lacks_is_named(study):
    bare = study(("bm25",), by=(), measures=("MRR", "Hit@5"))
    drawing = draw(bare)
    assert {name: m.reason for name, m in drawing.missing.items()} == {
        "2_alpha_sensitivity": "no two systems differ in alpha alone",
        "3_topk_analysis": "no measure was computed at two cut-offs",
        "5_radar_chart": "a radar needs 3 measures from 0 to 1, and there are 2",
        "failure_waterfall": "no failure was attributed",
        "kind_heatmap": "the study is not summarised by kind of question",
        "pareto": "fewer than two systems have both a mean of the main measure and a known cost",
        "precision_recall": "Precision and Recall were not both computed at two cut-offs",
        "question_scatter": "fewer than two systems have a value of the main measure",
        "retrieval_and_answers": "there are no answers with a score (TokenF1)",
        "selective_accuracy": "CRAG was not computed, or nothing was answered",
    }
    assert not any(m.broken for m in drawing.missing.values())


@pytest.mark.slow
def test_the_same_study_gives_the_same_bytes_with_letters_that_can_be_read(full, drawn, tmp_path):
    first = write_charts(full, tmp_path / "a", drawing=drawn)
    assert len(first) == 2 * len(in_order())
    some = {chart.stem: spec_of(full, chart.name) for chart in in_order()[::-5]}
    assert [spec | {"config": None} for spec in some.values()] == [
        drawn.specs[name] | {"config": None} for name in some
    ]
    for again in write_charts(full, tmp_path / "b", drawing=Drawing(some)):
        assert again.read_bytes() == (tmp_path / "a" / again.name).read_bytes(), again.name
    for path in first:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG" if path.suffix == ".png" else b"<svg"), path
        sizes = re.findall(r'font-size="([\d.]+)px"', content.decode()) if path.suffix == ".svg" else ["12"]
        assert sizes, path
        assert min(map(float, sizes)) >= 12, path
    assert not list(tmp_path.rglob("*.part"))


def test_a_front_is_drawn_over_logarithmic_costs_where_they_are_far_apart(full):
    front = full.evaluation.pareto[0]
    points = tuple(replace(point, cost=(i + 1) * 2.0) for i, point in enumerate(front.points))
    scales = []
    for last in (19.0, 21.0):
        stretched = replace(front, points=(*points[:-1], replace(points[-1], cost=last)))
        spec = spec_of(replace(full, evaluation=replace(full.evaluation, pareto=(stretched,))), "pareto")
        scales.append(spec["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"].get("type"))
    assert scales == [None, "log"]


def test_progress_counts_the_charts_and_a_drawing_is_not_made_again(full, drawn, tmp_path, monkeypatch, unpainted):
    drawing = Drawing({name: drawn.specs[name] for name in FIVE[:2]})
    monkeypatch.setattr(drawing_module, "draw", lambda study: pytest.fail("drawn twice"))
    said = []
    write_charts(full, tmp_path, lambda done, total: said.append((done, total)), drawing=drawing)
    assert said == [(0, 2), (1, 2), (2, 2)]


def test_ids_of_clips_are_numbered_from_0_and_text_is_left_alone():
    svg = '<g clip-path="url(#clip7)"><clipPath id="clip7"/><clipPath id="clip9"/><text>url(#clip9)</text></g>'
    assert steady(svg) == (
        '<g clip-path="url(#clip0)"><clipPath id="clip0"/><clipPath id="clip1"/><text>url(#clip9)</text></g>'
    )


def test_a_mean_that_does_not_exist_is_a_gap_and_said(study):
    made = study(undefined=0)
    scores, summaries = made.evaluation.scores, []
    for s in made.evaluation.summaries:
        gone = replace(s, mean=None, low=None, high=None, n=0, n_failed=20)
        summaries.append(gone if s.system == "dense" else s)
    status = scores.status.copy()
    status[1] = 2
    evaluation = replace(made.evaluation, summaries=tuple(summaries), scores=replace(scores, status=status))
    specs = draw(replace(made, evaluation=evaluation)).specs
    for name in (*FIVE[:1], *FIVE[2:], "precision_recall", "score_distributions"):
        means = {row.get("mean", row.get("x")) for row in rows_of(specs[name]) if row.get("name") == "dense"}
        assert means == {None}, name
        assert "No value, shown as a gap: dense" in texts_of(specs[name]), name
    assert "dense" not in {row["name"] for row in rows_of(specs["1_retrieval_methods_comparison"]) if row["mean"]}
    cells = [row for row in rows_of(specs["4_comprehensive_comparison"]) if row["name"] == "dense"]
    assert {(row["shade"], row["shown"]) for row in cells} == {(None, "–")}


def test_undefined_and_failed_rows_are_counted_in_the_subtitle(study):
    spec = spec_of(study(undefined=2, failed=1), "retrieval_methods_comparison")
    assert "n = 17 questions (2 undefined and 1 failed left out, not counted as 0)" in texts_of(spec)


def test_names_from_files_are_data_and_never_part_of_an_expression(study):
    specs = draw(study((HOSTILE, "b\n\u202ec", "", "x" * 300), kinds=(HOSTILE, "k"))).specs
    assert len(specs) >= 8
    for name, spec in specs.items():
        held = json.dumps(spec)
        assert "\\u001b" not in held, name
        assert "\\u202e" not in held, name
        frame = {k: v for k, v in spec.items() if k != "datasets"}
        for found in re.findall(r'"(?:\w*[eE]xpr|test|filter)": "((?:[^"\\]|\\.)*)"', json.dumps(frame)):
            assert "alert" not in found, name
        assert max((len(v) for row in rows_of(spec) for v in row.values() if isinstance(v, str)), default=0) <= 120


def test_fifty_five_systems_are_cut_to_the_best_and_the_named_and_stay_small(study):
    systems = tuple(f"s{i:02}" for i in range(55))
    found = [Configuration(s, {"alpha": i / 54, "fusion": "weighted"}) for i, s in enumerate(systems)]
    found[3] = replace(found[3], description="a preset")
    made = study(
        systems, tuple(found), n=133, by=(), measures=("F1@{5,10}", "Precision@{5,10}", "Recall@{5,10}", "MRR")
    )
    lens = Lens(made)
    shown = lens.shown(BARS)
    assert len(shown) == 13
    assert shown[:12] == lens.by_mean[:12]
    assert shown[12] == "s03"
    said = "Shown: the 12 best of 55 systems by F1@5 and 1 more with a name of its own; the tables hold all."
    specs = draw(made).specs
    assert said in texts_of(specs[FIVE[0]])
    assert sum(len(json.dumps(spec)) for spec in specs.values()) < 300_000


def test_alpha_lines_group_by_what_else_differs_and_one_leg_alone_ends_them(study):
    settings = {
        "w .3": {"fusion": "weighted", "normalise": "minmax", "alpha": 0.3},
        "w .7": {"fusion": "weighted", "normalise": "minmax", "alpha": 0.7},
        "z .3": {"fusion": "weighted", "normalise": "zscore", "alpha": 0.3},
        "bm25": {"engine": "bm25", "alpha": 0},
        "rrf": {"fusion": "rrf"},
    }
    made = study(tuple(settings), tuple(Configuration(n, s) for n, s in settings.items()))
    rows = rows_of(spec_of(made, "alpha_sensitivity"))
    lines = {(row["system"], row["alpha"], row["name"]) for row in rows}
    assert lines == {
        ("minmax", 0.0, "bm25"), ("minmax", 0.3, "w .3"), ("minmax", 0.7, "w .7"),
        ("zscore", 0.0, "bm25"), ("zscore", 0.3, "z .3"),
    }  # fmt: skip
    for line in ("minmax", "zscore"):
        found = [row for row in rows if row["measure"] == "F1@5" and row["system"] == line]
        assert [row["top"] for row in found] == [row["mean"] == max(r["mean"] for r in found) for row in found]


def test_the_waterfall_counts_each_question_once_and_adds_up(full):
    overlap = FailureCount(full.failure_counts[0].system, "lost_in_fusion", questions=("q6", "q8"), gain=0.02)
    spec = spec_of(replace(full, failure_counts=(*full.failure_counts, overlap)), "failure_waterfall")
    rows = rows_of(spec)
    assert [(row["step"].replace("\n", ""), row["count"]) for row in rows] == [
        ("all questions", 20), ("not in the pool", 2), ("lost in fusion", 1),
        ("below the cut-off", 1), ("failed to run", 1), ("nothing to score (undefined)", 2), ("succeed", 13),
    ]  # fmt: skip
    assert rows[1]["said"] == "2 (10.0%), gain +.100"
    assert [row["from"] for row in rows[1:-1]] == [18, 17, 16, 15, 13]


def test_the_scatter_counts_wins_and_turns_the_pair_round(full):
    spec = spec_of(full, "question_scatter")
    lens = Lens(full)
    best, second = lens.by_mean[:2]
    pairs = zip(lens.per_question(best, lens.main), lens.per_question(second, lens.main), strict=True)
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    wins = sum(a > b for a, b in both)
    assert f"best system does better ({wins})" in json.dumps(spec)
    rows = [row for row in rows_of(spec) if "won" in row]
    assert len(rows) == len(both) == 17
    for row, (a, b) in zip(rows, both, strict=True):
        assert abs(row["y"] - a) <= 0.0181
        assert abs(row["x"] - b) <= 0.0181
    turned = replace(full.pairs[0], b=second)
    spec = spec_of(replace(full, pairs=(turned,)), "question_scatter")
    assert "Difference of means .100, 95% interval [.000, .200], p = .020" in texts_of(spec)


def test_latency_has_percentiles_of_the_seconds_in_a_unit_that_fits(full):
    spec = spec_of(full, "latency")
    row = rows_of(spec)[0]
    assert (row["p50"], row["p95"]) == pytest.approx((105, 190.5))
    assert "in milliseconds" in texts_of(spec)
    slow = replace(full, seconds={name: [2.0, None, 4.0] for name in full.seconds})
    row = rows_of(spec_of(slow, "latency"))[0]
    assert (row["p50"], row["n"]) == (3.0, 2)


def test_latency_of_systems_that_answer_is_of_whole_questions(full):
    system = next(iter(full.seconds))
    whole = {f"q{i}": StudyAnswer(system, f"q{i}", "x", seconds=1.0, seconds_total=3.0) for i in range(20)}
    rows = {row["name"]: row for row in rows_of(spec_of(replace(full, answers={system: whole}), "latency"))}
    assert (rows[system]["p50"], rows[system]["p95"], rows[system]["n"]) == (3.0, 3.0, 20)


def test_points_of_a_distribution_stand_where_the_scores_are(study):
    values = np.zeros((1, 6, 1))
    values[0, :, 0] = [0, 0, 1 / 3, 1 / 3, 1 / 3, 1]
    spec = spec_of(study(("a",), n=6, measures=("F1@5",), undefined=0, values=values), "score_distributions")
    points = [(row["value"], row["count"]) for row in rows_of(spec) if row["row"] == "points"]
    assert points == [(0, 2), (0.333333, 3), (1, 1)]


def test_a_radar_point_stands_on_its_spoke(study):
    values = np.full((1, 4, 4), 0.5)
    measures = ("F1@5", "Precision@5", "Recall@5", "MRR")
    made = study(("a",), n=4, measures=measures, undefined=0, values=values)
    rows = [row for row in rows_of(spec_of(made, "radar_chart")) if "step" in row and "ring" not in row]
    out = rows[0]["y"]
    assert 0.5 < out < 1  # the rim is at the highest upper end
    assert [(row["x"], row["y"]) for row in rows] == [(0, out), (out, 0), (0, -out), (-out, 0), (0, out)]


def test_a_chart_that_raises_is_broken_and_the_others_are_drawn(study, monkeypatch):
    def fall(study):
        raise ValueError("no \x1b[31mluck")

    charts = [Chart("falls", "t", "a", fall), Chart("lacks", "t", "a", lambda study: Missing("nothing"))]
    monkeypatch.setattr(drawing_module, "in_order", lambda: charts)
    drawing = draw(study())
    assert drawing.missing["falls"].broken
    assert drawing.missing["falls"].reason.startswith("could not be drawn (ValueError: no luck)")
    assert drawing.missing["lacks"] == Missing("nothing")


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [("bm25", 10, "bm25"), ("abcdefghijklmnop", 10, "abcdef…nop"), ("", 10, "(no name)"), ("a\x1b[31mb", 9, "ab")],
)
def test_shortened(text, limit, short):
    assert shortened(text, limit) == short


def test_no_two_labels_are_alike_and_what_parts_long_names_stays():
    long = "hybrid-sentence-transformers-with-alpha-0.{}-depth-100-chunk-512-of-a-very-long-name"
    names = [long.format(3), long.format(7), "a\nb", "a b", "x" * 90, "x" * 91, "x" * 92]
    labels = distinct(names, 40)
    assert len(set(labels.values())) == len(names)
    assert all(len(label) <= 41 for label in labels.values())
    assert "0.3" in labels[names[0]]
    assert "0.7" in labels[names[1]]
    assert len({wrap(label, 22) for label in labels.values()}) == len(names)


def test_both_themes_style_the_same_things():
    light, dark = theme("light"), theme("dark")
    assert light.keys() == dark.keys()
    assert light["style"].keys() == dark["style"].keys()
    assert light["background"] == dark["background"] == "transparent"
    assert light["text"]["color"] != dark["text"]["color"]


@pytest.fixture
def grid(study):
    """Three alphas by three k, each a system whose list ends at its k."""
    settings = [{"alpha": alpha, "k": k} for alpha in (0.0, 0.5, 1.0) for k in (3, 5, 10)]
    systems = tuple(Configuration(f"hybrid alpha={s['alpha']} k={s['k']}", s) for s in settings)
    return study(tuple(c.name for c in systems), systems, measures=("F1@{3,5,10}", "Recall@{3,5,10}", "MRR"))


def test_systems_that_differ_in_k_alone_are_one_line_each_at_its_own_k(grid):
    rows = rows_of(spec_of(grid, "topk_analysis"))
    assert {row["system"] for row in rows} == {f"hybrid alpha={alpha}" for alpha in ("0.0", "0.5", "1.0")}
    assert all(row["name"].endswith(f" k={row['measure'].rpartition('@')[2]}") for row in rows)
    assert len(rows) == 3 * 3 * 2


def test_alpha_is_shown_at_the_k_of_the_study(grid):
    rows = rows_of(spec_of(grid, "alpha_sensitivity"))
    assert {row["name"] for row in rows} == {f"hybrid alpha={alpha} k=5" for alpha in ("0.0", "0.5", "1.0")}
    assert "k = 5" in str(spec_of(grid, "alpha_sensitivity")["title"])


def test_the_surest_answers_end_at_their_coverage(full):
    rows = rows_of(spec_of(full, "selective_accuracy"))
    of = {name: [row for row in rows if row["system"] == name] for name in ("minmax 0.0", "zscore 1.0")}
    assert [(row["x"], row["y"], row["end"]) for row in of["minmax 0.0"]] == [
        (0.05, 1.0, False), (0.1, 0.5, False), (0.15, 1 / 3, False), (0.2, 0.25, True),
    ]  # fmt: skip
    assert [(row["x"], row["y"], row["end"]) for row in of["zscore 1.0"]] == [(0.5, 0.4, True)]


def test_a_long_curve_is_drawn_with_few_points_and_both_ends(full):
    (one, *_) = full.evaluation.selective
    long = replace(one, n=5000, answered=5000, accuracy=tuple(np.linspace(1, 0.5, 5000)))
    study = replace(full, evaluation=replace(full.evaluation, selective=(long,)))
    rows = rows_of(spec_of(study, "selective_accuracy"))
    assert len(rows) == 200
    assert (rows[0]["answers"], rows[-1]["answers"], rows[-1]["y"]) == (1, 5000, 0.5)
