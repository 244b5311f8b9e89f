"""conversations: one conversation a record, its `turns` each a question: JSON, JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._history import MOST_TURNS
from karat.files._questions import read_questions
from karat.io import cells
from karat.io.cells import Record
from karat.io.fields import ID, QUESTION, TESTSET, TURNS, field_name
from karat.io.input import Input

_FORM = 'Write a list of turns: {"question": "...", "answers": ["..."], "gold": [...]}.'


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if kind == "results" or not input.has_records or TURNS not in input.fields:
        return None
    lists = [cells.can_be(_listed, record.get(TURNS)) and _listed(record.get(TURNS)) for record in input.sample]
    asked = any(field_name(str(name)) in QUESTION for turns in lists for turn in turns or () for name in turn)
    return Fit(0.95, "turns with questions") if asked else None


def _listed(value: Any) -> list[Mapping[str, Any]]:
    """The turns of a conversation; CellError where they are none."""
    turns = cells.as_list(value) or []
    if not turns or not all(isinstance(turn, Mapping) for turn in turns):
        raise cells.CellError("no list of turns", _FORM)
    if len(turns) > MOST_TURNS:
        raise cells.CellError(f"a conversation of {len(turns):,} turns", f"At most {MOST_TURNS} are read.")
    return turns


def _questions(input: Input) -> Iterator[tuple[int, Record]]:
    """A record a turn, with what its conversation says of all of them."""
    for row, record in input.records():
        with input.reading(row):
            turns = _listed(record.get(TURNS))
            named = (record[name] for name in (*TESTSET["conversation"], *ID) if not cells.is_missing(record.get(name)))
            conversation = cells.id_text(next(named, row))
            shared = {name: value for name, value in record.items() if name not in (TURNS, *ID)}
            ids, numbers = set[str](), set[int]()
            numbered = [name for name in TESTSET["turn"] if name == "turn" or _number(turns, name)]
            for place, given in enumerate(turns, 1):
                turn = {field_name(str(name)): value for name, value in given.items()}
                own = next((turn[n] for n in numbered if not cells.is_missing(turn.get(n))), place)
                number = cells.whole_number(own, "turn")
                own_ids = (turn[name] for name in ID if not cells.is_missing(turn.get(name)))
                id_ = cells.id_text(next(own_ids, f"{conversation}/{number}"))
                if id_ in ids or number in numbers:
                    what = f"turn {number}" if number in numbers else f"question id {cells.quoted(id_)}"
                    raise cells.CellError(f"{what} stands twice in the conversation", "Give every turn its own.")
                ids.add(id_)
                numbers.add(number)
                place_in = {"id": id_, "conversation": conversation, "turn": number}
                left_out = {*TESTSET["turn"], *TESTSET["conversation"], *ID}
                yield row, {**{k: v for k, v in {**shared, **turn}.items() if k not in left_out}, **place_in}


def _number(turns: list[Mapping[str, Any]], name: str) -> bool:
    """Whether a name that may mean the number of a turn does: each turn has one of its own."""
    of = [value for turn in turns for key, value in turn.items() if field_name(str(key)) == name]
    numbers = {cells.whole_number(value) for value in of if cells.can_be(cells.whole_number, value)}
    return len(numbers) == len(turns) and min(numbers) >= 0


def _read(input: Input) -> tuple[TestSet, list[str]]:
    return read_questions(input.with_rows(_questions(input)))


FORMAT = Format(
    name="conversations",
    about="one conversation a record, with its turns",
    sniff=_sniff,
    read_testset=_read,
)
