"""Write claims: a claims table in its flat form, Parquet or CSV, from which the same table is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.claims import PASSAGE, PASSAGES, PREMISES, SIDES, ClaimTable
from karat.core.errors import UsageError
from karat.files.claims._words import FAILED, PASSAGES_SIDE, verdict_word
from karat.io.fields import CLAIMS
from karat.io.formulas import guarded_cell
from karat.io.writing import replaced

if TYPE_CHECKING:
    import polars as pl

_TEXTS = ("system", "question", "side", "text", "premise", "reason", "judge", "prompt", "key", "cites")


def write_claims(
    table: ClaimTable,
    path: str | os.PathLike[str],
    *,
    judge: str | Sequence[str] | None = None,
    prompt: str | Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> None:
    """A claims table as Parquet or CSV, by the ending of the name.

    `judge` says who gave the verdicts, `prompt` asked how (its digest), `keys` under which key each is kept: one for
    all, or one for each verdict of the table.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".parquet", ".csv"):
        raise UsageError(f"{path}: a claims table is written as .parquet or .csv. Name it so.")
    frame = claims_frame(table, judge=judge, prompt=prompt, keys=keys)
    with replaced(path) as part:
        if ending == ".parquet":
            frame.write_parquet(part)
        else:
            _guarded(frame).write_csv(part)


def claims_frame(
    table: ClaimTable,
    *,
    judge: str | Sequence[str] | None = None,
    prompt: str | Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> pl.DataFrame:
    """The flat form of a claims table."""
    import polars as pl

    numbers = _numbers(table)
    verdicts = _of_claims(table, numbers, table.claim).with_columns(
        premise=pl.Series(_premises(table), dtype=pl.String),
        verdict=pl.Series([verdict_word(code) for code in table.verdict.tolist()], dtype=pl.String),
        reason=pl.Series([table.reasons.get(row) for row in range(len(table.claim))], dtype=pl.String),
        **{
            name: _said(value, len(table.claim))
            for name, value in (("judge", judge), ("prompt", prompt), ("key", keys))
        },
    )
    unjudged = np.setdiff1d(np.arange(len(table.pair)), table.claim)
    others = _of_claims(table, numbers, unjudged)
    parts = [_markers(table), verdicts, others]
    whole = pl.concat([part for part in parts if part.height] or [verdicts], how="diagonal")
    present = [pl.col(name) if name in whole.columns else pl.lit(None, pl.String).alias(name) for name in CLAIMS]
    return whole.sort("at", "side_at", "claim", maintain_order=True, nulls_last=False).select(present)


def _numbers(table: ClaimTable) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The number of each claim among those of its pair and side, from 1."""
    groups = table.pair * len(SIDES) + table.side
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(np.append(starts, len(groups)))
    return np.arange(len(groups)) - np.repeat(starts, sizes) + 1


def _of_claims(table: ClaimTable, numbers: np.ndarray[Any, Any], claims: np.ndarray[Any, Any]) -> pl.DataFrame:
    """What the columns of a claim say, for each of these claims."""
    import polars as pl

    pair, side = table.pair[claims], table.side[claims]
    system, question = np.divmod(pair, max(1, len(table.questions)))
    cites = [",".join(map(str, table.cites[claim])) if claim in table.cites else None for claim in claims.tolist()]
    vital = np.where(side == SIDES.index("nugget"), np.where(table.vital[claims], 1, 0), 2)
    return pl.DataFrame(
        {
            "at": pair,
            "side_at": side,
            "system": _named(table.systems, system),
            "question": _named(table.questions, question),
            "side": _named(SIDES, side),
            "claim": numbers[claims],
            "text": _named(table.texts, claims),
            "cites": pl.Series(cites, dtype=pl.String),
            "importance": pl.Series(["okay", "vital", None], dtype=pl.String).gather(vital),
        }
    )


def _named(names: Sequence[str], places: np.ndarray[Any, Any]) -> pl.Series:
    import polars as pl

    return pl.Series(list(names), dtype=pl.String).gather(places)


def _premises(table: ClaimTable) -> list[str]:
    sets = [",".join(map(str, members)) for members in table.sets]
    return [
        str(passage) if kind == PASSAGE else sets[passage] if kind == PASSAGES else PREMISES[kind]
        for kind, passage in zip(table.premise.tolist(), table.passage.tolist(), strict=True)
    ]


def _said(value: str | Sequence[str] | None, count: int) -> pl.Series:
    import polars as pl

    if value is None or isinstance(value, str):
        return pl.Series([value], dtype=pl.String).new_from_index(0, count)
    return pl.Series(list(value), dtype=pl.String)


def _markers(table: ClaimTable) -> pl.DataFrame:
    """Rows without claim: numbers of passages, sides that claim nothing, relations that failed."""
    import polars as pl

    claimed = np.zeros(table.known.shape, bool)
    claimed[table.pair, table.side] = True
    rows: list[tuple[int, int, str, int | None, str | None, str | None, str | None]] = [
        (pair, -1, PASSAGES_SIDE, int(count), None, None, None)
        for pair, count in enumerate(table.passages.tolist())
        if count >= 0
    ]
    for pair, side in np.argwhere(table.known & ~claimed).tolist():
        rows.append((pair, side, SIDES[side], None, None, None, None))
    for (pair, relation), why in table.failed.items():
        name, _, by = relation.partition(" by ")
        rows.append((pair, SIDES.index(name), name, None, by, FAILED, why))
    names = {"at": pl.Int64, "side_at": pl.Int64, "side": pl.String, "claim": pl.Int64, "premise": pl.String}
    schema = {**names, "verdict": pl.String, "reason": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    system, question = np.divmod(frame["at"].to_numpy(), max(1, len(table.questions)))
    return frame.with_columns(system=_named(table.systems, system), question=_named(table.questions, question))


def _guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that no spreadsheet runs as a formula."""
    import polars as pl

    return frame.with_columns(pl.col(name).map_elements(guarded_cell, return_dtype=pl.String) for name in _TEXTS)
