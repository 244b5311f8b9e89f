"""The overview of commands, two-word commands, and what is said of those that are no more."""

import sys

import pytest

from karat.cli.main import COMMANDS, GROUPS, REMOVED, main
from karat.match import MATCHERS
from karat.measures.dialects import DIALECTS


def called(monkeypatch, capsys, *args):
    monkeypatch.setattr(sys, "argv", ["karat", *args])
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    return code, capsys.readouterr()


def test_the_overview_names_every_command_in_its_group_on_a_line_of_its_own(monkeypatch, capsys):
    code, told = called(monkeypatch, capsys, "--help")
    lines = told.out.splitlines()
    assert code == 0
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for group, commands in GROUPS.items():
        first = lines.index(f"{group}:") + 1
        shown = lines[first : first + len(commands)]
        for line, (name, summary) in zip(shown, commands.items(), strict=True):
            assert (line[: len(name) + 4], line.split("  ")[-1].strip()) == (f"  {name}  ", summary)


@pytest.mark.parametrize(("command", "option"), [("score", "--dialect"), ("score", "--match"), ("sweep", "--dialect")])
def test_an_option_that_takes_a_name_lists_all_names(monkeypatch, capsys, command, option):
    names = list(DIALECTS) if option == "--dialect" else MATCHERS.names()
    _, told = called(monkeypatch, capsys, command, "--help")
    words = told.out.split(f"  {option} ")[1].split("  --")[0].replace(",", " ").replace(".", " ").replace(":", " ")
    assert set(names) <= set(words.split())


def test_the_first_word_of_two_lists_those_it_begins(monkeypatch, capsys):
    code, told = called(monkeypatch, capsys, "testset")
    assert code == 0
    assert [line.split()[:2] for line in told.out.splitlines() if line.startswith("  ")] == [
        ["testset", "make"], ["testset", "check"], ["testset", "review"], ["testset", "freeze"]
    ]  # fmt: skip
    assert told == called(monkeypatch, capsys, "testset", "--help")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shw"], "there is no command 'shw'. Did you mean show?"),
        (["testset", "chek"], "there is no command 'testset chek'. Did you mean testset check?"),
        (["--verbose"], "there is no command '--verbose'."),
        *(([name], f"karat {name} was removed: {instead}") for name, instead in REMOVED.items()),
    ],
)
def test_what_is_no_command_says_what_to_write(monkeypatch, capsys, words, said):
    code, told = called(monkeypatch, capsys, *words, "x", "--option")
    assert (code, told.out) == (2, "")
    assert said in told.err


def test_successors_are_commands():
    for instead in REMOVED.values():
        words = instead.removeprefix("karat ").split()
        assert instead[:5] != "karat" or " ".join(words[:2]) in COMMANDS or words[0] in COMMANDS, instead
