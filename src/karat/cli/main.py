"""The command `karat`. A command's module is imported when that command is asked for, so that --help is instant."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from karat.core.errors import KaratError, UsageError, did_you_mean

ABOUT = "Find out how good your retrieval-augmented generation is, and trust the answer."

GROUPS = {
    "start": {
        "demo": "Compare 12 systems on a handbook that comes with karat, and write a report.",
        "init": "Look at documents and questions, and write a karat.yaml to compare systems.",
        "run": "Compare systems on your documents, or as karat.yaml says, and write a report.",
        "show": "List runs; show one run, or one question of it; write its report to a file.",
        "view": "Look at runs in the browser: filter questions, compare, watch a running run.",
        "convert": "Convert a test set or results to another format, and say what is lost.",
    },
    "retrieve": {
        "index": "Read documents, cut them into chunks and build search engines over them.",
        "search": "Search an index or a store of another tool: one query, or a whole test set.",
        "sweep": "Score every combination of fusion, alpha, depth and cut-off, and choose one.",
    },
    "measure": {
        "score": "Score results against a test set.",
        "measures": "List every measure with its range, direction, stage and use, or explain one.",
        "judge": "Judge the answers of a run by a language model, without answering again.",
        "judge calibrate": "Compare judges with human labels and each other, and correct their means.",
    },
    "decide": {
        "compare": "Compare systems question by question; power of a test set; factors of a grid.",
        "gate": "Check a run against rules and a baseline: pass or fail, for CI.",
        "verify": "Recompute a table of scores from its rows, or look for impossible values in it.",
    },
    "test sets": {
        "testset make": "Make a test set from the documents of an index: questions, answers and gold.",
        "testset check": "Find faults of a test set: gold that cannot be found, bad questions, gaps.",
        "testset review": "Write the questions to a file to keep, edit or drop each, and apply the verdicts.",
        "testset freeze": "Give a test set a version, so that any later change to it is noticed.",
    },
}
"""What each command does, as its own help begins."""
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

REMOVED = {
    "audit": "karat testset check TESTSET INDEX does it.",
    "baseline": "karat gate RUN --save NAME does it.",
    "benchmark": "karat run DOCS does it.",
    "calibrate": "karat judge calibrate RUN LABELS does it.",
    "check": "karat testset check TESTSET INDEX does it.",
    "explain": "karat show RUN QUESTION does it; without a run, karat search INDEX --questions TESTSET --explain ID.",
    "factors": "karat compare --factors GRID --score COLUMN --factor COLUMN does it.",
    "freeze": "karat testset freeze TESTSET --version NAME does it.",
    "generate": "karat testset make INDEX -o FILE does it.",
    "list": "karat show does it.",
    "power": "karat compare --power TESTSET [RUN] does it.",
    "report": "karat show RUN -o FILE does it.",
    "review": "karat testset review TESTSET does it.",
    "schema": "karat init --schema does it.",
    "serve-model": "start llama.cpp's llama-server or Ollama, and give its address as --base-url.",
}
"""What to write instead of a command that earlier versions had."""

HELP = (["-h"], ["--help"])
INTERRUPTED = 130
WIDTH = 100
COLLECTED_AFTER = 50_000  # new objects; Python looks for garbage after every 700, all the while modules are imported
RESUMED = ("run", "demo", "testset make")
_NO_MEMORY = ("can't start new thread", "bad_alloc", "cannot allocate memory", "out of memory")


def load(name: str) -> Any:
    """A command with its options, by its words."""
    import typer

    from karat.cli._help import GroupedCommand

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}
    command = import_module(f"karat.cli.{name.replace(' ', '_')}").command
    app.command(name, cls=GroupedCommand, context_settings=settings)(command)
    return typer.main.get_command(app)


def overview(first: str = "") -> str:
    """What `karat --help` prints, every line whole: without typer, which takes longer to load than all the rest.

    `first` is the first word of the commands to list, all without it.
    """
    margin = max(map(len, COMMANDS)) + 4
    lines = [f"Usage: karat {first or 'COMMAND '}...", "", ABOUT]
    for group, commands in GROUPS.items():
        listed = {name: summary for name, summary in commands.items() if name.startswith(first)}
        lines += ["", f"{group}:"] if listed else []
        for name, summary in listed.items():
            line = f"  {name}".ljust(margin)
            for word in summary.split():
                if len(line) + len(word) > WIDTH:
                    lines.append(line.rstrip())
                    line = " " * margin
                line += f"{word} "
            lines.append(line.rstrip())
    return "\n".join([*lines, "", "karat COMMAND --help lists the options of a command; karat --version the version."])


def _called(words: Sequence[str]) -> str:
    """The command that the first words name; nothing where an overview was asked for and printed."""
    first, second = [*words, "", ""][:2]
    if f"{first} {second}" in COMMANDS:
        return f"{first} {second}"
    if first in COMMANDS:
        return first
    if first == "--version":
        from importlib.metadata import version

        print(f"karat {version('karat')}")
    elif [first] in HELP:
        print(overview())
    elif any(name.startswith(f"{first} ") for name in COMMANDS) and (not second or [second] in HELP):
        print(overview(f"{first} "))
    elif first in REMOVED:
        raise UsageError(f"karat {first} was removed: {REMOVED[first]}")
    else:
        named = " ".join(words[:2]) if any(name.startswith(f"{first} ") for name in COMMANDS) else first
        raise UsageError(f"there is no command {named!r}.{did_you_mean(named, COMMANDS)} `karat --help` lists them.")
    return ""


def main() -> None:
    """Run a command; a user's mistake is one sentence and an exit code, never a traceback."""
    gc.set_threshold(COLLECTED_AFTER)
    debug = "--debug" in sys.argv
    words, name = sys.argv[1:], ""
    try:
        if not words:
            print(overview())
            sys.exit(UsageError.exit_code)
        name = _called(words)
        if name:
            load(name)(words[len(name.split()) :], prog_name=f"karat {name}")
    except KaratError as error:
        if debug:
            raise
        _say(f"karat: {error}")
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != INTERRUPTED:  # typer makes an exit code of Ctrl-C
            raise
        resumes = name in RESUMED and "--fresh" not in words
        _say("karat: interrupted." + " The same command goes on from there." * resumes)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if debug:
            raise
        if refused := _refused(error):
            _say(f"karat: {refused}")
            sys.exit(KaratError.exit_code)
        _say(
            f"karat: internal error, which is a bug: {type(error).__name__}: {error}\n"
            "Please report it with the output of the same command and --debug."
        )
        sys.exit(1)


def _refused(error: BaseException | None) -> str | None:
    """What the machine would not give, in a sentence; None for what is a bug of karat's."""
    import errno

    while error is not None:
        message = " ".join(str(error).split())
        if (
            isinstance(error, MemoryError)
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or any(sign in message.lower() for sign in _NO_MEMORY)
        ):
            return "there is not enough memory for this. Free some, raise its limit, or give less at once."
        if isinstance(error, OSError) and error.errno is not None:
            file = f"{error.filename!s:.200}: " if error.filename else ""
            remedy = "Give a shorter name" if error.errno == errno.ENAMETOOLONG else "Fix that, or name another place"
            return f"{file}the system says {error.strerror!r}. {remedy}."
        error = error.__cause__ or error.__context__
    return None


def _say(text: str) -> None:
    """One message on standard error, without control characters from a hostile input."""
    clean = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    print(
        clean.encode(sys.stderr.encoding or "utf-8", "replace").decode(sys.stderr.encoding or "utf-8"), file=sys.stderr
    )
