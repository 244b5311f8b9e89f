"""`karat show RUN --to TRACKER`: what the command line takes, and what it refuses."""

import json

import pytest

from karat.cli.main import main


def called(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["karat", "show", *words])
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code or 0, capsys.readouterr()


def test_lines_of_a_run(demo_run, tmp_path, monkeypatch, capsys):
    runs, target = str(demo_run.folder / "runs"), tmp_path / "rows.jsonl"
    code, told = called(monkeypatch, capsys, "LAST", "--to", "jsonl", "-o", str(target), "--runs-dir", runs)
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert (code, told.out, told.err) == (0, "", f"wrote {target}: {len(rows)} lines\n")
    assert {"run", "system", "question", "scores", "ranked", "usage"} == set(rows[0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["LAST", "--to", "mlflow"], "say where to: --tracking-uri"),
        (["LAST", "--to", "mlflow", "-o", "x.jsonl"], "--output writes a file, and mlflow is a server."),
        (["LAST", "--to", "jsonl", "--tracking-uri", "http://h"], "--tracking-uri is for a server, and jsonl is none."),
        (["LAST", "--with-texts"], "--with-texts is for --to."),
        (["LAST", "--to", "jsonl", "--json"], "--json prints the run. Leave it or --to out."),
        (["--to", "jsonl"], "--to is about one run."),
        (["LAST", "q002", "--to", "jsonl"], "--to is about the whole run."),
        (["LAST", "--to", "wandb"], "unknown tracker 'wandb'."),
    ],
)
def test_what_is_refused(demo_run, words, said, monkeypatch, capsys):
    code, told = called(monkeypatch, capsys, *words, "--runs-dir", str(demo_run.folder / "runs"))
    assert (code, said in told.err) == (2, True), told.err
