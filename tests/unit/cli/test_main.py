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


@pytest.mark.parametrize("command", ["run x", "compare x y", "testset make x", "sweep x y"])
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


def said_by(monkeypatch, capsys, *args):
    monkeypatch.setattr(sys, "argv", ["karat", *args])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code, capsys.readouterr().err


LONG = "n" * 300


@pytest.mark.parametrize(
    "args",
    [
        ("score", "qa.jsonl", "r.jsonl", "-o", f"{LONG}.csv"), ("index", "a.md", "-o", LONG), ("verify", LONG),
        ("run", f"{LONG}.yaml"), ("show", "--runs-dir", LONG), ("show", LONG), ("gate", LONG),
    ],
)  # fmt: skip
def test_a_name_that_the_system_refuses_is_no_bug(monkeypatch, capsys, tmp_path, args):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa.jsonl").write_text('{"id": "q1", "question": "Who?", "gold": ["d1"]}\n')
    (tmp_path / "r.jsonl").write_text('{"id": "q1", "retrieved": ["d1"]}\n')
    (tmp_path / "a.md").write_text("# Hut\n\nThe hut is open.\n")
    code, said = said_by(monkeypatch, capsys, *args)
    assert code == 2
    assert "internal error" not in said
    assert LONG[:200] in said.replace("\n", "")


@pytest.mark.parametrize("command", ["search x y", "search x --questions y --explain z", "verify x"])
def test_a_cut_off_of_twenty_digits_is_bad_usage(monkeypatch, capsys, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    code, said = said_by(monkeypatch, capsys, *command.split(), "-k", "9" * 20)
    assert code == 2
    assert "'-k'" in said


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(), RuntimeError("can't start new thread"), RuntimeError("std::bad_alloc"),
        OSError(12, "Cannot allocate memory"),
    ],
)  # fmt: skip
def test_too_little_memory_is_a_sentence(monkeypatch, capsys, tmp_path, error):
    def refuse(*args, **given):
        raise error

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("karat.experiment.verify.verify", refuse)
    code, said = said_by(monkeypatch, capsys, "verify", "x.csv")
    assert (code, said) == (
        2, "karat: there is not enough memory for this. Free some, raise its limit, or give less at once.\n"
    )  # fmt: skip
