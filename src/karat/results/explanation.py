"""Explanation: how one question came to its hits and its scores, step by step. Plain data, no logic."""

from __future__ import annotations

from dataclasses import dataclass

from karat.core.docs import Chunk
from karat.core.types import Question


@dataclass(frozen=True)
class LegHit:
    """A hit of one engine, with what its score is made of where the engine can say (`term weight + ...`)."""

    rank: int
    chunk: str
    score: float
    made_of: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class EngineContribution:
    """What one leg gave to a fused hit; rank and score are None where the leg did not find it."""

    rank: int | None
    score: float | None
    normalised: float
    contribution: float


@dataclass(frozen=True)
class FusedHit:
    """A hit of the fusion: its score is the sum of what the legs contribute."""

    rank: int
    chunk: str
    score: float
    parts: tuple[EngineContribution, ...]


@dataclass(frozen=True, kw_only=True)
class JudgedHit:
    """A hit of the result beside the gold: the units it holds for the first time, and those a hit above held."""

    rank: int
    score: float
    chunk: Chunk
    new: tuple[str, ...]
    again: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GoldUnitTrace:
    """A gold unit, where it stands, and why it is not found where it is not."""

    label: str
    grade: int
    chunks: int  # that hold it
    ranks: tuple[tuple[str, int | None], ...]  # in each leg
    rank: int | None  # in the result, however deep
    why: str | None = None


@dataclass(frozen=True)
class MeasureLine:
    """A measure of this question: its value, or the reason why it has none."""

    measure: str
    value: float | None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """All steps for one question. `legs` names the engines asked, in the order of `FusedHit.parts`."""

    question: Question
    system: str
    k: int
    queries: tuple[str, ...]
    changes: tuple[str, ...]
    legs: tuple[tuple[str, tuple[LegHit, ...]], ...]
    fusion: str | None
    fused: tuple[FusedHit, ...]
    hits: tuple[JudgedHit, ...]
    units: tuple[GoldUnitTrace, ...]
    measures: tuple[MeasureLine, ...]
    notes: tuple[str, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()  # of each step
