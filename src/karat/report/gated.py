"""Gated: what became of every rule, for a terminal, a program, a comment on GitHub and the annotations there."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from karat.report import _escape
from karat.report._escape import clean
from karat.report._grid import listing, plain_table, texts, title
from karat.report._numbers import NONE, amount, number, short
from karat.report._screen import as_text, put
from karat.results.gating import Baseline, Broken, Gate, Outcome, Verdict
from karat.results.serial import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

MARKER = "<!-- karat gate -->"  # by which a comment is found again and replaced
WORDS: dict[Outcome, str] = {"pass": "pass", "fail": "FAIL", "unknown": "cannot tell"}
_MARKS: dict[Outcome, str] = {"pass": "✓", "fail": "✗", "unknown": "?"}
_TEXT = 100  # characters of a question
_MENTION = re.compile(r"(?<![0-9A-Za-z])@(?=[0-9A-Za-z])")  # what GitHub takes for a person: @95% too, not Recall@5


def show(gate: Gate, stream: TextIO, *, quiet: bool = False) -> None:
    """Write to a stream; `quiet` leaves out what passed."""
    put(lambda width: _blocks(gate, quiet), stream)


def render(gate: Gate, *, quiet: bool = False, width: int = 100) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(gate, quiet), width=width)


def sentence(gate: Gate) -> str:
    """What it comes down to."""
    kept, many = len(gate.of("pass")), len(gate.verdicts)
    rules = "rule" if many == 1 else "rules"
    if gate.outcome == "pass":
        without = " without what is missing" if gate.incomplete else ""
        return f"The gate passes: {kept:,} of {many:,} {rules} kept{without}."
    if gate.outcome == "fail":
        broken = len(gate.of("fail"))
        parts = [f"{broken:,} of {many:,} {rules} broken"] if broken else []
        parts += [f"{len(gate.guards):,} {'guard' if len(gate.guards) == 1 else 'guards'} fired"] if gate.guards else []
        return f"The gate fails: {' and '.join(parts)}."
    if not gate.verdicts:
        return "The gate cannot tell: there is nothing to hold the rules against."
    unknown = len(gate.of("unknown"))
    said = f"{unknown:,} of {many:,} {rules} cannot be told" if unknown else f"{kept:,} of {many:,} {rules} kept"
    return f"The gate cannot tell, because the run is incomplete: {said}."


def figure(value: float | None) -> str:
    """A value as rules write them: counts whole, scores with four decimals, others with four digits."""
    if value is None:
        return NONE
    return amount(value) if value == int(value) or abs(value) >= 10 else number(value)


def interval(verdict: Verdict) -> str:
    """The interval of a value, or of its difference from the baseline; nothing where there is none."""
    if verdict.low is None or verdict.high is None:
        return ""
    of = " of the difference" if verdict.rule.needs_baseline else ""
    return f"[{short(verdict.low)}, {short(verdict.high)}]{of}"


def held_against(verdict: Verdict) -> str:
    """The bound, and the baseline's value where it is of one."""
    bound = f"{verdict.rule.sign} {figure(verdict.bound)}"
    return bound + (f" (baseline {figure(verdict.baseline)})" if verdict.rule.needs_baseline else "")


def broken_line(one: Broken) -> str:
    """A question that broke, its values and why: "q7 .0000, before 1.0000: How long ...?"."""
    figures = figure(one.value) if one.value is not None else "no value"
    before = f", before {figure(one.before)}" if one.before is not None else ""
    asked = f": {clean(one.text, _TEXT)}" if one.text else ""
    why = f" ({clean(one.why, _TEXT)})" if one.why else ""
    return f"{clean(one.question, 40)} {figures}{before}{asked}{why}"


def more_broken(verdict: Verdict) -> str:
    """How many questions are not listed."""
    left = verdict.n_broken - len(verdict.broken)
    return f"and {left:,} more" if left > 0 else ""


def _blocks(gate: Gate, quiet: bool) -> Iterator[RenderableType]:
    yield listing((_MARKS[gate.outcome], sentence(gate)))
    about = f"run {clean(gate.run)}"
    if gate.baseline_run is not None:
        about += f", against {clean(gate.baseline or '')} (run {clean(gate.baseline_run)})"
    if not quiet:
        yield listing(("", about), *(("", clean(note)) for note in gate.notes))
    shown = [v for v in gate.verdicts if not quiet or v.outcome != "pass"]
    if shown:
        yield from texts([""])
        yield _table(shown)
    for verdict in shown:
        if verdict.reason and verdict.outcome != "pass":
            yield title(f"{WORDS[verdict.outcome]}: {clean(verdict.rule.text)}")
            of = f" ({clean(verdict.system)})"
            yield from texts([f"{clean(verdict.reason)}{of}."])
            lines = [("-", broken_line(one)) for one in verdict.broken]
            yield listing(*lines, *([("", more_broken(verdict))] if more_broken(verdict) else []))
    if gate.incomplete:
        allowed = ", which is allowed" if gate.allows_incomplete else ": --allow-incomplete judges what there is"
        yield title(f"Incomplete{allowed}")
        yield listing(*(("!", clean(text)) for text in gate.incomplete))
    if gate.guards:
        yield title("Guards that fired on the run")
        yield listing(*(("!", f"{note.guard}: {clean(note.text)}") for note in gate.guards))
        yield from texts(["What is as it should be is let through by --allow GUARD."])


def _table(verdicts: Sequence[Verdict]) -> RenderableType:
    table = plain_table("", "rule", "system", "value", "bound", "95% interval", "n", right=(3, 6))
    if any(v.level not in (None, 0.95) for v in verdicts):
        table.columns[5].header = texts(["interval"])[0]
    for column, width in zip(table.columns, (4, 20, 8, 7, 10, 14, 4), strict=True):
        column.min_width = width
    for v in verdicts:
        row = [
            WORDS[v.outcome], clean(v.rule.text), clean(v.system, 30), figure(v.value), held_against(v), interval(v),
            f"{v.n:,}",
        ]  # fmt: skip
        table.add_row(*texts(row))
    return table


def as_json(gate: Gate, exit_code: int) -> str:
    """The gate as one object in plain ASCII; a number that does not exist is null."""
    return json.dumps(plain(_document(gate, exit_code)), indent=2, allow_nan=False)


def _document(gate: Gate, exit_code: int) -> dict[str, Any]:
    """The gate in plain values."""
    return {
        "run": gate.run,
        "outcome": gate.outcome,
        "exit_code": exit_code,
        "sentence": sentence(gate),
        "baseline": None if gate.baseline_run is None else {"name": gate.baseline, "run": gate.baseline_run},
        "rules": [_rule(verdict) for verdict in gate.verdicts],
        "incomplete": gate.incomplete,
        "allow_incomplete": gate.allows_incomplete,
        "guards": [{"guard": note.guard, "text": note.text} for note in gate.guards],
        "notes": gate.notes,
    }


def _rule(v: Verdict) -> dict[str, Any]:
    return {
        "rule": v.rule.text, "outcome": v.outcome, "system": v.system, "subject": v.subject, "value": v.value,
        "sign": v.rule.sign, "bound": v.bound, "n": v.n, "low": v.low, "high": v.high, "level": v.level,
        "interval_of": None if v.low is None else "difference" if v.rule.needs_baseline else "value",
        "baseline": v.baseline, "baseline_system": v.baseline_system, "reason": v.reason,
        "broken": v.broken, "n_broken": v.n_broken, "n_failed": v.n_failed,
    }  # fmt: skip


def markdown(gate: Gate) -> str:
    """The gate as a comment: a table of all rules, and below it the questions that broke."""
    return "\n".join(_markdown(gate)).rstrip() + "\n"


def _markdown(gate: Gate) -> Iterator[str]:
    yield MARKER
    yield f"### {_MARKS[gate.outcome]} {escape(sentence(gate))}"
    yield ""
    against = f", against {_code(gate.baseline or '')} ({_code(gate.baseline_run)})" if gate.baseline_run else ""
    yield f"Run {_code(gate.run)}{against}."
    yield ""
    yield from (f"- {escape(note)}" for note in gate.notes)
    yield ""
    if gate.verdicts:
        yield "| | rule | system | value | bound | interval | n |"
        yield "|---|---|---|---:|---|---|---:|"
    for v in gate.verdicts:
        cells = [
            WORDS[v.outcome], escape(v.rule.text), escape(clean(v.system, 60)), figure(v.value),
            escape(held_against(v)), escape(interval(v)), f"{v.n:,}",
        ]  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    yield ""
    for text in gate.incomplete:
        yield f"- incomplete{' (allowed)' if gate.allows_incomplete else ''}: {escape(text)}"
    for note in gate.guards:
        yield f"- guard {escape(note.guard or '')}: {escape(note.text)}"
    yield ""
    for v in (v for v in gate.verdicts if v.outcome != "pass"):
        yield f"**{escape(v.rule.text)}**: {escape(v.reason)}."
        yield ""
        if v.broken:
            yield f"<details><summary>{v.n_broken:,} {'question' if v.n_broken == 1 else 'questions'}</summary>"
            yield ""
            yield from (f"- {_code(broken_line(one))}" for one in v.broken)
            yield from [f"- {more_broken(v)}"] if more_broken(v) else []
            yield ""
            yield "</details>"
            yield ""


def escape(text: str) -> str:
    """Text that a comment shows as it stands, and by which nobody is mentioned."""
    return _MENTION.sub("@<!-- -->", _escape.markdown(text))


def _code(text: str) -> str:
    """A code span: nobody is mentioned by what stands in it, and nothing in it is markup."""
    line = clean(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if line[:1] == "`" or line[-1:] == "`" else f"{fence}{line}{fence}"


def unheard(text: str) -> str:
    """Output that GitHub takes no commands from: a question may hold some, and wrapping may begin a line with one.

    What ends it is made of the text itself, which therefore cannot hold it.
    """
    end = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"::stop-commands::{end}\n{text}::{end}::\n"


def workflow_commands(gate: Gate) -> list[str]:
    """Workflow commands by which GitHub shows what is wrong."""
    found = []
    for v in gate.verdicts:
        if v.outcome != "pass":
            lines = [f"{clean(v.system)}: {clean(v.reason)}.", *map(broken_line, v.broken), more_broken(v)]
            level = "error" if v.outcome == "fail" else "warning"
            found.append(_command(level, f"karat gate: {v.rule.text}", "\n".join(filter(None, lines))))
    found += [_command("error", f"karat gate: {note.guard}", clean(note.text)) for note in gate.guards]
    level = "warning" if gate.allows_incomplete else "error"
    return found + [_command(level, "karat gate: incomplete", clean(text)) for text in gate.incomplete]


def _command(level: str, title: str, message: str) -> str:
    """`::error title=...::message`, with what would end it escaped as GitHub wants.

    >>> _command("error", "a: b, c", "50%\\nof")
    '::error title=a%3A b%2C c::50%25%0Aof'
    """
    named = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={named}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def show_baselines(kept: Sequence[tuple[Baseline, str]], place: str, stream: TextIO) -> None:
    """Write baselines to a stream, each with what there is to say of its run."""
    put(lambda width: _baselines(kept, place), stream)


def _baselines(kept: Sequence[tuple[Baseline, str]], place: str) -> Iterator[RenderableType]:
    if not kept:
        yield from texts([f"There are no baselines in {clean(place)}. Set one: `karat baseline set main RUN`."])
        return
    table = plain_table("baseline", "run", "system", "test set", "set", "")
    for one, said in kept:
        row = [one.name, clean(one.run, 60), clean(one.system or "", 30), one.testset[:12], one.set_at, clean(said)]
        table.add_row(*texts(row))
    yield table
