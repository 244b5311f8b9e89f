"""What the command says when it is interrupted, or given what cannot be."""

import sys

import pytest

from karat.cli.main import main


def interrupt(*args, **given):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["run"], "karat: interrupted. The same command goes on from there.\n"),
        (["run", "--fresh"], "karat: interrupted.\n"),
    ],
)
def test_an_interrupted_run_says_whether_it_goes_on(monkeypatch, capsys, tmp_path, args, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "karat.yaml").write_text("testset: qa.jsonl\nsystems: [{results: r.jsonl}]\n")
    for name in ("qa.jsonl", "r.jsonl"):
        (tmp_path / name).touch()
    monkeypatch.setattr("karat.experiment.run.run", interrupt)
    monkeypatch.setattr(sys, "argv", ["karat", *args])
    with pytest.raises(SystemExit) as stop:
        main()
    assert (stop.value.code, capsys.readouterr().err) == (130, said)


@pytest.mark.parametrize("command", ["audit x", "benchmark x", "compare x y", "generate x", "sweep x y"])
def test_a_seed_below_0_is_bad_usage_and_no_bug(monkeypatch, capsys, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["karat", *command.split(), "--seed", "-1"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "'--seed'" in capsys.readouterr().err


def test_a_removed_command_says_what_to_use_instead(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["karat", "serve-model", "--port", "0"])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert (stop.value.code, said.count("\n")) == (2, 1)
    assert "karat serve-model was removed: start llama.cpp's llama-server or Ollama" in said
