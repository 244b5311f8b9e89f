"""Pages: what the server shows, each a document that can be read without script; scripts begin with its data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from karat.core.text.wellformed import well_formed
from karat.core.text.words import plural
from karat.core.types import NO_VALUE
from karat.experiment.progress_file import RunProgress
from karat.experiment.store import DAMAGED, RUNNING, RunFolder
from karat.report.document import Block, Cell, Column, Document, Heading, Link, Notice, Table, Text, Value, text_columns
from karat.report.labels import LABELS
from karat.report.render.html.served import PageHead, render_page
from karat.web.facts import facts_of, has_index, trends
from karat.web.filters import Filters
from karat.web.replies import NotYetError
from karat.web.rows import PAGE, QuestionTable

if TYPE_CHECKING:
    from karat.report.lookups import StudyView
    from karat.web.runs import OpenedStudy, View

MOST_RUNS = 200
_DAMAGED = "Its manifest is damaged. Put it back from a copy, or run again with --fresh."
_QUESTION = re.compile(r"#q(\d+)")
_LABEL = {words.title: label for label, words in LABELS.items()}


def of_run(id_: str, page: str = "", **query: Any) -> str:
    """The address of a page of a run."""
    asked = urlencode([(name, well_formed(value)) for name, value in query.items() if value is not None])
    return f"/run/{quote(id_, safe='')}{f'/{page}' if page else ''}{f'?{asked}' if asked else ''}"


def menu_of(run: RunFolder) -> list[tuple[str, str]]:
    """Where to go from a page of a run."""
    menu = [("Runs", "/"), ("Run", of_run(run.id)), ("Questions", of_run(run.id, "questions"))]
    menu += [("Tune", of_run(run.id, "tune"))] if has_index(run) else []
    return [*menu, ("Labels", of_run(run.id, "labels"))]


def head_of(run: RunFolder, page: str, here: str, **more: Any) -> PageHead:
    """The head of a page of a run."""
    return PageHead(page=page, run=run.id, menu=menu_of(run), here=here, **more)


def message(title: str, *texts: str, page: str = "message", run: str = "", again: int | None = None) -> str:
    """A page that says something, or that something comes."""
    head = PageHead(page=page, run=run, menu=[("Runs", "/")], again=again, tools=False)
    return render_page(Document(title, [Text(text) for text in texts if text]), head=head)


def runs_page(view: View, text: str = "") -> str:
    """Every run, the latest first, and how the main measure went over time."""
    every = [view.about(run) for run in view.runs()]
    note = _left_out_words(view.left_out)
    words = text.lower().split()
    listed = [one for one in every if all(word in _searched(one) for word in words)][::-1]
    earlier = _earlier(every)
    columns = [Column("run"), Column("state", pick=True), Column("started"), Column("systems", "count")]
    columns += [
        Column("questions", "count"),
        Column("best"),
        Column("main measure", pick=True),
        Column("mean", "value"),
    ]
    columns += [Column("USD", "amount", hint="what its answers cost, where it is known"), Column("compare")]
    rows = [_run_row(one, earlier) for one in listed[:MOST_RUNS]]
    blocks: list[Block] = [Heading(plural(len(listed), "run"), anchor="runs")]
    if note:
        blocks.append(Notice(note))
    if not every:
        blocks.append(Text(f"There are no runs in {view.runs_dir}. Make one with `karat run` or `karat demo`."))
    elif not listed:
        blocks.append(Text(f"No run holds {text!r:.80}."))
    elif len(listed) > MOST_RUNS:
        blocks.append(Text(f"The latest {MOST_RUNS} of {len(listed):,} runs; search finds the others."))
    blocks.append(Table("Runs", columns, rows))
    over_time = trends(every)
    for trend in over_time:
        points: list[list[Cell]] = [
            [Link(one["name"], of_run(one["id"])), one["started"], Value(one["mean"], one["low"], one["high"])]
            for one in trend["runs"]
        ]
        caption = f"{trend['main']} over time, test set {trend['testset'][:12]}"
        blocks.append(Table(caption, [Column("run"), Column("started"), Column("mean", "value")], points))
    runs = {"runs": every[::-1][:MOST_RUNS], "total": len(every), "most": MOST_RUNS}
    data = {**runs, "text": text, "trends": over_time, "note": note}
    return render_page(
        Document("Runs", blocks), head=PageHead(page="runs", menu=[("Runs", "/")], here="Runs", data=data)
    )


def _left_out_words(names: Sequence[str]) -> str:
    """Which folders are not among the runs, and why; nothing where there is none."""
    if not names:
        return ""
    some = ", ".join(f"{name!a:.60}" for name in names[:3]) + (" ..." if len(names) > 3 else "")
    return (
        f"{plural(len(names), 'folder')} of runs not shown: {some}. Links to elsewhere are not followed (name their "
        "targets: `karat view PATH`), and no address can hold names with backslashes or bytes that are no text "
        "(rename them)."
    )


def _searched(one: Mapping[str, Any]) -> str:
    return " ".join(str(one[name] or "") for name in ("id", "name", "best", "main", "state", "started")).lower()


def _earlier(every: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The run before each on the same test set."""
    last: dict[str, str] = {}
    before: dict[str, str] = {}
    for one in every:
        if one["testset"] is not None and one["best"] is not None:
            if one["testset"] in last:
                before[one["id"]] = last[one["testset"]]
            last[one["testset"]] = one["id"]
    return before


def _run_row(one: Mapping[str, Any], earlier: Mapping[str, str]) -> list[Cell]:
    name = f"{one['name']} ({one['id']})" if one["name"] != one["id"] else one["id"]
    mean: Cell = Value(one["mean"], one["low"], one["high"]) if one["mean"] is not None else None
    state = one["state"]
    if one["progress"] is not None:
        state = f"{state}: {one['progress']['what']} {one['progress']['done']:,} of {one['progress']['total']:,}"
    before = earlier.get(one["id"])
    beside: Cell = Link("with the run before", compared([before, one["id"]])) if before is not None else ""
    started = (one["started"] or "").replace("T", " ")[:16]
    link: Cell = name if one["state"] == DAMAGED else Link(name, of_run(one["id"]))
    return [
        link,
        state,
        started,
        one["systems"],
        one["questions"],
        one["best"],
        one["main"],
        mean,
        one["cost_usd"],
        beside,
    ]


def compared(ids: Sequence[str]) -> str:
    """The address at which runs are compared."""
    return f"/compare?{urlencode([('run', id_) for id_ in ids])}"


def opened_study(view: View, run: RunFolder) -> OpenedStudy:
    """The study of a run, waited for."""
    opened = view.study(run)
    if opened is None:
        raise NotYetError(f"the study of {run.id} is not there, or too large to open here.")
    return opened


def run_page(view: View, run: RunFolder) -> str:
    """One run: all that its report says, with links to its questions."""
    from karat.report.build.study import document
    from karat.report.charts import draw

    opened = opened_study(view, run)
    looked_up = opened.view
    whole = document(opened.study, str(run.path), draw(opened.study).specs, view=looked_up, explorer=False)
    blocks = [_linked(block, run.id, looked_up) for block in whole.blocks]
    if labels := view.labelled(run):
        blocks.insert(0, Text(f"People made {labels}: see Labels."))
    after = [("All questions", of_run(run.id, "questions"))]
    head = head_of(run, "run", "Run", data={"run": view.about(run)}, after=after)
    return render_page(Document(whole.title, blocks), head=head)


def _linked(block: Block, run: str, view: StudyView) -> Block:
    """A table with links to the questions that it counts or names."""
    if not isinstance(block, Table):
        return block
    titles = [column.title for column in block.columns]
    first, ids = titles[0] if titles else "", list(view.on_page)
    values: set[str] = set()
    if first == "kind" or first in view.slices:
        values = {(q.kind if first == "kind" else q.tags.get(first)) or NO_VALUE for q in view.evaluation.testset}

    def cell(row: Sequence[Cell], place: int) -> Cell:
        value = row[place]
        if isinstance(value, Link):
            number = _QUESTION.fullmatch(value.target)
            known = number is not None and int(number[1]) < len(ids)
            return replace(value, target=of_run(run, "question", id=ids[int(number[1])])) if number and known else value
        if isinstance(value, str) and titles[place] == "failure" and value in _LABEL:
            system = row[titles.index("system")] if "system" in titles else view.best
            return Link(value, of_run(run, "questions", system=system, failure=_LABEL[value]))
        if isinstance(value, str) and place == 0 and value in values:
            return Link(value, of_run(run, "questions", **{"kind" if first == "kind" else f"tag.{first}": value}))
        return value

    return replace(block, rows=[[cell(row, place) for place in range(len(row))] for row in block.rows])


def unfinished_page(view: View, run: RunFolder) -> str:
    """A run that is not done: how far it is, and the rows that its journal holds."""
    about = view.about(run)
    progress = about["progress"]
    blocks: list[Block] = [Heading(f"This run is {run.state}", anchor="state")]
    if run.state == RUNNING:
        step = "It says nothing of how far it is yet."
        if progress is not None:
            step = RunProgress(**progress).sentence
        blocks.append(Text(step, "headline"))
    elif run.state == DAMAGED:
        blocks.append(Text(_DAMAGED))
    else:
        blocks.append(Text("It was stopped before it was done. The same command goes on from there: `karat run`."))
    tail = view.tail(run)
    if tail.rows:
        page = tail.page(0, PAGE)
        rows: list[list[Cell]] = [
            [row["id"][:200], *(row["status"].get(system, "") for system in page["systems"])] for row in page["rows"]
        ]
        caption = f"{plural(page['total'], 'question')} so far"
        blocks.append(Table(caption, text_columns("question", *page["systems"]), rows))
    again = 2 if run.state == RUNNING else None
    head = head_of(run, "run", "Run", data={"run": about}, again=again)
    return render_page(Document(about["name"], blocks), head=head)


def large_page(view: View, run: RunFolder, table: QuestionTable) -> str:
    """A run whose study is not there or too large to open: the means of its rows."""
    about = view.about(run)
    means = {m: table.facets(Filters(systems=table.systems, measures=(m,)))["means"] for m in table.measures[:6]}
    rows: list[list[Cell]] = [
        [system, *(cell for own in means.values() for cell in (own[system]["mean"], own[system]["n"]))]
        for system in table.systems
    ]
    note = (
        "Its study is not there or too large to open here: these are the means of its rows, without intervals. "
        "`karat show` has all."
    )
    if run.state == DAMAGED:
        note = f"{_DAMAGED} These are the means of its rows, without intervals."
    columns = [Column("system")]
    for name in means:
        columns += [Column(name, "score"), Column("n", "count", hint=f"questions with a value of {name}")]
    blocks = [
        Notice(note, "warning" if run.state == DAMAGED else "info"),
        Heading("Means", anchor="scores"),
        Table("Systems by measure", columns, rows),
    ]
    after = [("All questions", of_run(run.id, "questions"))]
    return render_page(
        Document(about["name"], blocks), head=head_of(run, "run", "Run", data={"run": about}, after=after)
    )


def questions_page(
    view: View, run: RunFolder, table: QuestionTable, filters: Filters, offset: int, notes: Sequence[str],
    pairs: Sequence[tuple[str, str]],
) -> str:  # fmt: skip
    """The questions that filters let through, a hundred at a time; scripts take over from there."""
    page = table.page(filters, offset)
    systems, measures = page["systems"], page["measures"]
    columns = [Column("question"), Column("kind")]
    columns += [Column(f"{system} {measure}", "score") for system in systems for measure in measures]
    columns += [Column(f"{systems[0]} fails by")] if systems else []
    rows = [_question_row(row, run.id, systems) for row in page["rows"]]
    first, last = offset + 1 if rows else 0, offset + len(rows)
    blocks: list[Block] = [Notice(note) for note in notes]
    blocks.append(Heading(f"{plural(page['total'], 'question')} of {page['of']:,}", anchor="questions"))
    blocks.append(Table(f"Questions {first:,} to {last:,}", columns, rows))
    if not rows:
        blocks.append(Text("No question passes these filters. Leave one out."))
    query = [(name, value) for name, value in pairs if name != "offset"]
    after = []
    for words, start in (("The hundred before", offset - PAGE), ("The next hundred", offset + PAGE)):
        if -PAGE < start < page["total"] and (start < offset or page["rows"]):
            after.append((words, f"{of_run(run.id, 'questions')}?{urlencode([*query, ('offset', max(0, start))])}"))
    head = head_of(run, "questions", "Questions", data={"run": facts_of(view, run, table), "page": page}, after=after)
    return render_page(Document(f"Questions of {view.about(run)['name']}", blocks), head=head)


def _question_row(row: Mapping[str, Any], run: str, systems: Sequence[str]) -> list[Cell]:
    link = Link(f"{row['id']}: {row['text']}"[:300], of_run(run, "question", id=row["id"]))
    label = row["failure"].get(systems[0]) if systems else None
    scores = [value for system in systems for value in row["scores"][system]]
    title = next((words.title for name, words in LABELS.items() if name == label), label)
    return [link, row["kind"] or NO_VALUE, *scores, title or ""]


def question_page(run: RunFolder, detail: Mapping[str, Any], document: Document | None) -> str:
    """One question: what was asked and expected, and what each system found."""
    whole = document or Document(f"Question {detail['id']}", list(_thin(detail)))
    after = [("All questions", of_run(run.id, "questions"))]
    data = {"id": detail["id"], "detail": detail, "run": {"id": run.id}}
    return render_page(whole, head=head_of(run, "question", "Questions", data=data, after=after))


def _thin(detail: Mapping[str, Any]) -> Iterator[Block]:
    """A question of which the rows alone are at hand."""
    yield Text(detail["text"], "headline")
    if detail.get("note"):
        yield Notice(detail["note"])
    measures = detail["measures"][:3]
    columns = [Column("system"), *(Column(name, "score") for name in measures), *text_columns("fails by", "first hits")]
    yield Table(
        "Systems",
        columns,
        [
            [one["system"], *(one["scores"][name]["value"] for name in measures),
             one["failure"]["title"] if one["failure"] is not None else "",
             ", ".join(hit["id"] for hit in (one["hits"] or ())[:5])]
            for one in detail["systems"]
        ],
    )  # fmt: skip


def compare_page(view: View, runs: Sequence[RunFolder], systems: Sequence[str]) -> str:
    """Runs against each other: the best system of each, or those named, paired by question."""
    from karat.experiment.compare import compare
    from karat.report.build.comparison import document

    studies = []
    opened = [opened_study(view, run) for run in runs]
    for run, one in zip(runs, opened, strict=True):
        evaluation = one.study.evaluation
        own = [s for s, name in enumerate(evaluation.scores.systems) if name in systems]
        best = one.view.best
        own = own or [s for s, name in enumerate(evaluation.scores.systems) if name == best]
        chosen = replace(evaluation, scores=evaluation.scores.select(systems=own))
        label = one.study.name if len({each.study.name for each in opened}) == len(opened) else run.id
        studies.append(replace(one.study, name=label, evaluation=chosen))
    whole = document(compare(*studies, common=True, progress=lambda step: None), charts=True)
    links: list[Block] = [
        Table("Runs", [Column("run"), Column("questions")], [
            [Link(run.id, of_run(run.id)), Link("all its questions", of_run(run.id, "questions"))] for run in runs
        ])
    ]  # fmt: skip
    data = {
        "runs": [view.about(run) for run in runs],
        "systems": {run.id: list(one.view.ranking) for run, one in zip(runs, opened, strict=True)},
    }
    head = PageHead(page="compare", menu=[("Runs", "/")], data=data)
    return render_page(Document(whole.title, [*whole.blocks, Heading("Runs", anchor="runs"), *links]), head=head)
