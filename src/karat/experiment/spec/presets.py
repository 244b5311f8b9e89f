"""Presets: six hybrids with names, from the meaning of a text alone to its words alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat.core.errors import UsageError, did_you_mean


@dataclass(frozen=True)
class Preset:
    """Settings of a system under a name that says what they are good for; `known_as` is another tool's name."""

    name: str
    description: str
    use_case: str
    settings: tuple[tuple[str, Any], ...]
    known_as: str | None = None

    @property
    def fusion(self) -> str:
        """How its legs are fused."""
        return str(dict(self.settings).get("fusion", "weighted"))


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "pure_dense",
            "Vectors alone: a chunk is found by what it means.",
            "Questions in other words than the documents use.",
            (("alpha", 1.0),),
            "Pure_Dense_FAISS",
        ),
        Preset(
            "dense_heavy",
            "Seven tenths vectors, three tenths BM25.",
            "A first choice where questions are of many kinds and mostly conceptual.",
            (("alpha", 0.7),),
            "Dense_Heavy_Hybrid",
        ),
        Preset(
            "balanced",
            "Vectors and BM25 with equal weight.",
            "Questions that mix concepts with exact names.",
            (("alpha", 0.5),),
            "Balanced_Hybrid",
        ),
        Preset(
            "sparse_heavy",
            "Three tenths vectors, seven tenths BM25.",
            "Questions led by keywords, with some in other words.",
            (("alpha", 0.3),),
            "Sparse_Heavy_Hybrid",
        ),
        Preset(
            "pure_sparse",
            "BM25 alone: a chunk is found by the words it shares with the question.",
            "Codes, abbreviations and terms that must stand there exactly.",
            (("alpha", 0.0),),
            "Pure_Sparse_BM25",
        ),
        Preset(
            "rrf",
            "Vectors and BM25 fused by rank: scores are not compared at all.",
            "When nothing is known yet about how the scores of the two relate.",
            (("fusion", "rrf"),),
        ),
    )
}


def _key(name: str) -> str:
    return "".join(c for c in name.lower() if c not in " -_")


_BY_KEY = {_key(name): preset for preset in PRESETS.values() for name in (preset.name, preset.known_as) if name}


def preset_named(name: str) -> Preset:
    """The preset of this name, or of the healthcare document's name for it, however it is spelled.

    >>> preset_named("Dense-Heavy Hybrid").name
    'dense_heavy'
    """
    preset = _BY_KEY.get(_key(name))
    if preset is None:
        known = [*PRESETS, *(preset.known_as for preset in PRESETS.values() if preset.known_as)]
        raise UsageError(f"unknown preset {name!r}.{did_you_mean(name, known)} There are {', '.join(PRESETS)}.")
    return preset
