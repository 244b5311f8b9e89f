"""Commands that a run suggests: each runs as it is printed, and shows the system that it speaks of."""

import json
import shlex
import shutil

import pytest


def suggested(told):
    """The commands among the next steps of a run, without the name of the program."""
    steps = json.loads(told.out)["next"]
    return [shlex.split(step[step.index("karat ") :])[1:] for step in steps if "karat " in step]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "shown"),
    [
        ("{engine: bm25, name: words}", "words"),
        ("{engine: dense, name: meaning}", "meaning"),
        ("{engine: hybrid, alpha: 0.0, depth: 7, name: weighed}", "weighed"),
        ("{engine: hybrid, fusion: rrf, rrf_k: 9, name: ranks}", "ranks"),
    ],
)
def test_every_suggested_command_shows_the_system_it_speaks_of(station, put, karat, folder, system, shown):
    put("my tests/corpus.jsonl", (folder / "corpus.jsonl").read_text())
    odd = {"id": "odd one", "question": "Who keeps the night watch?", "gold": [{"doc": "fuel"}]}
    put("my tests/qa.jsonl", (folder / "qa.jsonl").read_text() + json.dumps(odd))
    spec = station.spec.replace("[pure_dense, balanced, pure_sparse, rrf", f"[{system}").replace("k: [1, 3]", "k: [1]")
    put("my tests/karat.yaml", spec.replace("main: MRR", "main: Recall@1"))
    told = karat("run", "my tests", "--json")
    assert told.code in (0, 5), told.err
    commands = suggested(told)
    assert [command[0] for command in commands] == ["show"]
    for command in commands:
        again = karat(*command)
        assert (again.code, again.err) == (0, "")
        assert f"\n{shown}: first" in again.out or f"\n{shown} returned no hits." in again.out


def test_the_demo_suggests_a_command_that_shows_its_best_system(demo_run, karat, folder):
    shutil.copytree(demo_run.folder / "runs", folder / "runs")
    (command,) = suggested(demo_run)
    again = karat(*command)
    assert (again.code, again.err) == (0, "")
    assert json.loads(demo_run.out)["choice"]["best"]["system"] == "dense_heavy"  # the preset with alpha .7
    assert "dense_heavy: first" in again.out
