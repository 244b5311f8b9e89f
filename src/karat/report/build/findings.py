"""Findings: what a checkup says of a test set and an index, and an audit of the questions alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from karat.core.text.words import NONE, clean, names, number, plural
from karat.report.document import (
    Block,
    Cell,
    Column,
    Detail,
    Document,
    Heading,
    Listing,
    ListItem,
    Table,
    count_columns,
)
from karat.results.checkup import SEVERITIES

if TYPE_CHECKING:
    from karat.results.audit import Audit, Quartiles
    from karat.results.checkup import Ceiling, Checkup, Finding, Severity, TestSetFindings

_HEADS: dict[Severity, str] = {"broken": "Broken", "warning": "Warnings", "info": "Worth knowing"}
_MARKS: dict[Severity, str] = {"broken": "✗", "warning": "!", "info": "-"}
_FEW = 3  # examples shown in brief; twice as many ids
_ROWS = 8  # documents and topics shown in brief
_LINE = 200

T = TypeVar("T")


def checkup_document(checkup: Checkup) -> Document:
    """How much of the gold can be found, what keeps the rest from it, and how high measures can get."""
    audit = checkup.audit
    blocks: list[Block] = [
        Listing([ListItem(_mark(checkup), checkup_verdict(checkup))], detail=Detail.QUIET),
        Listing([ListItem("", line) for line in _about_checkup(checkup)]),
        *_findings(checkup),
    ]
    if audit is not None:
        more = ListItem("", "all of it: karat audit, with the same test set and index")
        blocks += [Heading("The questions themselves", detail=Detail.QUIET)]
        blocks += [Listing([*_summary(audit), more], detail=Detail.QUIET)]
    return Document(f"{checkup.testset} and its index", [*blocks, *_ceilings(checkup)])


def audit_document(audit: Audit) -> Document:
    """How good a test set is: the verdict, what was found, then tables."""
    return Document(
        f"Audit of {audit.testset}",
        [
            Listing(_summary(audit)[:1], detail=Detail.QUIET),
            Listing([ListItem("", line) for line in _about_audit(audit)]),
            *_findings(audit),
            *_kinds(audit),
            *_attained(audit),
            *_languages(audit),
            *_coverage(audit),
            *_detectable(audit),
        ],
    )


def checkup_verdict(checkup: Checkup) -> str:
    """One sentence: how much of the gold can be found in this index."""
    reach = checkup.reach
    if not reach.units:
        return "the test set has no relevant gold: nothing of retrieval can be scored against it."
    if not checkup.chunks:
        return f"the index is empty: none of the {reach.units:,} gold units can be found."
    missing = reach.units - reach.reached
    if not missing:
        return f"all {reach.units:,} gold units can be found in this index."
    causes = _first_of([finding.title for finding in checkup.of("broken")])
    why = f": {causes}" if causes else ""
    lost = f"; {reach.without:,} of {reach.questions:,} questions have none at all" if reach.without else ""
    found = f"{reach.reached:,} of {reach.units:,} gold units can be found in this index"
    return f"{found}; {missing:,} cannot{why}{lost}."


def audit_verdict(audit: Audit) -> str:
    """One sentence: whether the test set can be trusted, and what it can tell."""
    broken, warnings = audit.of("broken"), audit.of("warning")
    if broken:
        outcome = f"broken: {_first_of([finding.title for finding in broken])}"
    elif warnings:
        named = f"{audit.faulty:,} of {audit.questions:,} questions want a look" if audit.faulty else "usable"
        outcome = f"{named}; {plural(len(warnings), 'warning')}"
    else:
        outcome = "nothing wrong was found"
    size = next((f.title for f in audit.findings if f.check == "size" and "difference" in f.numbers), None)
    return f"{outcome}. {clean(size, _LINE)}." if size else f"{outcome}."


def _first_of(titles: Sequence[str]) -> str:
    more = f", and {len(titles) - 1} more below" if len(titles) > 1 else ""
    return f"{clean(titles[0], _LINE)}{more}" if titles else ""


def _summary(audit: Audit) -> list[ListItem]:
    """The verdict, and a line for everything broken or worth a warning."""
    mark = "✗" if audit.broken else "!" if audit.of("warning") else "✓"
    grave = [f for f in audit.findings if f.severity != "info"]
    return [ListItem(mark, audit_verdict(audit)), *(ListItem(_MARKS[f.severity], f.title) for f in grave)]


def _mark(checkup: Checkup) -> str:
    missing = checkup.reach.reached < checkup.reach.units  # with --only, nothing may have been found to say so
    return "✗" if checkup.broken else "!" if missing or checkup.of("warning") else "✓"


def _about_checkup(checkup: Checkup) -> Iterator[str]:
    sizes = f"{plural(checkup.chunks, 'chunk')} of {plural(checkup.docs, 'document')}"
    yield f"{checkup.testset}: {plural(checkup.questions, 'question')}; the index: {sizes}"
    if checkup.kinds:
        kinds = " · ".join(f"{kind} {count:,}" for kind, count in checkup.kinds.items())
        yield f"gold units looked for by: {kinds}"
    yield from checkup.notes


def _about_audit(audit: Audit) -> Iterator[str]:
    over = "no index"
    if audit.chunks is not None:
        over = f"{plural(audit.chunks, 'chunk')} of {plural(audit.docs or 0, 'document')}"
    yield f"{audit.testset}: {plural(audit.questions, 'question')}, over {over}; digest {audit.digest[:12]}"
    if audit.left_out:
        reasons = sorted(set(audit.left_out.values()))
        yield f"not looked at, since {' and '.join(reasons)}: {', '.join(sorted(audit.left_out))}"
    yield from audit.notes


def _findings(examined: TestSetFindings) -> Iterator[Block]:
    for severity in SEVERITIES:
        findings = examined.of(severity)
        usual = Detail.BRIEF if severity == "info" else Detail.QUIET
        yield Heading(_HEADS[severity], detail=usual)
        yield Listing([_finding(finding) for finding in findings], detail=usual)


def _finding(finding: Finding) -> ListItem:
    """The finding with its examples and ids: a few of them in brief, all in full."""
    examples = [clean(example, _LINE) for example in finding.examples]
    few = [*examples[:_FEW], *([f"and {len(examples) - _FEW:,} more examples"] if len(examples) > _FEW else [])]
    text = [finding.text] if finding.text else []
    return ListItem(
        _MARKS[finding.severity], finding.title, (*text, *few, *_ids(finding, 2 * _FEW)),
        more=(*text, *examples, *_ids(finding, len(finding.questions))), remedy=finding.remedy,
    )  # fmt: skip


def _ids(finding: Finding, most: int) -> list[str]:
    return [f"questions: {names(finding.questions, most)}"] if finding.questions else []


def _ceilings(checkup: Checkup) -> Iterator[Block]:
    """The highest that each measure can get, by cut-off."""
    cuts = sorted({c.k for c in checkup.ceilings})
    found = {(c.measure, c.k): c for c in checkup.ceilings}
    loose = any(not c.exact for c in checkup.ceilings)
    rows = [
        [name, *(_ceiling(found.get((name, k))) for k in cuts)]
        for name in dict.fromkeys(c.measure for c in checkup.ceilings)
    ]
    note = ["≤: no ranking passes it; whether one reaches it was too much to work out"] if loose else []
    columns = [Column(""), *(Column(f"@{k}", "score") for k in cuts)]
    title = "The highest that any ranking of these chunks can reach"
    yield Table(title, columns, rows, footnotes=note, detail=Detail.QUIET)


def _ceiling(ceiling: Ceiling | None) -> str:
    return NONE if ceiling is None else ("" if ceiling.exact else "≤") + number(ceiling.value)


def _kinds(audit: Audit) -> Iterator[Block]:
    titles = ("words", "answer", "overlap", "in a row", "literal")
    columns = [Column("kind"), *count_columns("questions", "refused", "bare"), *(Column(t, "value") for t in titles)]
    rows: list[list[Cell]] = [
        [
            row.kind, row.questions, row.unanswerable, row.without_answer, _words(row.question_words),
            _words(row.answer_words), _shares(row.overlap), _words(row.run),
            NONE if row.literal is None else f"{row.literal:,}",
        ]
        for row in audit.kinds
    ]  # fmt: skip
    yield Table(
        "Kinds: refused are unanswerable, bare have no reference answer; words and overlap as quarters", columns, rows
    )


def _attained(audit: Audit) -> Iterator[Block]:
    cuts = sorted({row.k for row in audit.attained})
    found = {(row.kind, row.k): row for row in audit.attained}
    rows: list[list[Cell]] = []
    for kind in dict.fromkeys(row.kind for row in audit.attained):
        some = [found[kind, k] for k in cuts]
        most = ("" if all(row.exact for row in some) else "≤") + _row([row.ceiling for row in some])
        means = [_row([getattr(row, name) for row in some]) for name in ("bm25", "dense", "better")]
        rows.append([kind, some[0].questions, *means, most])
    titles = ("BM25", "dense", "better of both", "any ranking")
    columns = [Column("kind"), *count_columns("questions"), *(Column(title, "value") for title in titles)]
    named = ", ".join(f"@{k}" for k in cuts)
    yield Table(f"Recall {named}: by retrieval as it is, and at most", columns, rows)


def _languages(audit: Audit) -> Iterator[Block]:
    if len(audit.languages) > 1:
        rows = [(row.language, row.questions, row.elsewhere) for row in audit.languages]
        yield Table("Languages", [Column("asked in"), *count_columns("questions", "gold in another")], rows)


def _coverage(audit: Audit) -> Iterator[Block]:
    found = audit.coverage
    if found is None or not found.questions:
        return
    topics: list[list[Cell]] = [
        [", ".join(row.words) + (" (thin)" if row.thin else ""), row.chunks, row.docs, row.questions,
         f"{row.expected:.1f}"]
        for row in _ends(found.topics)
    ]  # fmt: skip
    columns = [Column("words that set it apart"), *count_columns("chunks", "documents", "questions", "if even")]
    yield Table(f"Topics: {len(found.topics):,}", columns, topics, most=_ROWS)
    held = f"{found.docs_asked:,} of {found.docs:,} with a question, {found.chunks_asked:,} of {found.chunks:,} chunks"
    gini = "" if found.gini is None else f", Gini {number(found.gini, 3)}"
    docs = [(row.doc, row.chunks, row.questions) for row in _ends(found.by_doc)]
    yield Table(
        f"Documents: {held}{gini}", [Column("document"), *count_columns("chunks", "questions")], docs, most=_ROWS
    )


def _detectable(audit: Audit) -> Iterator[Block]:
    if not audit.detectable:
        return
    first = audit.detectable[0]
    rows = [
        (row.basis, row.questions, number(row.spread, 3), number(row.difference, 3), row.needed)
        for row in audit.detectable
    ]
    columns = [Column("going by"), Column("questions", "count"), Column("spread", "score")]
    columns += [Column("difference", "score"), Column(f"needed for {number(first.aim, 3)}", "count")]
    yield Table(f"Differences in {first.measure} that can be told", columns, rows)


def _ends(rows: Sequence[T]) -> Sequence[T]:
    """Rows with the first and the last few in front: what has most, and what has least."""
    half = _ROWS // 2
    return rows if len(rows) <= _ROWS else [*rows[:half], *rows[-half:], *rows[half:-half]]


def _words(found: Quartiles | None) -> str:
    return NONE if found is None else f"{found.low:.0f} {found.median:.0f} {found.high:.0f}"


def _shares(found: Quartiles | None) -> str:
    return NONE if found is None else _row([found.low, found.median, found.high])


def _row(values: Sequence[float | None]) -> str:
    return " ".join(number(value, 2) for value in values)
