"""A claims table from the rows of a flat one, the shortest way: for readers that make such rows of foreign files."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL, ClaimRows

WORDS = {
    "entailed": ENTAILED, "support": ENTAILED, "partial_support": PARTIAL, "neither": NEITHER, "not_support": NEITHER,
    "contradicted": CONTRADICTED,
}  # fmt: skip


def rows_of(frame: pl.DataFrame, systems: Sequence[str], questions: Sequence[str]) -> ClaimRows:
    """The rows of a flat claims table; every one must be of these systems and questions."""
    made = ClaimRows(systems, questions)
    rows = frame.to_dicts()
    claims: dict[tuple[int, str], dict[int, dict]] = {}
    for row in rows:
        pair = systems.index(row["system"] or systems[0]) * len(questions) + questions.index(row["question"])
        row["pair"] = pair
        if row["side"] == "passages":
            made.passages(pair, row["claim"])
        else:
            held = claims.setdefault((pair, row["side"]), {})
            if row["text"] is not None:
                held[row["claim"]] = row
    for (pair, side), held in claims.items():
        chosen = [held[number] for number in sorted(held)]
        vital = [row.get("importance") != "okay" for row in chosen]
        made.claims(pair, side, [row["text"] for row in chosen], vital=vital)
    for row in rows:
        if row["verdict"] is not None:
            numbers = [int(n) for n in row["premise"].split(",")] if row["premise"][0].isdigit() else []
            made.verdict(
                row["pair"], row["side"], row["claim"], "passages" if numbers else row["premise"],
                WORDS[row["verdict"]], passages=numbers,
            )  # fmt: skip
    return made
