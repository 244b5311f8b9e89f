"""What is told of runs: run, show, gate, judge, judge calibrate, compare, verify."""

import pytest

pytestmark = pytest.mark.usefixtures("study")


def test_run(net):
    files = ["runs/*Z-*/summary.csv", "runs/*Z-*/rows.csv", "runs/*Z-*/comparisons.csv", "runs/*Z-*/report.md"]
    net("show", "show LAST --json", files, without="pareto")
    net("show_scores", "show LAST --scores")
    net("show_console", "show LAST -v")
    net("list", "show --json")


def test_report(net):
    net("report", "show LAST -o told.json", ["told.json"], without=("usage", "pareto"))


def test_gate(net):
    net("baseline", "gate LAST --save main --json")
    rules = '"Recall@5 >= 0.5" "Recall@5 >= baseline - 0.02" "Recall@3 >= 0.99" "failed == 0"'
    net("gate", f"gate LAST --baseline main {rules} --json")
    net("gate_files", 'gate LAST "Recall@3 >= 0.3" --junit g.xml --markdown g.md', ["g.xml", "g.md"])
    net("gate_yaml", "run gated.yaml -q --runs-dir gated")


def test_statistics(net):
    net("run_compare", "compare LAST --json", without="cost")
    net("run_power", "compare --power demo/questions.jsonl LAST --difference 0.03 --json")
    net("run_factors", "compare --factors LAST --json")
    net("run_verify", "verify LAST --json")


def test_judge(net):
    net("judge", "judge LAST --runs-dir judged -m 'Faithfulness(by=heuristic)' --json")
    net("calibrate", "judge calibrate LAST labels.csv --runs-dir judged -m Correctness --json")
    net("calibrate_to_csv", "judge calibrate LAST labels.csv --runs-dir judged -q -o cal.csv", ["cal.csv"])
