"""The claims table beside a run: its flat form, with who judged what, and the keys by which that is known again.

A row of a side without claim holds the key of the text that the claims of the side were taken from.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.claims import SIDES, VERDICTS, Side
from karat.core.errors import InputError
from karat.files.claims import claims_frame
from karat.io.parquet import read_parquet
from karat.io.writing import write_whole
from karat.measures.entailment.judging import FilledClaims, Origin, StoredClaims, StoredSide, StoredVerdict

if TYPE_CHECKING:
    import polars as pl

_SIDE = ("system", "question", "side")
_CLAIM = (*_SIDE, "claim", "text")
_VERDICT = (*_CLAIM, "premise")


def frame_of(filled: FilledClaims) -> pl.DataFrame:
    """The rows of a table that was made."""
    import polars as pl

    table, origins = filled.table, filled.origins
    rows = claims_frame(
        table, judge=[one.judge for one in origins], prompt=[one.prompt for one in origins],
        keys=[one.key for one in origins],
    )  # fmt: skip
    names = [(system, question) for system in table.systems for question in table.questions]
    sides = [
        (*names[pair], side, origin.judge, origin.prompt, origin.key)
        for (pair, side), origin in filled.sides.items()
        if origin.key
    ]
    side_rows = pl.DataFrame(sides, schema=dict.fromkeys((*_SIDE, "judge", "prompt", "key"), pl.String), orient="row")
    return _ordered(pl.concat([rows, side_rows], how="diagonal"))


def joined(before: pl.DataFrame | None, now: pl.DataFrame) -> pl.DataFrame:
    """The rows of now, and those of before on other sides, and on the same claims by premises not asked for now."""
    import polars as pl

    if before is None:
        return now
    claims = now.filter(pl.col("text").is_not_null())
    others = before.join(now, on=_SIDE, how="anti")
    same = before.filter(pl.col("premise").is_not_null()).join(claims, on=_CLAIM, how="semi")
    more = same.join(now, on=_VERDICT, how="anti")
    unjudged = pl.col("text").is_not_null() & pl.col("premise").is_null()
    bare = now.filter(unjudged).join(more, on=_CLAIM, how="semi")  # a claim without verdict that has one from before
    return _ordered(pl.concat([now.join(bare, on=_CLAIM, how="anti") if bare.height else now, others, more]))


def _ordered(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    place = pl.col("side").replace_strict(SIDES, range(len(SIDES)), default=-1, return_dtype=pl.Int64)
    by = [pl.col("system"), pl.col("question"), place, pl.col("claim"), pl.col("premise")]
    return rows.sort(by, maintain_order=True, nulls_last=False)


def stored_of(rows: pl.DataFrame | None) -> StoredClaims:
    """What rows say was judged before."""
    sides: dict[tuple[str, str, Side], tuple[Origin, dict[int, dict[str, Any]]]] = {}
    verdicts: dict[str, StoredVerdict] = {}
    for row in rows.to_dicts() if rows is not None else ():
        if row["side"] not in SIDES:
            continue
        place = row["system"], row["question"], row["side"]
        origin = Origin(row["judge"] or "", row["prompt"] or "", row["key"] or "")
        if row["text"] is None:
            if origin.key:
                sides[place] = (origin, sides.get(place, (origin, {}))[1])
            continue
        sides.setdefault(place, (Origin(""), {}))[1].setdefault(row["claim"], row)
        if origin.key and row["verdict"] in VERDICTS:
            verdicts[origin.key] = StoredVerdict(VERDICTS[row["verdict"]], row["reason"] or "", origin)
    return StoredClaims({place: _side_of(origin, claims) for place, (origin, claims) in sides.items()}, verdicts)


def _side_of(origin: Origin, claims: dict[int, dict[str, Any]]) -> StoredSide:
    rows = [claims[number] for number in sorted(claims)]
    return StoredSide.of(
        [row["text"] for row in rows], origin, [row["importance"] != "okay" for row in rows],
        [tuple(int(one) for one in (row["cites"] or "").split(",") if one) for row in rows],
    )  # fmt: skip


def read_stored(path: Path) -> pl.DataFrame | None:
    """The rows of a stored table; None where there is no file."""
    if not path.is_file():
        return None
    rows = read_parquet(path, str(path))
    if not {*_VERDICT, "verdict", "reason", "judge", "prompt", "key", "cites", "importance"} <= set(rows.columns):
        raise InputError(
            "it is no claims table that karat stored", place=str(path), remedy="Remove it: claims are judged anew then."
        )
    return rows


def write_stored(path: Path, rows: pl.DataFrame) -> None:
    """Rows as Parquet, which is read again, and as CSV, which can be corrected and handed back."""
    from karat.report.outputs.csv import written

    out = io.BytesIO()
    rows.write_parquet(out, compression="zstd", statistics=False)
    write_whole(path, out.getvalue())
    write_whole(path.with_suffix(".csv"), written(rows))
