"""Claims of an answer sorted by what stands behind them: right or not, and which passages entail them."""

from __future__ import annotations

from karat.core.claims import ClaimTable
from karat.core.measure import Bools


def right(table: ClaimTable) -> Bools:
    """Claims of the answer that the reference entails."""
    return table.entailed("answer", "reference")


def supported(table: ClaimTable) -> Bools:
    """Claims of the answer that some single passage entails."""
    return table.once("supported", lambda: table.by_passages("answer"))


def from_relevant(table: ClaimTable) -> Bools:
    """Claims of the answer that a relevant passage entails: one that entails a claim of the reference."""
    return table.once("from relevant", lambda: table.by_passages("answer", table.relevant))


def retrieved(table: ClaimTable) -> Bools:
    """Claims of the reference that some single passage entails."""
    return table.once("retrieved", lambda: table.by_passages("reference"))


def noise(table: ClaimTable, relevant: bool) -> Bools:
    """Wrong claims of the answer from relevant passages, or from irrelevant ones alone."""
    if relevant:
        return from_relevant(table) & ~right(table)
    return supported(table) & ~from_relevant(table) & ~right(table)


def hallucinated(table: ClaimTable) -> Bools:
    """Wrong claims of the answer that no passage entails."""
    return table.of_side("answer") & ~supported(table) & ~right(table)


def known_before(table: ClaimTable) -> Bools:
    """Right claims of the answer that no passage entails."""
    return right(table) & ~supported(table)
