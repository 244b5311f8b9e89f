"""karat show: the runs there are, what one found, one question of it, and its report in a file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, RunsDir, Verbose, refuse, with_hosts
from karat.cli._output import counted_on_terminal, print_json, show, show_document

if TYPE_CHECKING:
    from pathlib import Path

    from karat.experiment.store import RunFolder
    from karat.results.study import Study

OF_A_RUN = "is about one run. Name it: karat show LAST."
STILL_RUNNING = "is about a run that is done, and this one is running. Leave it out to see how far it is."


@with_hosts
def command(
    run: Annotated[
        str | None, typer.Argument(help="LAST, a run's name, or the beginning of its id; all are listed unless given.")
    ] = None,
    question: Annotated[
        str | None, typer.Argument(help="The id of a question: what each system found for it, and why it failed.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output",
            help="Write the run's report: a file (.html .md .tex .csv .json .xlsx .txt .parquet) or a folder for all.",
        ),
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option("--system", help="Of a question: show this system's hits. Repeatable.")
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Show every measure, as `karat score` does.")] = False,
    most: Annotated[
        int | None, typer.Option("-n", min=0, help="How many of the latest runs to list: 20; 0 lists all.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="TRACKER", help="Send the run: mlflow, or jsonl (a line a system and question)."),
    ] = None,
    tracking_uri: Annotated[
        str | None,
        typer.Option(
            "--tracking-uri", metavar="URL", help="Of --to mlflow: the server; MLFLOW_TRACKING_URI unless given."
        ),
    ] = None,
    with_texts: Annotated[
        bool, typer.Option("--with-texts", help="Of --to: send the texts of questions and answers too.")
    ] = False,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """List runs; show one run, or one question of it; write its report to a file.

    The list gives the best system of each run, and the change of its mean against the run before on the same test set.
    A report is made from what is stored, and so is what --to sends to a tracker: nothing is searched or scored again.
    Exit codes: 0 done, 2 bad input.
    """
    from karat.experiment.store import RUNNING, find_run
    from karat.report import objects
    from karat.report.build import evaluation
    from karat.report.build import study as studied
    from karat.results.serial import load_study

    sending: dict[str, object] = {"to": to, "tracking_uri": tracking_uri, "with_texts": with_texts}
    if run is None:
        refuse({"output": output, "scores": scores, "system": system or None, **sending}, OF_A_RUN)
        _list(runs_dir, 20 if most is None else most, as_json)
        return
    folder = find_run(runs_dir, run)
    if folder.state == RUNNING:
        refuse({"output": output, "scores": scores, "system": system or None, **sending}, STILL_RUNNING)
        _running(folder, question, as_json)
        return
    study, place = load_study(folder.path), str(folder.path)
    refuse({"n": most}, "is about the list of runs: karat show -n 5.")
    if question is not None:
        from karat.report.build.question import question_document

        refuse({"output": output, "scores": scores, **sending}, "is about the whole run. Leave the question out.")
        chosen = partial(question_document, question=question, systems=system or ())
        as_object = partial(objects.question, question=question, systems=system or ())
        show(study, chosen, as_object, as_json=as_json, quiet=quiet, verbose=verbose)
        return
    refuse({"system": system or None}, "is about one question: karat show RUN QUESTION --system NAME.")
    if to is not None:
        refuse({"scores": scores, "json": as_json}, "prints the run. Leave it or --to out.")
        _send(study, folder.id, to, output, tracking_uri, with_texts, quiet)
        return
    refuse({"tracking_uri": tracking_uri, "with_texts": with_texts}, "is for --to.")
    if output is not None:
        from karat.core.text.words import plural
        from karat.experiment.outputs import write_report

        progress = counted_on_terminal(quiet)
        written = write_report(study, output, progress)
        progress("", 0, 0)
        typer.echo(f"wrote {output}" + (f": {plural(len(written), 'file')}" if len(written) > 1 else ""), err=True)
    elif scores and not as_json:
        show_document(evaluation.document(study.evaluation), quiet=quiet, verbose=verbose)
    else:
        document, as_object = partial(studied.document, place=place), partial(objects.study, place=place)
        show(study, document, as_object, as_json=as_json, quiet=quiet, verbose=verbose)
        if not (as_json or quiet):
            _count_labels(folder.path)


def _running(folder: RunFolder, question: str | None, as_json: bool) -> None:
    """Say how far a run is that is running."""
    from dataclasses import asdict

    from karat.core.errors import UsageError
    from karat.experiment.progress_file import RunProgress

    if question is not None:
        raise UsageError(f"{folder.id} is running: its questions are shown when it is done.")
    progress = RunProgress.of(folder.path)
    if as_json:
        state = None if progress is None else asdict(progress)
        print_json({"run": folder.id, "status": folder.state, "progress": state})
    else:
        far = "It says nothing of how far it is yet." if progress is None else progress.sentence
        typer.echo(f"{folder.id} is running. {far}")


def _count_labels(folder: Path) -> None:
    """Say how many labels people made of a run."""
    from karat.files import read_marks
    from karat.results.marks import LABELS_FILE

    path = folder / LABELS_FILE
    if path.is_file() and (marks := read_marks(path)).standing:
        typer.echo(f"\n{marks.counted} in {path}. Score with them: karat score TESTSET RESULTS --labels {path}")


def _send(
    study: Study, run: str, to: str, output: str | None, tracking_uri: str | None, with_texts: bool, quiet: bool
) -> None:
    from karat.experiment.tracked import send
    from karat.report import TRACKERS

    if TRACKERS.get(to).is_server:
        refuse({"output": output}, f"writes a file, and {to} is a server. Leave it or --to out.")
    else:
        refuse({"tracking_uri": tracking_uri}, f"is for a server, and {to} is none. Leave it out.")
    done = send(study, to, run=run, place=tracking_uri or output, with_texts=with_texts)
    if done and not quiet:
        typer.echo(done, err=True)


def _list(runs_dir: str, most: int, as_json: bool) -> None:
    from karat.experiment.store import runs_in
    from karat.report.build.runs import runs_document

    runs = [{"run": run.id, **run.manifest, "status": run.state} for run in runs_in(runs_dir)]
    if as_json:
        print_json(runs[-most:] if most else runs)
    else:
        show_document(runs_document(runs, str(runs_dir), most=most))
