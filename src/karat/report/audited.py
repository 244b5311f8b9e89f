"""Audited: how good a test set is, on one page for the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO, TypeVar

from karat.core.text.words import plural
from karat.report._escape import clean, markdown
from karat.report._grid import Cell, Row, grids, listing, title
from karat.report._numbers import NONE, number, short
from karat.report._screen import as_text, put

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.audit import Audit, Quartiles
    from karat.results.checkup import Finding, Severity

_HEADS: dict[Severity, str] = {"broken": "Broken", "warning": "Warnings", "info": "Worth knowing"}
_MARKS: dict[Severity, str] = {"broken": "✗", "warning": "!", "info": "-"}
_FEW = 3  # examples shown without `verbose`
_ROWS = 8  # documents and topics shown without `verbose`
_LINE = 200

T = TypeVar("T")
Table = tuple[str, str, list[str], list[tuple[str, list[str]]]]
"""A heading, the corner, the titles of the columns, and rows with their labels."""


def show(audit: Audit, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    put(lambda width: _blocks(audit, width, quiet, verbose), stream)


def render(audit: Audit, *, quiet: bool = False, verbose: bool = False, width: int = 100) -> str:
    """The audit as plain text. `quiet` leaves out tables and what is only worth knowing, `verbose` shows all ids."""
    return as_text(lambda width: _blocks(audit, width, quiet, verbose), width=width)


def as_json(audit: Audit, *, indent: int | None = 2) -> str:
    """The audit as one object in plain ASCII; a number that does not exist is null."""
    return json.dumps(audit.plain(), indent=indent, allow_nan=False)


def as_markdown(audit: Audit, *, verbose: bool = True) -> str:
    """The audit as a page of Markdown, with all ids."""
    lines = [f"# Audit of {markdown(audit.testset)}", "", f"**{markdown(verdict(audit))}**", ""]
    lines += [f"{markdown(line)}  " for line in _head(audit)]
    for severity in ("broken", "warning", "info"):
        findings = audit.of(severity)
        if findings:
            lines += ["", f"## {_HEADS[severity]}"]
        for finding in findings:
            lines += ["", f"### {markdown(finding.title)}", "", markdown(finding.text), ""]
            lines += [f"- {markdown(clean(example, _LINE))}" for example in finding.examples]
            if finding.questions:
                lines += ["", f"Questions: {', '.join(markdown(id_) for id_ in finding.questions)}"]
            if finding.remedy:
                lines += ["", f"→ {markdown(finding.remedy)}"]
    for heading, corner, columns, rows in _tables(audit, verbose):
        lines += ["", f"## {markdown(heading)}", "", "| " + " | ".join(map(markdown, [corner or "·", *columns])) + " |"]
        lines.append("|---|" + "---:|" * len(columns))
        lines += ["| " + " | ".join(map(markdown, [label, *cells])) + " |" for label, cells in rows]
    kept = [line for i, line in enumerate(lines) if line or i == 0 or lines[i - 1]]
    return "\n".join(kept) + "\n"


def written(audit: Audit, ending: str) -> str:
    """The audit as a file of this ending holds it: .md, .json or .txt."""
    if ending == ".json":
        return as_json(audit) + "\n"
    return as_markdown(audit) if ending == ".md" else render(audit, verbose=True)


def verdict(audit: Audit) -> str:
    """One sentence: whether the test set can be trusted, and what it can tell."""
    broken, warnings = audit.of("broken"), audit.of("warning")
    if broken:
        more = f", and {len(broken) - 1} more below" if len(broken) > 1 else ""
        said = f"broken: {clean(broken[0].title, _LINE)}{more}"
    elif warnings:
        named = f"{audit.faulty:,} of {audit.questions:,} questions want a look" if audit.faulty else "usable"
        said = f"{named}; {plural(len(warnings), 'warning')}"
    else:
        said = "nothing wrong was found"
    told = next((f.title for f in audit.findings if f.check == "size" and "difference" in f.numbers), None)
    return f"{said}. {clean(told, _LINE)}." if told else f"{said}."


def summary(audit: Audit) -> list[tuple[str, str]]:
    """A few marked lines: the verdict, and a line for everything broken or worth a warning."""
    mark = "✗" if audit.broken else "!" if audit.of("warning") else "✓"
    rows = [(mark, verdict(audit))]
    return rows + [(_MARKS[f.severity], clean(f.title, _LINE)) for f in audit.findings if f.severity != "info"]


def _blocks(audit: Audit, width: int, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    head = [] if quiet else [("", clean(line)) for line in _head(audit)]
    yield listing(summary(audit)[0], *head)
    for severity in ("broken", "warning", "info"):
        findings = audit.of(severity)
        if not findings or (quiet and severity == "info"):
            continue
        yield title(_HEADS[severity])
        for finding in findings:
            yield listing(*_lines(finding, quiet, verbose))
    if quiet:
        return
    for heading, corner, columns, rows in _tables(audit, verbose):
        yield title(heading)
        cells = [Row(clean(label, 60), [Cell(cell) for cell in row]) for label, row in rows]
        yield from grids(corner, columns, cells, width)


def _head(audit: Audit) -> Iterator[str]:
    over = (
        "no index"
        if audit.chunks is None
        else f"{plural(audit.chunks, 'chunk')} of {plural(audit.docs or 0, 'document')}"
    )
    yield f"{audit.testset}: {plural(audit.questions, 'question')}, over {over}; digest {audit.digest[:12]}"
    if audit.left_out:
        reasons = sorted(set(audit.left_out.values()))
        yield f"not looked at, since {' and '.join(reasons)}: {', '.join(sorted(audit.left_out))}"
    yield from audit.notes


def _lines(finding: Finding, quiet: bool, verbose: bool) -> Iterator[tuple[str, str]]:
    yield _MARKS[finding.severity], clean(finding.title)
    if quiet:
        if finding.remedy:
            yield "", clean(finding.remedy)
        return
    if finding.text:
        yield "", clean(finding.text)
    most = len(finding.examples) if verbose else _FEW
    yield from (("", f"  {clean(example, _LINE)}") for example in finding.examples[:most])
    if finding.questions:
        shown = finding.questions if verbose else finding.questions[: 2 * _FEW]
        more = len(finding.questions) - len(shown)
        yield "", f"questions: {', '.join(clean(i, 40) for i in shown)}" + (f" and {more:,} more" if more else "")
    if finding.remedy:
        yield "", f"→ {clean(finding.remedy)}"


def _tables(audit: Audit, verbose: bool) -> Iterator[Table]:
    yield from _kinds(audit)
    yield from _attained(audit)
    yield from _languages(audit)
    yield from _coverage(audit, verbose)
    if audit.detectable:
        rows = [
            (row.basis, [f"{row.questions:,}", short(row.spread), short(row.difference), f"{row.needed:,}"])
            for row in audit.detectable
        ]
        aim = short(audit.detectable[0].aim)
        yield f"Differences in {audit.detectable[0].measure} that can be told", "going by", [
            "questions", "spread", "difference", f"needed for {aim}",
        ], rows  # fmt: skip


def _kinds(audit: Audit) -> Iterator[Table]:
    columns = ["questions", "refused", "bare", "words", "answer", "overlap", "in a row", "literal"]
    rows = [
        (
            row.kind,
            [
                f"{row.questions:,}", f"{row.unanswerable:,}", f"{row.without_answer:,}", _spread(row.question_words),
                _spread(row.answer_words), _shares(row.overlap), _spread(row.run),
                NONE if row.literal is None else f"{row.literal:,}",
            ],
        )
        for row in audit.kinds
    ]  # fmt: skip
    if rows:
        heading = "Kinds: refused are unanswerable, bare have no reference answer; words and overlap as quarters"
        yield heading, "kind", columns, rows


def _attained(audit: Audit) -> Iterator[Table]:
    if not audit.attained:
        return
    cuts = sorted({row.k for row in audit.attained})
    found = {(row.kind, row.k): row for row in audit.attained}
    rows: list[tuple[str, list[str]]] = []
    for kind in dict.fromkeys(row.kind for row in audit.attained):
        some = [found[kind, k] for k in cuts]
        most = ("" if all(row.exact for row in some) else "≤") + _row([row.ceiling for row in some])
        means = [_row([getattr(row, name) for row in some]) for name in ("bm25", "dense", "better")]
        rows.append((kind, [f"{some[0].questions:,}", *means, most]))
    named = ", ".join(f"@{k}" for k in cuts)
    columns = ["questions", "BM25", "dense", "better of both", "any ranking"]
    yield f"Recall {named}: by retrieval as it is, and at most", "kind", columns, rows


def _languages(audit: Audit) -> Iterator[Table]:
    if len(audit.languages) > 1:
        rows = [(row.language, [f"{row.questions:,}", f"{row.elsewhere:,}"]) for row in audit.languages]
        yield "Languages", "asked in", ["questions", "gold in another"], rows


def _coverage(audit: Audit, verbose: bool) -> Iterator[Table]:
    found = audit.coverage
    if found is None or not found.questions:
        return
    if found.topics:
        topics = found.topics if verbose else _ends(found.topics)
        rows = [
            (
                ", ".join(row.words) + (" (thin)" if row.thin else ""),
                _counts(row.chunks, row.docs, row.questions, row.expected),
            )
            for row in topics
        ]
        yield f"Topics, {len(rows):,} of {len(found.topics):,}", "words that set it apart", [
            "chunks", "documents", "questions", "if even",
        ], rows  # fmt: skip
    docs = found.by_doc if verbose else _ends(found.by_doc)
    held = f"{found.docs_asked:,} of {found.docs:,} with a question, {found.chunks_asked:,} of {found.chunks:,} chunks"
    gini = "" if found.gini is None else f", Gini {short(found.gini)}"
    yield f"Documents: {held}{gini}", "document", ["chunks", "questions"], [
        (row.doc, [f"{row.chunks:,}", f"{row.questions:,}"]) for row in docs
    ]  # fmt: skip


def _ends(rows: Sequence[T]) -> Sequence[T]:
    """The first and the last few: what has most, and what has least."""
    return rows if len(rows) <= _ROWS else [*rows[: _ROWS // 2], *rows[-_ROWS // 2 :]]


def _counts(chunks: int, docs: int, questions: int, expected: float) -> list[str]:
    return [f"{chunks:,}", f"{docs:,}", f"{questions:,}", f"{expected:.1f}"]


def _spread(found: Quartiles | None) -> str:
    return NONE if found is None else f"{found.low:.0f} {found.median:.0f} {found.high:.0f}"


def _shares(found: Quartiles | None) -> str:
    return NONE if found is None else _row([found.low, found.median, found.high])


def _row(values: Sequence[float | None]) -> str:
    return " ".join(number(value, 2) for value in values)
