"""Test set check: the verdict, the findings, the highest scores that can be reached; in full all tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.text.words import NONE, clean, names, number, plural
from karat.report.document import (
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

if TYPE_CHECKING:
    from karat.results.testset_check import (
        Ceiling,
        Finding,
        GoldCoverage,
        Quartiles,
        Severity,
        TestSetCheck,
        TopicCoverage,
    )

_MARKS: dict[Severity, str] = {"broken": "✗", "warning": "!", "info": "-"}
_GRAVE, _INFO, _NOTES = 6, 3, 2  # findings and notes on the screen, which then has about 40 lines
_LINE, _EXAMPLE = 200, 94  # characters of an example in full, and of the one on the screen


def check_document(check: TestSetCheck) -> Document:
    """The verdict, what was found with what to do, and the ceilings; in full examples, ids and all tables."""
    grave = [_finding(finding) for finding in check.findings if finding.severity != "info"]
    info = [_finding(finding) for finding in check.of("info")]
    return Document(
        f"Check of {check.testset}",
        [
            Listing([ListItem(_mark(check), verdict(check))], detail=Detail.QUIET),
            Listing([ListItem("", line) for line in _about(check)]),
            Listing([ListItem("", note) for note in check.notes], most=_NOTES),
            Listing([ListItem("", f"digest {check.digest}")], detail=Detail.FULL),
            Heading("Findings", detail=Detail.QUIET),
            Listing(grave, most=_GRAVE, detail=Detail.QUIET),
            Listing(info, most=_INFO),
            _ceilings(check),
            *(replace(table, detail=Detail.FULL) for table in _tables(check)),
        ],
    )


def verdict(check: TestSetCheck) -> str:
    """One sentence: whether scores over the test set can be trusted, and how much of the gold can be found."""
    broken, warnings = check.of("broken"), check.of("warning")
    if broken:
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        outcome = f"broken: {clean(broken[0].title, _LINE)}{more}"
    elif warnings:
        concerned = f"{check.faulty:,} of {check.questions:,} questions need a look" if check.faulty else "usable"
        outcome = f"{concerned} ({plural(len(warnings), 'warning')})"
    else:
        outcome = "no fault found"
    return f"{outcome}; {_gold_sentence(check.reach, check.chunks)}." if check.reach is not None else f"{outcome}."


def _gold_sentence(reach: GoldCoverage, chunks: int | None) -> str:
    if not reach.units:
        return "the test set has no relevant gold: retrieval cannot be scored against it"
    if not chunks:
        return f"the index is empty: none of the {reach.units:,} gold units can be found"
    if reach.reached == reach.units:
        return f"all {reach.units:,} gold units can be found"
    lost = f", and {reach.without:,} of {reach.questions:,} questions have none" if reach.without else ""
    return f"{reach.reached:,} of {reach.units:,} gold units can be found{lost}"


def _mark(check: TestSetCheck) -> str:
    missing = check.reach is not None and check.reach.reached < check.reach.units  # which --only may leave unsaid
    return "✗" if check.broken else "!" if missing or check.of("warning") else "✓"


def _about(check: TestSetCheck) -> Iterator[str]:
    index = "no index"
    if check.chunks is not None:
        index = f"index of {plural(check.chunks, 'chunk')}, {plural(check.docs or 0, 'document')}"
    matched = ", ".join(f"{count:,} by {matcher}" for matcher, count in check.matchers.items())
    gold = f"; gold units matched: {matched}" if matched else ""
    yield f"{check.testset}: {plural(check.questions, 'question')}; {index}{gold}"
    for reason in sorted(set(check.not_run.values())):
        yield f"not run, since {reason}: {', '.join(sorted(n for n, why in check.not_run.items() if why == reason))}"


def _finding(finding: Finding) -> ListItem:
    """The finding, an example and what to do; in full with its figures and all examples and ids."""
    ids = [f"questions: {names(finding.questions, len(finding.questions))}"] if finding.questions else []
    text = [finding.text] if finding.text else []
    examples = [clean(example, _LINE) for example in finding.examples]
    if finding.severity == "info":
        return ListItem(_MARKS["info"], finding.title, more=(*text, *examples, *ids, *_remedy(finding)))
    brief = [clean(example, _EXAMPLE) for example in finding.examples[:1]]
    return ListItem(
        _MARKS[finding.severity], finding.title, tuple(brief), more=(*text, *examples, *ids), remedy=finding.remedy
    )


def _remedy(finding: Finding) -> list[str]:
    return [f"→ {finding.remedy}"] if finding.remedy else []


def _ceilings(check: TestSetCheck) -> Table:
    """The highest that each measure can get, by cut-off."""
    cuts = sorted({c.k for c in check.ceilings})
    by_cut = {(c.measure, c.k): c for c in check.ceilings}
    loose = any(not c.exact for c in check.ceilings)
    rows = [
        [name, *(_ceiling(by_cut.get((name, k))) for k in cuts)]
        for name in dict.fromkeys(c.measure for c in check.ceilings)
    ]
    note = ["≤: no ranking passes it; whether one reaches it was too much to work out"] if loose else []
    columns = [Column(""), *(Column(f"@{k}", "score") for k in cuts)]
    title = "Ceilings: the highest that any ranking of these chunks can reach"
    return Table(title, columns, rows, footnotes=note, detail=Detail.QUIET)


def _ceiling(ceiling: Ceiling | None) -> str:
    return NONE if ceiling is None else ("" if ceiling.exact else "≤") + number(ceiling.value)


def _tables(check: TestSetCheck) -> Iterator[Table]:
    if check.kinds:
        yield _kinds(check)
    if check.attained:
        yield _attained(check)
    if len(check.languages) > 1:
        rows = [(row.language, row.questions, row.elsewhere) for row in check.languages]
        yield Table("Languages", [Column("asked in"), *count_columns("questions", "gold in another")], rows)
    if check.coverage is not None and check.coverage.questions:
        yield from _coverage(check.coverage)
    if check.detectable:
        yield _detectable(check)


def _kinds(check: TestSetCheck) -> Table:
    titles = ("words", "answer", "overlap", "in a row", "literal")
    columns = [Column("kind"), *count_columns("questions", "refused", "bare"), *(Column(t, "value") for t in titles)]
    rows: list[list[Cell]] = [
        [
            row.kind, row.questions, row.unanswerable, row.without_answer, _words(row.question_words),
            _words(row.answer_words), _shares(row.overlap), _words(row.run),
            NONE if row.literal is None else f"{row.literal:,}",
        ]
        for row in check.kinds
    ]  # fmt: skip
    return Table(
        "Kinds: refused are unanswerable, bare have no reference answer; words and overlap as quarters", columns, rows
    )


def _attained(check: TestSetCheck) -> Table:
    cuts = sorted({row.k for row in check.attained})
    by_cut = {(row.kind, row.k): row for row in check.attained}
    rows: list[list[Cell]] = []
    for kind in dict.fromkeys(row.kind for row in check.attained):
        some = [by_cut[kind, k] for k in cuts]
        most = ("" if all(row.exact for row in some) else "≤") + _row([row.ceiling for row in some])
        means = [_row([getattr(row, name) for row in some]) for name in ("bm25", "dense", "better")]
        rows.append([kind, some[0].questions, *means, most])
    titles = ("BM25", "dense", "better of both", "any ranking")
    columns = [Column("kind"), *count_columns("questions"), *(Column(title, "value") for title in titles)]
    named = ", ".join(f"@{k}" for k in cuts)
    return Table(f"Recall {named}: by retrieval as it is, and at most", columns, rows)


def _coverage(covered: TopicCoverage) -> Iterator[Table]:
    topics: list[list[Cell]] = [
        [", ".join(row.words) + (" (thin)" if row.thin else ""), row.chunks, row.docs, row.questions,
         f"{row.expected:.1f}"]
        for row in covered.topics
    ]  # fmt: skip
    columns = [Column("words that set it apart"), *count_columns("chunks", "documents", "questions", "if even")]
    yield Table(f"Topics: {len(covered.topics):,}", columns, topics)
    held = f"{covered.docs_asked:,} of {covered.docs:,} with a question"
    held += f", {covered.chunks_asked:,} of {covered.chunks:,} chunks"
    gini = "" if covered.gini is None else f", Gini {number(covered.gini, 3)}"
    docs = [(row.doc, row.chunks, row.questions) for row in covered.by_doc]
    yield Table(f"Documents: {held}{gini}", [Column("document"), *count_columns("chunks", "questions")], docs)


def _detectable(check: TestSetCheck) -> Table:
    first = check.detectable[0]
    rows = [
        (row.basis, row.questions, number(row.spread, 3), number(row.difference, 3), row.needed)
        for row in check.detectable
    ]
    columns = [Column("going by"), Column("questions", "count"), Column("spread", "score")]
    columns += [Column("difference", "score"), Column(f"needed for {number(first.aim, 3)}", "count")]
    return Table(f"Differences in {first.measure} that can be shown", columns, rows)


def _words(quartiles: Quartiles | None) -> str:
    return NONE if quartiles is None else f"{quartiles.low:.0f} {quartiles.median:.0f} {quartiles.high:.0f}"


def _shares(quartiles: Quartiles | None) -> str:
    return NONE if quartiles is None else _row([quartiles.low, quartiles.median, quartiles.high])


def _row(values: Sequence[float | None]) -> str:
    return " ".join(number(value, 2) for value in values)
