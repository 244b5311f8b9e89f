"""Labels: what people mark in the browser, stored before it is acknowledged, and what is worth marking first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, Response

from karat.core.errors import InputError, UsageError
from karat.core.text.words import clean
from karat.files import append_mark, mark_of
from karat.report.document import Block, Cell, Document, Heading, Link, Notice, Table, Text, text_columns
from karat.report.render.html.served import render_page
from karat.results.marks import LABELS_FILE, Mark, MarkedHit, Marks
from karat.web.details import detail_of, id_in_study
from karat.web.filters import refuse_unknown
from karat.web.pages import head_of, of_run
from karat.web.replies import NotHereError, json_reply
from karat.web.requests import get_route, post_route, run_of, view_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from karat.experiment.store import RunFolder
    from karat.web.runs import View

MOST_LISTED, MOST_QUEUED = 500, 50
MOST_NAME, MOST_QUOTE = 80, 2_000  # characters
WAIT = 3.0  # seconds for a queue, before the page asks again
_GIVEN = ("kind", "question", "system", "hit", "claim", "grade", "value", "reasons", "note", "by")


def labels_page(request: Request) -> Response:
    """The labels of a run; scripts add the queue."""
    view, run = view_of(request), run_of(request)
    blocks: list[Block] = []
    try:
        marks = view.marks(run)
    except InputError as problem:
        marks = Marks(place="")
        blocks.append(Notice(str(problem), "warning"))
    blocks.append(Heading(marks.counted if marks.standing else "No labels yet", anchor="labels"))
    blocks += [Text(sentence) for sentence in sentences(marks)]
    rows: list[list[Cell]] = [
        [Link(mark.question[:200], of_run(run.id, "question", id=mark.question)), about(mark), mark.verdict, mark.by,
         mark.at.replace("T", " ")[:16], mark.note]
        for mark in marks.standing[::-1][:MOST_LISTED]
    ]  # fmt: skip
    if rows:
        blocks.append(Table("Labels", text_columns("question", "of", "label", "by", "at (UTC)", "note"), rows))
    head = head_of(run, "labels", "Labels", data={"run": view.about(run)})
    return HTMLResponse(render_page(Document(f"Labels of {view.about(run)['name']}", blocks), head=head))


def about(mark: Mark) -> str:
    """What a mark is about, besides its question."""
    parts = {"hit": mark.hit.id if mark.hit else "", "answer": mark.system, "claim": mark.claim, "question": ""}
    return f"{mark.kind} {parts[mark.kind] or ''}".strip()[:200]


def sentences(marks: Marks) -> list[str]:
    """What should be known of the labels of a run."""
    texts = [
        f"{one.kind.capitalize()}s: {one.n:,} labelled by two people or more, {one.same:,} of them alike."
        for one in marks.agreement
    ]
    return texts + (["The last line of the file is not whole and is left out."] if marks.torn else [])


def plain_mark(mark: Mark) -> dict[str, Any]:
    """A mark as scripts take it."""
    hit = mark.hit and {"id": mark.hit.id, "doc": mark.hit.doc, "page": mark.hit.page}
    return {
        "id": mark.id, "kind": mark.kind, "question": mark.question, "system": mark.system, "hit": hit,
        "claim": mark.claim, "grade": mark.grade, "value": mark.value, "reasons": list(mark.reasons),
        "note": mark.note, "by": mark.by, "at": mark.at, "says": mark.verdict,
    }  # fmt: skip


def _reply(marks: Marks, question: str | None, **more: Any) -> Response:
    chosen = marks.standing if question is None else marks.by_question.get(question, ())
    return json_reply(
        {
            "labels": [plain_mark(mark) for mark in chosen[::-1][:MOST_LISTED]], "total": len(chosen),
            "people": list(marks.people), "sentences": sentences(marks), "counted": marks.counted, **more,
        }
    )  # fmt: skip


def api_labels(request: Request) -> Response:
    """The labels that stand, the latest first; of one question where it is named."""
    from karat.testset.check import FILTERS

    refuse_unknown(request.query_params, ("question",))
    question = request.query_params.get("question")
    reasons = [{"name": name, "title": FILTERS.get(name).summary} for name in sorted(FILTERS.names())]
    return _reply(view_of(request).marks(run_of(request)), question, reasons=reasons)


def api_label(request: Request, given: Mapping[str, Any]) -> Response:
    """Store a label; the reply comes when it is on the disk."""
    view, run = view_of(request), run_of(request)
    refuse_unknown(given, _GIVEN)
    try:
        mark = mark_of({**given, "by": name_of(given.get("by"))})
    except ValueError as problem:
        raise UsageError(f"{problem}.") from None
    view.marks(run)  # a file that cannot be read is not written to
    stored = append_mark(run.path, _known(view, run, mark))
    return _reply(view.marks(run), stored.question, label=plain_mark(stored))


def api_undo(request: Request, given: Mapping[str, Any]) -> Response:
    """Take a label back that one made oneself; what one said of the thing before stands again."""
    view, run = view_of(request), run_of(request)
    refuse_unknown(given, ("id", "by"))
    by = name_of(given.get("by"))
    mark = next((mark for mark in view.marks(run).standing if mark.id == given.get("id")), None)
    if mark is None:
        raise NotHereError("there is no such label, or it was taken back already.")
    if mark.by != by:
        raise UsageError(f"this label is by {mark.by}, who alone takes it back.")
    undo = Mark(
        id="", kind=mark.kind, question=mark.question, system=mark.system, hit=mark.hit, claim=mark.claim, by=by,
        at="", undoes=mark.id,
    )  # fmt: skip
    append_mark(run.path, undo)
    return _reply(view.marks(run), mark.question)


def name_of(given: object) -> str:
    """The name of who labels."""
    name = " ".join(clean(given).split()) if isinstance(given, str) else ""
    if not 0 < len(name) <= MOST_NAME:
        raise UsageError(f"say who labels: a name of 1 to {MOST_NAME} characters.")
    return name


def _known(view: View, run: RunFolder, mark: Mark) -> Mark:
    """A mark of what this run holds, with all that is known of that; any other is refused."""
    from dataclasses import replace

    from karat.experiment.review import digest_of

    detail = detail_of(view, run, mark.question, [mark.system] if mark.system is not None else ())
    opened, hit = view.study(run), None
    if mark.hit is not None:
        held = [hit for one in detail["systems"] for hit in one["hits"] or () if hit["id"] == mark.hit.id]
        held = [hit for hit in held if mark.hit.doc in (None, hit["doc"])]
        if not held:
            raise NotHereError(f"no system has the hit {mark.hit.id!r:.100} for this question.")
        text = held[0]["text"]
        page, doc = held[0]["page"], held[0]["doc"]
        hit = MarkedHit(id=mark.hit.id, doc=doc, page=page, quote=text[:MOST_QUOTE] if text else None)
    if mark.kind in ("answer", "claim"):
        answers = [one["answer"] for one in detail["systems"] if one["system"] == mark.system]
        if not answers or not answers[0] or not answers[0]["text"]:
            raise NotHereError(f"{mark.system!r:.100} gave no answer to this question.")
        if mark.kind == "claim" and mark.claim not in claims_of(answers[0]):
            raise NotHereError("this is no claim of that answer.")
    testset = _testset(run)
    question, digest = mark.question, None
    if opened is not None:
        question = id_in_study(view, run, opened, mark.question)
        digest = digest_of(opened.study.evaluation.testset[question])
    return replace(mark, hit=hit, testset=testset, digest=digest, undoes=None)


def claims_of(answer: Mapping[str, Any]) -> set[str]:
    """The claims and sentences of an answer as its page shows them."""
    claims = {claim["claim"] for verdict in answer["verdicts"] for claim in verdict["claims"]}
    return claims | {sentence["text"] for sentence in answer["sentences"]}


def _testset(run: RunFolder) -> str | None:
    inputs = run.manifest.get("inputs")
    testset = inputs.get("testset") if isinstance(inputs, Mapping) else None
    digest = testset.get("digest") if isinstance(testset, Mapping) else None
    return digest if isinstance(digest, str) else None


def api_queue(request: Request) -> Response:
    """What is worth labelling first, without what `by` has labelled."""
    from karat.web.queue import queue_of

    view, run = view_of(request), run_of(request)
    refuse_unknown(request.query_params, ("by",))
    by, stamp, opened = request.query_params.get("by", ""), view.study_stamp(run), view.study(run)
    if opened is None:
        note = "What is worth labelling is told from study.json.gz, which is not there or too large to open here."
        return json_reply({"items": [], "total": 0, "note": note, "waiting": False})
    try:
        items = view.queued((run.id, stamp), lambda: queue_of(opened.study)).result(WAIT)
    except TimeoutError:
        return json_reply({"items": [], "total": 0, "note": "", "waiting": True})
    marks = [mark for mark in view.marks(run).standing if mark.by == by]
    done = {_thing(plain_mark(mark)) for mark in marks}
    left = [item for item in items if _thing(item) not in done]
    return json_reply({"items": left[:MOST_QUEUED], "total": len(left), "note": "", "waiting": False})


def _thing(item: Mapping[str, Any]) -> Sequence[Any]:
    """What an item of the queue, or a mark, is about."""
    kind = item["kind"]
    return (
        kind,
        item["question"],
        item["hit"]["id"] if item["hit"] else None,
        item["system"] if kind == "answer" else "",
    )


def export(request: Request) -> Response:
    """The file as it stands, for `karat score --labels`."""
    view, run = view_of(request), run_of(request)
    path = view.file(run, LABELS_FILE)
    if path is None:
        raise NotHereError("nothing is labelled in this run yet.")
    headers = {"content-disposition": f'attachment; filename="{LABELS_FILE}"'}
    return Response(path.read_bytes(), media_type="application/x-ndjson", headers=headers)


ROUTES = [
    get_route("/run/{id}/labels", labels_page),
    get_route("/api/run/{id}/labels", api_labels),
    post_route("/api/run/{id}/labels", api_label),
    post_route("/api/run/{id}/labels/undo", api_undo),
    get_route("/api/run/{id}/labels/export", export),
    get_route("/api/run/{id}/queue", api_queue),
]
