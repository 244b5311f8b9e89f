"""Gate: what became of every rule, and which questions broke those that are not kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.core.text.words import NONE, amount, clean, number, plural
from karat.core.text.words import interval as written_interval
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
    Text,
    bullets,
    text_columns,
)

if TYPE_CHECKING:
    from karat.results.gating import Gate, GateOutcome, RuleCounterexample, RuleResult

WORDS: dict[GateOutcome, str] = {"pass": "pass", "fail": "FAIL", "unknown": "cannot tell"}
MARKS: dict[GateOutcome, str] = {"pass": "✓", "fail": "✗", "unknown": "?"}
_TEXT = 100  # characters of a question
QUIET = Detail.QUIET


def document(gate: Gate, *, broken_only: bool = False) -> Document:
    """The outcome, a table of rules, and what is wrong; `broken_only` leaves out what passed."""
    about = f"run {gate.run}"
    if gate.baseline_run is not None:
        about += f", against {gate.baseline or ''} (run {gate.baseline_run})"
    shown = [v for v in gate.verdicts if not broken_only or v.outcome != "pass"]
    allowed = ", which is allowed" if gate.allows_incomplete else ": --allow-incomplete judges what there is"
    guards = [f"{note.guard}: {note.text}" for note in gate.guards]
    allowing = " ".join(f'--allow "{name}"' for name in dict.fromkeys(note.guard for note in gate.guards))
    return Document(
        "",
        [
            Text(f"{MARKS[gate.outcome]} {sentence(gate)}", "headline", detail=QUIET),
            bullets([about, *gate.notes], mark=""),
            Table("Rules", _columns(gate), [_row(v) for v in shown], detail=QUIET),
            *(block for v in shown for block in _problem(v)),
            Heading(f"Incomplete{allowed}", depth=3, detail=QUIET),
            bullets(gate.incomplete, "!", detail=QUIET),
            Heading("Guards that fired on the run", depth=3, detail=QUIET),
            bullets(guards, "!", detail=QUIET),
            *([Text(f"Where this is expected: {allowing}", detail=QUIET)] if guards else []),
        ],
    )


def _columns(gate: Gate) -> list[Column]:
    usual = all(v.level in (None, 0.95) for v in gate.verdicts)
    columns = [*text_columns("", "rule", "system"), Column("value", "score")]
    return [*columns, *text_columns("bound", "95% interval" if usual else "interval"), Column("n", "count")]


def _row(v: RuleResult) -> list[Cell]:
    return [WORDS[v.outcome], v.rule.text, v.system, figure(v.value), held_against(v), interval(v), v.n]


def _problem(v: RuleResult) -> Iterator[Block]:
    if v.outcome != "pass" and v.reason:
        more = [ListItem("", more_broken(v))] if more_broken(v) else []
        yield Heading(f"{WORDS[v.outcome]}: {v.rule.text}", depth=4, detail=QUIET)
        yield Text(f"{v.reason} ({v.system}).", detail=QUIET)
        lines = [ListItem("-", broken_line(one)) for one in v.broken]
        yield Listing([*lines, *more], folded=plural(v.n_broken, "question"), detail=QUIET)


def sentence(gate: Gate) -> str:
    """What it comes down to."""
    passed, many = len(gate.of("pass")), len(gate.verdicts)
    rules = f"of {plural(many, 'rule')}"
    if gate.outcome == "pass":
        without = " without what is missing" if gate.incomplete else ""
        return f"The gate passes: {passed:,} {rules} kept{without}."
    if gate.outcome == "fail":
        broken = len(gate.of("fail"))
        parts = [f"{broken:,} {rules} broken"] if broken else []
        parts += [f"{plural(len(gate.guards), 'guard')} fired"] if gate.guards else []
        return f"The gate fails: {' and '.join(parts)}."
    if not gate.verdicts:
        return "The gate cannot tell: there is nothing to check the rules on."
    unknown = len(gate.of("unknown"))
    counted = f"{unknown:,} {rules} cannot be decided" if unknown else f"{passed:,} {rules} kept"
    return f"The gate cannot tell, because the run is incomplete: {counted}."


def figure(value: float | None) -> str:
    """A value as rules write them: counts whole, scores with four decimals, others with four digits."""
    if value is None:
        return NONE
    return amount(value, 4) if value == int(value) or abs(value) >= 10 else number(value)


def interval(verdict: RuleResult) -> str:
    """The interval of a value, or of its difference from the baseline; nothing where there is none."""
    ends = written_interval(verdict.low, verdict.high, 3)
    return f"{ends} of the difference" if ends and verdict.rule.needs_baseline else ends


def held_against(verdict: RuleResult) -> str:
    """The bound, and the baseline's value where it is of one."""
    bound = f"{verdict.rule.sign} {figure(verdict.bound)}"
    return bound + (f" (baseline {figure(verdict.baseline)})" if verdict.rule.needs_baseline else "")


def broken_line(one: RuleCounterexample) -> str:
    """A question that broke, its values and why: "q7 .0000, before 1.0000: How long ...?"."""
    figures = figure(one.value) if one.value is not None else "no value"
    before = f", before {figure(one.before)}" if one.before is not None else ""
    asked = f": {clean(one.text, _TEXT)}" if one.text else ""
    why = f" ({clean(one.why, _TEXT)})" if one.why else ""
    return f"{clean(one.question, 40)} {figures}{before}{asked}{why}"


def more_broken(verdict: RuleResult) -> str:
    """How many questions are not listed."""
    left = verdict.n_broken - len(verdict.broken)
    return f"and {left:,} more" if left > 0 else ""
