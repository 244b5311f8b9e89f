"""Fronts of evaluations: points, savings by hand, what is left out, and how they are stored, shown and asked for."""

import json
from dataclasses import replace

import pytest
from studies import study_of, study_with

import karat
from karat.core.errors import UsageError
from karat.experiment._costs import study_costs
from karat.experiment.outputs import write_study
from karat.experiment.pareto import front_of, with_fronts
from karat.report.build.pareto import cost_columns, front_table, saving_lines
from karat.report.outputs import csv
from karat.report.outputs import json as json_output
from karat.results.comparison import Pair
from karat.results.evaluation import Matching
from karat.results.pareto import ParetoFront
from karat.results.serial import load_study, plain, save_study
from karat.stats.summary import summarise, usage

N = 10
GOLD = {f"q{i}": [f"d{i}"] for i in range(N)}


def evaluation(means, seconds, measures=("MRR",), **about):
    """Systems with so many right of ten questions, and the same seconds for each question; None: not known."""
    names = tuple(means)
    values = [[[1.0 if i < hits else 0.0] * len(measures) for i in range(N)] for hits in means.values()]
    made = study_of(values, names, measures).evaluation
    spent = [usage(name, "seconds total", [seconds[name]] * N) for name in names]
    return replace(
        made, summaries=summarise(made.scores), usage=tuple(one for one in spent if one is not None), **about
    )


def mrr(made):
    return made.scores.measures[0]


def pair(a, b, difference, adjusted, n=N):
    return Pair(
        measure="MRR", a=a, b=b, n=n, difference=difference, low=difference - 0.2, high=difference + 0.1, p=adjusted,
        adjusted=adjusted, wins=1, ties=1, losses=1,
    )  # fmt: skip


def test_the_order_in_which_costs_are_added_puts_no_system_behind():
    costs = [0.1, 0.2, 0.3]
    assert sum(costs) != sum(costs[::-1])
    gold = {f"q{i}": {"d": 1} for i in range(3)}
    runs = {
        name: [{"id": f"q{i}", "retrieved": ["d"], "cost_usd": cost} for i, cost in enumerate(spent)]
        for name, spent in (("a", costs), ("b", costs[::-1]))
    }
    front = karat.score(gold, runs, measures="MRR").pareto(cost="cost_usd")
    assert (front.front, front.savings) == (("a", "b"), ())


FOUR = {"slow": 9, "quick": 5, "beaten": 4, "untimed": 10}
SECONDS = {"slow": 0.31, "quick": 0.1, "beaten": 0.2, "untimed": None}


def test_points_by_hand():
    made = evaluation(FOUR, SECONDS)
    front = front_of(made, mrr(made), "seconds", ())
    assert [(p.system, p.value, p.cost, p.on_front, p.dominated_by, p.n) for p in front.points] == [
        ("quick", 0.5, 0.1, True, (), N),
        ("beaten", 0.4, 0.2, False, ("quick",), N),
        ("slow", 0.9, 0.31, True, (), N),
    ]
    assert [column.title for column in front_table(front).columns][:3] == ["system", "MRR", "n"]
    assert front.to_polars()["n"].to_list() == [N, N, N]
    assert front.front == ("quick", "slow")
    assert (front.without_cost, front.without_value, front.n_left_out) == (("untimed",), (), 1)
    assert [(p.low, p.high) for p in front.points] == [
        next((s.low, s.high) for s in made.summaries if s.system == p.system) for p in front.points
    ]


def test_a_dominated_system_changes_nothing_but_its_own_row():
    two = {name: FOUR[name] for name in ("slow", "quick")}
    alone, more = evaluation(two, SECONDS), evaluation(FOUR, SECONDS)
    one, other = (front_of(made, mrr(made), "seconds", ()) for made in (alone, more))
    assert one.points == tuple(p for p in other.points if p.system != "beaten")


def test_systems_without_a_mean_or_over_other_questions_are_left_out():
    made = evaluation({"a": 9, "b": 5, "c": 3}, {"a": 3.0, "b": 1.0, "c": 2.0})
    status, values = made.scores.status.copy(), made.scores.values.copy()
    status[1], values[1] = 1, float("nan")
    status[2, :2], values[2, :2] = 1, float("nan")
    scores = replace(made.scores, status=status, values=values)
    front = front_of(replace(made, scores=scores, summaries=summarise(scores)), mrr(made), "seconds", ())
    assert (front.front, front.without_value, front.not_ranked) == (("a",), ("b",), ("c",))


def test_systems_whose_hits_cannot_show_the_gold_are_not_ranked():
    matching = Matching(
        matcher="doc", unit="document", why="", share={"a": 1.0, "b": 0.0}, unmatchable={"b": {"doc": 3}}
    )
    made = evaluation({"a": 5, "b": 9}, {"a": 2.0, "b": 1.0}, matching=matching)
    assert front_of(made, mrr(made), "seconds", ()).not_ranked == ("b",)


@pytest.mark.parametrize(
    ("adjusted", "difference", "saves"),
    [(0.2, 0.4, True), (0.05, 0.4, False), (0.01, -0.1, True)],  # last: better where both have a value
)
def test_a_cheaper_system_that_is_not_significantly_worse_is_named(adjusted, difference, saves):
    made = evaluation(FOUR, SECONDS)
    front = front_of(made, mrr(made), "seconds", [pair("quick", "slow", difference, adjusted)])
    assert bool(front.savings) == saves
    for saving in front.savings:
        assert (saving.system, saving.cheaper, saving.n) == ("slow", "quick", N)
        assert saving.times == pytest.approx(3.1)
        assert saving.difference == difference


def test_a_pair_the_other_way_round_says_the_same():
    made = evaluation(FOUR, SECONDS)
    (saving,) = front_of(made, mrr(made), "seconds", [pair("slow", "quick", -0.4, 0.2)]).savings
    assert (saving.difference, saving.low, saving.high) == pytest.approx((0.4, 0.3, 0.6))


def test_what_was_not_tested_and_what_costs_nothing():
    made = evaluation({"slow": 9, "free": 5}, {"slow": 0.3, "free": 0.0})
    assert front_of(made, mrr(made), "seconds", ()).savings == ()
    assert front_of(made, mrr(made), "seconds", [pair("free", "slow", None or 0.0, 1.0, n=0)]).savings[0].times is None


def test_without_pairs_the_best_is_tested_against_the_cheaper_ones_of_the_front():
    made = evaluation(
        {"slow": 9, "near": 8, "low": 0, "beaten": 1}, {"slow": 3.0, "near": 1.5, "low": 0.5, "beaten": 2.0}
    )
    (saving,) = front_of(made, mrr(made), "seconds").savings
    assert (saving.system, saving.cheaper, saving.times, saving.adjusted) == ("slow", "near", 2.0, 1.0)


def test_the_sentence_that_users_need():
    made = with_fronts(evaluation(FOUR, SECONDS), None, [pair("quick", "slow", 0.4, 0.2)])
    assert list(saving_lines(made)) == [
        "slow costs 3.1 times quick's seconds per question (0.31 against 0.1) for a difference in MRR that is not "
        "significant (.400, p .200, 10 questions)."
    ]
    assert list(saving_lines(with_fronts(evaluation(FOUR, SECONDS), None, [pair("quick", "slow", 0.4, 0.01)]))) == []
    assert list(saving_lines(with_fronts(evaluation(FOUR, SECONDS | {"slow": 0.105}), None,
                                         [pair("quick", "slow", 0.4, 0.2)]))) == []  # fmt: skip


def test_a_cost_that_few_questions_have_is_no_cost_of_a_system():
    made = evaluation({"quick": 5, "slow": 9}, {"quick": 0.1, "slow": 2.0})
    few = (usage("quick", "seconds total", [0.1] * 8), usage("slow", "seconds total", [2.0] * 10))
    assert front_of(replace(made, usage=few), mrr(made), "seconds", ()).without_cost == ("quick",)
    assert with_fronts(replace(made, usage=few), None, ()).pareto == ()
    assert [cell for _, cells in cost_columns(replace(made, usage=few), ("quick", "slow")) for cell in cells] == [
        "0.1 (n 8)", 2.0
    ]  # fmt: skip
    enough = (usage("quick", "seconds total", [0.1] * 9), few[1])
    assert front_of(replace(made, usage=enough), mrr(made), "seconds", ()).without_cost == ()


def test_less_than_a_tenth_of_a_second_is_no_advice():
    spent = {"quick": 0.000272, "slow": 0.000694}
    made = with_fronts(evaluation({"quick": 5, "slow": 9}, spent), None, [pair("quick", "slow", 0.4, 0.2)])
    assert list(saving_lines(made)) == []
    assert made.pareto[0].savings  # told beside the front all the same


def test_the_table_says_who_is_left_out():
    made = with_fronts(evaluation(FOUR, SECONDS), None, ())
    table = front_table(made.pareto[0])
    assert table.caption == "Pareto front (MRR against seconds per question, p50)"
    assert [(row[0], row[2], row[4], row[5]) for row in table.rows] == [
        ("quick", N, "yes", "–"), ("beaten", N, "no", "quick"), ("slow", N, "yes", "–"),
    ]  # fmt: skip
    assert "Left out, seconds per question not known, or of too few questions: untimed." in table.footnotes


def test_a_part_of_the_seconds_is_not_taken_for_the_whole():
    made = evaluation({"a": 5}, {"a": None})
    part = usage("a", "seconds retrieve", [0.5] * N)
    searched = replace(made, usage=(part,), ranked={"a": [["d"]] * N})
    assert searched.usage_of("a", "seconds") == part
    assert replace(searched, answers={"a": ["x"] * N}).usage_of("a", "seconds") is None


def rag(hits, seconds, tokens):
    return [
        {"id": f"q{i}", "retrieved": [{"id": f"d{i}" if i < hits else "x"}], "answer": "x", "tokens": tokens,
         "seconds": {"retrieve": seconds, "answer": 2 * seconds}}
        for i in range(N)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def report():
    return karat.score(GOLD, {"slow": rag(8, 0.1, 90), "quick": rag(7, 0.01, 30)}, measures=["MRR", "Recall@5"])


def test_a_report_gives_fronts_of_any_measure_and_cost(report):
    front = report.pareto()
    assert (front.measure, front.cost, front.front) == ("Recall@5", "seconds", ("quick", "slow"))
    assert [p.cost for p in front.points] == pytest.approx([0.03, 0.3])
    assert report.pareto("MRR", "tokens").to_polars()["tokens_mean"].to_list() == [30.0, 90.0]
    unknown = report.pareto(cost="cost_usd")
    assert (unknown.points, unknown.without_cost) == ((), ("slow", "quick"))
    assert len(unknown.to_polars()) == 0
    assert "<table>" in front._repr_html_()
    assert repr(front) == "ParetoFront(Recall@5 against seconds (p50): 2 of 2 systems on the front)"
    for wrong in ({"cost": "second"}, {"measure": "nDCG@5"}):
        with pytest.raises(UsageError):
            report.pareto(**wrong)


def test_a_study_gives_the_fronts_that_it_holds_and_stores_them(report, tmp_path):
    study = study_with(report.evaluation, main="Recall@5")
    save_study(study, tmp_path)
    for one in (study, load_study(tmp_path)):
        assert one.pareto(cost="tokens") == report.pareto(cost="tokens")
    with pytest.raises(UsageError, match="fronts of Recall@5 alone"):
        study.pareto("MRR")
    with pytest.raises(UsageError, match="fewer than two systems have both Recall@5 and cost_usd"):
        study.pareto(cost="cost_usd")


def test_json_and_csv_hold_costs_and_the_files_of_a_run_that_repeat_hold_none(report, tmp_path):
    held = json.loads(json_output.render(report.evaluation))["pareto"]
    assert held == plain(report.evaluation.pareto)
    assert [front["cost"] for front in held] == ["seconds", "tokens"]
    assert "seconds_p50,tokens_mean" in csv.summary(report.evaluation)
    write_study(study_with(report.evaluation, main="Recall@5"), tmp_path, ["csv", "json"])
    for name in ("summary.csv", "results.json"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "seconds_p50" not in text, name
        assert "pareto" not in text, name


def test_a_system_without_times_has_an_empty_cell_and_is_not_dropped():
    timeless = [{**row, "seconds": None} for row in rag(9, 0.1, 50)]
    report = karat.score(GOLD, {"slow": rag(8, 0.1, 90), "timeless": timeless}, measures=["MRR"])
    frame = report.summary
    assert frame["system"].to_list() == ["slow", "timeless"]
    assert frame["seconds_p50"].to_list() == [pytest.approx(0.3), None]
    shown = next(line for line in report.to_markdown().splitlines() if "seconds (p50)" in line)
    assert [cell.strip() for cell in shown.split("|")[2:4]] == ["0.3", "–"]


def test_compare_has_costs_and_their_differences():
    report = karat.score(GOLD, {"slow": rag(8, 0.1, 90), "quick": rag(7, 0.01, 30)}, measures=["MRR"])
    found = karat.compare(report)
    assert {(one.system, one.what): one.typical for one in found.costs} == {
        ("slow", "seconds"): pytest.approx(0.3), ("quick", "seconds"): pytest.approx(0.03),
        ("slow", "tokens"): 90.0, ("quick", "tokens"): 30.0,
    }  # fmt: skip
    assert [(p.measure, p.a, p.b, p.n, p.wins) for p in found.cost_pairs] == [
        ("seconds", "slow", "quick", N, N), ("tokens", "slow", "quick", N, N),
    ]  # fmt: skip
    assert found.cost_pairs[1].difference == -60.0
    assert found.tests == 1  # costs are no part of the correction over measures


def test_a_study_s_seconds_are_of_whole_questions(report):
    from karat.results.study import StudyAnswer

    def answers(**given):
        return {"slow": {f"q{i}": StudyAnswer("slow", f"q{i}", "x", **given) for i in range(N)}}

    study = study_with(report.evaluation, main="Recall@5", seconds={"slow": [0.1] * N})
    costs = [
        study_costs(replace(study, answers=answers(**given)))["slow"]["seconds"][0]
        for given in ({"seconds": 0.2}, {"seconds_total": 0.7}, {})
    ]
    assert costs == [pytest.approx(0.3), 0.7, None]


def test_a_front_of_nothing_says_so():
    assert repr(ParetoFront(measure="MRR", cost="tokens")) == (
        "ParetoFront(MRR against tokens (mean): 0 of 0 systems on the front)"
    )


def test_a_run_has_the_seconds_of_its_results_with_steps_beside_retrieval_and_answers(tmp_path):
    """`compare` of the run counted retrieval and answer alone, where its own table had all."""
    (tmp_path / "t.jsonl").write_text("".join(
        json.dumps({"id": q, "question": f"{q}?", "answers": ["x"], "gold": [{"id": d} for d in docs]}) + "\n"
        for q, docs in GOLD.items()
    ))  # fmt: skip
    rows = {"a": [{**row, "seconds": {**row["seconds"], "rerank": 5.0}} for row in rag(8, 0.5, 1)], "b": rag(7, 0.5, 1)}
    for name, lines in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    systems = [{"name": name, "results": f"{name}.jsonl"} for name in rows]
    (tmp_path / "karat.yaml").write_text(json.dumps({"testset": "t.jsonl", "systems": systems, "outputs": []}))
    study = karat.run(tmp_path / "karat.yaml").study
    said = {system: study.evaluation.usage_of(system, "seconds").mean for system in rows}
    assert {system: costs["seconds"][0] for system, costs in study_costs(study).items()} == said == {"a": 6.5, "b": 1.5}
