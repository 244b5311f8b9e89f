"""The claims table beside a run: every claim and verdict with who judged it, and the key by which it is known again."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.claims import SIDES, VERDICTS, Side
from karat.core.errors import InputError
from karat.files._claims import COLUMNS
from karat.io.parquet import read_parquet
from karat.io.writing import write_whole
from karat.measures.entailment.fill import numbers_of, places_of
from karat.measures.entailment.judging import Origin, StoredClaims, StoredSide, StoredVerdict, premise_name

if TYPE_CHECKING:
    from karat.measures.entailment.judging import FilledClaims

_OF_SIDE = ("claims_judge", "claims_prompt", "claims_key")  # who split the text, and the key of that
_ALL = (*COLUMNS, *_OF_SIDE)
_NAMES = {code: name for name, code in VERDICTS.items()}
_SAYS_NOTHING = 0  # the number of the claim in the row of a side that claims nothing
FlatRow = Mapping[str, Any]


def rows_of(filled: FilledClaims) -> Iterator[FlatRow]:
    """The rows of a table: its verdicts, claims without any, and sides that claim nothing."""
    table, numbers = filled.table, numbers_of(filled.table)
    names = [(system, question) for system in table.systems for question in table.questions]
    judged = set(table.claim.tolist())

    def claim_row(claim: int) -> dict[str, Any]:
        side = SIDES[int(table.side[claim])]
        cites = ",".join(map(str, table.cites.get(claim, ())))
        importance = ("vital" if table.vital[claim] else "okay") if side == "nugget" else ""
        return {
            **_side_row(*names[int(table.pair[claim])], side, filled.sides.get((int(table.pair[claim]), side))),
            "claim": numbers[claim], "text": table.texts[claim], "cites": cites, "importance": importance,
        }  # fmt: skip

    for row, (_, _, _, kind, passages) in enumerate(places_of(table)):
        origin = filled.origins[row]
        yield {
            **claim_row(int(table.claim[row])), "premise": premise_name(kind, passages),
            "verdict": _NAMES[int(table.verdict[row])], "reason": table.reasons.get(row, ""),
            "judge": origin.judge, "prompt": origin.prompt, "key": origin.key,
        }  # fmt: skip
    yield from (claim_row(claim) for claim in range(len(table.pair)) if claim not in judged)
    claiming = set(zip(table.pair.tolist(), table.side.tolist(), strict=True))
    for (pair, side), origin in filled.sides.items():
        if (pair, SIDES.index(side)) not in claiming:
            yield {**_side_row(*names[pair], side, origin), "claim": _SAYS_NOTHING}


def _side_row(system: str, question: str, side: Side, origin: Origin | None) -> dict[str, Any]:
    by = origin or Origin("")
    parts = dict(zip(_OF_SIDE, (by.judge, by.prompt, by.key), strict=True))
    return {"system": system, "question": question, "side": side, **parts}


def stored_of(rows: Iterable[FlatRow]) -> StoredClaims:
    """What the rows of a file say was judged before."""
    sides: dict[tuple[str, str, Side], tuple[Origin, dict[int, FlatRow]]] = {}
    verdicts: dict[str, StoredVerdict] = {}
    for row in rows:
        place = row["system"], row["question"], row["side"]
        claims = sides.setdefault(place, (Origin(*(row[name] for name in _OF_SIDE)), {}))[1]
        if row["claim"] != _SAYS_NOTHING:
            claims.setdefault(row["claim"], row)
        if row["key"] and row["verdict"]:
            origin = Origin(row["judge"], row["prompt"], row["key"])
            verdicts[row["key"]] = StoredVerdict(VERDICTS[row["verdict"]], row["reason"], origin)
    return StoredClaims({place: _side_of(origin, claims) for place, (origin, claims) in sides.items()}, verdicts)


def _side_of(origin: Origin, claims: Mapping[int, FlatRow]) -> StoredSide:
    rows = [claims[number] for number in sorted(claims)]
    return StoredSide.of(
        [row["text"] for row in rows], origin, [row["importance"] != "okay" for row in rows],
        [tuple(int(one) for one in row["cites"].split(",") if one) for row in rows],
    )  # fmt: skip


def joined(before: Sequence[FlatRow], now: Sequence[FlatRow]) -> list[FlatRow]:
    """The rows of now, and those of before on claims that are the same and premises that were not asked for now."""
    texts = {_claim_of(row): row.get("text", "") for row in now}
    sides = {_side_place(row) for row in now}
    judged = {(*_claim_of(row), row.get("premise", "")) for row in now if row.get("premise")}
    claiming = {_claim_of(row) for row in now if row.get("premise")}
    kept = [
        row
        for row in before
        if _side_place(row) not in sides
        or (
            (row["premise"] and texts.get(_claim_of(row)) == row["text"])
            and (*_claim_of(row), row["premise"]) not in judged
        )
    ]
    more = {_claim_of(row) for row in kept} - claiming
    fresh = [row for row in now if row.get("premise") or _claim_of(row) not in more]
    order = {side: place for place, side in enumerate(SIDES)}
    return sorted(
        (*kept, *fresh),
        key=lambda row: (row["system"], row["question"], order[row["side"]], row["claim"], row.get("premise", "")),
    )


def _side_place(row: FlatRow) -> tuple[str, str, str]:
    return row["system"], row["question"], row["side"]


def _claim_of(row: FlatRow) -> tuple[str, str, str, int]:
    return (*_side_place(row), row["claim"])


def read_rows(path: Path) -> list[FlatRow]:
    """The rows of a stored table; none where there is no file."""
    if not path.is_file():
        return []
    frame = read_parquet(path, str(path))
    rows: list[FlatRow] | None = list(frame.to_dicts()) if set(_ALL) <= set(frame.columns) else None
    if rows is None or any(row["side"] not in SIDES or row["verdict"] not in ("", *VERDICTS) for row in rows):
        raise InputError(
            "it is no claims table that karat stored", place=str(path), remedy="Remove it: claims are judged anew then."
        )
    return rows


def write_rows(path: Path, rows: Sequence[FlatRow]) -> None:
    """The same as Parquet, which is read again, and as CSV, which can be corrected and handed back."""
    import polars as pl

    from karat.report.outputs.csv import written

    schema = {name: pl.Int64 if name == "claim" else pl.String for name in _ALL}
    frame = pl.DataFrame([[row.get(name, "") for name in _ALL] for row in rows], schema=schema, orient="row")
    out = io.BytesIO()
    frame.write_parquet(out, compression="zstd", statistics=False)
    write_whole(path, out.getvalue())
    write_whole(path.with_suffix(".csv"), written(frame.select(COLUMNS)))
