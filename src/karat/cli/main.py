"""The command `karat`. A command's module is imported when that command is asked for, so that --help is instant."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING

from karat.core.errors import KaratError, UsageError

if TYPE_CHECKING:
    import typer

ABOUT = "Find out how good your retrieval-augmented generation is, and trust the answer."

COMMANDS = {
    "demo": "Index a small handbook, search it in 12 ways, compare these and write a report, with no files of yours.",
    "init": "Look at documents and questions, and write a commented karat.yaml that compares six systems on them.",
    "run": "Index, search, answer, score, compare and report as karat.yaml says; a run that was stopped goes on.",
    "benchmark": (
        "Make a test set from documents, or take the one that stands; retrieve, answer, report: in one command."
    ),
    "judge": "Judge the answers of a run by a language model, without retrieving or answering anything again.",
    "sweep": "Score every combination of alpha, fusion, normalisation, depth and cut-off, and choose with care.",
    "list": "List runs, the latest last: what each compared, its best system, and whether it was finished.",
    "show": "Show what a run found: the choice, what does not differ from it, failures, and what to do next.",
    "gate": "Hold a run to rules, and against a baseline: may this change ship.",
    "baseline": (
        "Name a run as the baseline that `karat gate` holds later runs against; list, show or remove such names."
    ),
    "report": "Write a run's report from what is stored, without searching or scoring anything again.",
    "index": "Read documents, cut them into chunks and build engines over them.",
    "search": "Search an index, or a FAISS or Chroma store, with one query or with all questions of a test set.",
    "generate": "Make a test set from the documents of an index: questions, answers and gold, by a model or without.",
    "review": "Write the questions of a test set to a file, to keep, edit or drop each, and apply the verdicts.",
    "freeze": "Give a test set a version: its digest is kept beside it, and a change is noticed wherever it is read.",
    "check": (
        "Find the faults of a test set: gold that an index does not hold, faulty questions, gaps; and what it can show."
    ),
    "audit": (
        "Find the faults of a test set: gold that an index does not hold, faulty questions, gaps; and what it can show."
    ),
    "explain": "Show one question step by step: what engines found, how it was fused, what is gold, how it is scored.",
    "calibrate": "Find out how far a judge, or any measure, agrees with people, and correct its means by their labels.",
    "compare": "Compare systems on the same questions: differences, intervals, tests, and the questions that flipped.",
    "power": "Find out how small a difference a test set can tell, and how many questions a given one takes.",
    "score": "Score results against a test set.",
    "verify": "Recompute a table from its rows, or check it alone for the impossible, and say what went wrong.",
    "factors": "Find out which factor of a grid matters, which depend on each other, and which cells equal the best.",
    "measures": "List every measure with its range, direction, stage and use, or explain one.",
    "convert": "Convert a test set or results to another format, and say what the target cannot hold.",
    "schema": "Print the JSON Schema of karat.yaml, for editors that complete and check as you type.",
}
"""What each command does, as its own help begins."""

REMOVED = {"serve-model": "start llama.cpp's llama-server or Ollama, and give its address as --base-url."}
"""What to do instead of a command that earlier versions had."""

INTERRUPTED = 130
_NO_MEMORY = ("can't start new thread", "bad_alloc", "cannot allocate memory", "out of memory")


def app(wanted: Collection[str] | None = None) -> typer.Typer:
    """The command line. Only the commands that are `wanted` have their options; of the others the help knows a line."""
    import typer

    made = typer.Typer(
        name="karat",
        help=ABOUT,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def with_version(
        version: bool = typer.Option(  # how typer declares an option
            False, "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ) -> None:
        """Stands for the program itself."""

    made.callback(help=ABOUT)(with_version)
    for name, summary in COMMANDS.items():
        if wanted is None or name in wanted:
            made.command(name)(import_module(f"karat.cli.{name.replace('-', '_')}").command)
        else:
            made.command(name, help=summary)(_named)
    return made


def _named() -> None:
    """Stands for a command that was not asked for."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        import typer

        typer.echo(f"karat {version('karat')}")
        raise typer.Exit


def overview(width: int = 100) -> str:
    """What `karat --help` prints, every line whole: without typer, which takes longer to load than all the rest."""
    margin = max(map(len, COMMANDS)) + 4
    lines = ["Usage: karat [OPTIONS] COMMAND [ARGS]...", "", f"  {ABOUT}", "", "Options:"]
    lines += ["  --version   Print the version.", "  -h, --help  Show this message and exit.", "", "Commands:"]
    for name, summary in COMMANDS.items():
        line = f"  {name}".ljust(margin)
        for word in summary.split():
            if len(line) + len(word) > width:
                lines.append(line.rstrip())
                line = " " * margin
            line += f"{word} "
        lines.append(line.rstrip())
    return "\n".join([*lines, "", "karat COMMAND --help tells the options of a command."])


def main() -> None:
    """Run a command; a user's mistake is one sentence and an exit code, never a traceback."""
    debug = "--debug" in sys.argv
    try:
        if instead := REMOVED.get(sys.argv[1] if len(sys.argv) > 1 else ""):
            raise UsageError(f"karat {sys.argv[1]} was removed: {instead}")
        if sys.argv[1:] in (["-h"], ["--help"]):
            print(overview())
            return
        app(sys.argv[1:])()
    except KaratError as error:
        if debug:
            raise
        _say(f"karat: {error}")
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != INTERRUPTED:  # typer makes an exit code of Ctrl-C
            raise
        resumes = sys.argv[1:2] in (["run"], ["demo"], ["generate"], ["benchmark"]) and "--fresh" not in sys.argv
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
        said = " ".join(str(error).split())
        if (
            isinstance(error, MemoryError)
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or any(sign in said.lower() for sign in _NO_MEMORY)
        ):
            return "there is not enough memory for this. Free some, raise its limit, or give less at once."
        if isinstance(error, OSError) and error.errno is not None:
            file = f"{error.filename!s:.200}: " if error.filename else ""
            remedy = "Give a shorter name" if error.errno == errno.ENAMETOOLONG else "Mend that, or name another place"
            return f"{file}the system says {error.strerror!r}. {remedy}."
        error = error.__cause__ or error.__context__
    return None


def _say(text: str) -> None:
    """One message on standard error, without control characters from a hostile input."""
    clean = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    print(
        clean.encode(sys.stderr.encoding or "utf-8", "replace").decode(sys.stderr.encoding or "utf-8"), file=sys.stderr
    )
