"""Steps of one question: what a system asked, call by call, what came back, and what each call added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.core.text.words import amount, clean, excerpt, percent, plural
from karat.report.document import Block, Detail, Heading, Listing, ListItem, Text
from karat.results.evaluation import StepHit, StepRecord

CALLS, HITS = 20, 10  # shown unless all are asked for
_TEXT, _NAME = 160, 80  # characters shown of a query and of a name


def steps_blocks(system: str, steps: Sequence[StepRecord], detail: Detail) -> list[Block]:
    """The calls of a system, the first of many unless all are asked for."""
    retrieving = sum(step.hits is not None for step in steps)
    others = len(steps) - retrieving
    more = f", {plural(others, 'call')} of other tools" if others else ""
    heading = f"{system}: {plural(retrieving, 'retrieval call')}{more}"
    items = [_item(number, step) for number, step in enumerate(steps, 1)]
    blocks: list[Block] = [Heading(heading, detail=detail), Listing(items[:CALLS], detail=detail)]
    if items[CALLS:]:
        blocks.append(Listing(items[CALLS:], detail=Detail.FULL))
        blocks.append(Text(f"The other {plural(len(items) - CALLS, 'call')}: -v.", detail=detail))
    return blocks


def _item(number: int, step: StepRecord) -> ListItem:
    """A call; under it its hits, those with gold marked with ✓."""
    name, about, under = step_words(step)
    return ListItem(f"{number}.", f"{name}{f' ({about})' if about else ''}", under)


def step_words(step: StepRecord) -> tuple[str, str, tuple[str, ...]]:
    """What a call asked, what is known of it, and a line for each of its hits."""
    asked = excerpt(step.query, _TEXT) if step.query is not None else "no query"
    facts = [] if step.tool is None else [clean(step.tool, _NAME)]
    if step.gained is not None:
        facts.append(f"recall +{percent(step.gained)}, now {percent(step.recall or 0.0)}")
    facts += ["asked before"] if step.repeated else []
    facts += [f"{amount(step.seconds)} s"] if step.seconds is not None else []
    facts += [plural(int(step.tokens), "token")] if step.tokens is not None else []
    return asked, "; ".join(facts), tuple(_under(step))


def _under(step: StepRecord) -> Iterator[str]:
    if step.hits is None:
        yield "a tool: it retrieves nothing"
        return
    if not step.hits:
        yield "no hits"
    for hit in step.hits[:HITS]:
        yield _hit(hit)
    if (rest := step.hits[HITS:]) and (holding := [hit for hit in rest if hit.holds]):
        yield f"{plural(len(rest), 'more hit')}, with gold: {', '.join(clean(h.id, _NAME) for h in holding[:HITS])}"
    elif rest:
        yield f"{plural(len(rest), 'more hit')}, none with gold"


def _hit(hit: StepHit) -> str:
    held = ", ".join(clean(unit, _TEXT) for unit in hit.holds)
    again = "" if hit.new or not hit.holds else ", held before"
    return f"{'✓' if hit.holds else '✗'} {clean(hit.id, _NAME)}{f'  holds {held}{again}' if held else ''}"
