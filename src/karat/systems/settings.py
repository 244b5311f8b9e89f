"""Settings of a system that retrieves: what rewrites, which engines, how they are fused, what reranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.fuse.rrf import K as RRF_K
from karat.fuse.weighted import NORMALISE, alpha_weights
from karat.retrieve.rewrite import check_named, needs_of

if TYPE_CHECKING:
    from karat.models import EmbedderSettings

HYBRID = "hybrid"
CHAT = "chat"  # reranks, named in place of the folder of a cross-encoder
DEPTH = 100
LENGTH = 20  # hits that are kept of every list, or the largest cut-off where that is more; DEPTH where tokens cut
OF_FUSION = {"alpha": "weighted", "normalise": "weighted", "rrf_k": "rrf"}  # settings of one fusion alone
OF_HYBRID = ("legs", "fusion", *OF_FUSION)


@dataclass(frozen=True)
class SystemSettings:
    """How to retrieve. `engine` is one engine, a store such as `faiss:PATH`, or `hybrid`, which fuses its legs.

    `alpha` weighs the first leg against the second in a weighted fusion: 1 is the first alone. `depth` is how many
    hits each engine gives, or k where that is more. `rerank` is a folder with a cross-encoder, or `chat`.
    """

    engine: str = HYBRID
    legs: tuple[str, ...] = ("dense", "bm25")
    fusion: str = "weighted"
    alpha: float = 0.3
    normalise: str = NORMALISE[0]
    rrf_k: float = RRF_K
    depth: int = DEPTH
    rewrite: tuple[str, ...] = ()
    rerank: str | None = None
    rerank_depth: int = 20
    embedder: EmbedderSettings | None = None  # of a store that something else made

    @property
    def name(self) -> str:
        """A short name that tells apart what differs."""
        if self.engine != HYBRID:
            name = self.engine
        elif self.fusion == "weighted":
            name = f"hybrid alpha={self.alpha:g}" + (f" {self.normalise}" if self.normalise != NORMALISE[0] else "")
        else:
            name = self.fusion
        return "+".join((name, *steps_of(self.rewrite, self.rerank)))

    @property
    def described(self) -> dict[str, Any]:
        """What there is to know of it in plain values: only what has a meaning for its engine and fusion."""
        shown: dict[str, Any] = {"engine": self.engine}
        if self.engine == HYBRID:
            shown |= {"legs": list(self.legs), "fusion": self.fusion, "depth": self.depth}
            shown |= {"normalise": self.normalise, "alpha": self.alpha} if self.fusion == "weighted" else {}
            shown |= {"rrf_k": self.rrf_k} if self.fusion == "rrf" else {}
        shown |= {"rewrite": list(self.rewrite)} if self.rewrite else {}
        shown |= {"rerank": self.rerank, "rerank_depth": self.rerank_depth} if self.rerank else {}
        return shown | ({"embedder": self.embedder.label} if self.embedder is not None else {})

    @property
    def needs_chat(self) -> bool:
        """Whether a chat model is asked, to rewrite or to rerank."""
        return self.rerank == CHAT or any("chat" in needs_of(text) for text in self.rewrite)

    @property
    def consulted(self) -> tuple[str, ...]:
        """The engines that are asked at all: a leg of weight 0 is not."""
        if self.engine != HYBRID:
            return (self.engine,)
        weights = self.weights
        return self.legs if weights is None else tuple(x for x, w in zip(self.legs, weights, strict=True) if w > 0)

    @property
    def has_store(self) -> bool:
        """Whether a store that something else made is asked, which ranks chunks of its own."""
        return any(":" in name for name in self.consulted)

    @property
    def weights(self) -> tuple[float, ...] | None:
        """Of the legs in a weighted fusion."""
        return alpha_weights(self.alpha) if self.fusion == "weighted" else None

    def depth_for(self, k: int) -> int:
        """How many candidates each leg gives for a result of k."""
        return max(self.depth, k, self.rerank_depth if self.rerank else 0)

    def essence(self, k: int) -> tuple[Any, ...]:
        """What its results of length k depend on: systems that agree in this find the same."""
        fused = (self.fusion, tuple(sorted(self.fusion_settings.items()))) if len(self.consulted) > 1 else ()
        reranked = (self.rerank, self.rerank_depth) if self.rerank else ()
        depth = self.depth_for(k) if fused or reranked or self.rewrite else k
        return (self.consulted, fused, depth, self.rewrite, reranked, self.embedder)

    def reads(self) -> Iterator[Path]:
        """The files of its rewriters and the folder of its reranker."""
        targets = [text.partition(":")[2] for text in self.rewrite if not needs_of(text)]
        targets += [self.rerank] if self.rerank is not None and self.rerank != CHAT else []
        yield from (Path(target) for target in targets if target)

    def check(self) -> None:
        """Refuse what cannot be before anything is loaded."""
        from karat.core.ranked import Ranked
        from karat.fuse import FUSIONS

        for text in self.rewrite:
            check_named(text)
        if self.depth < 1:
            raise UsageError(f"depth={self.depth}: each engine gives 1 hit or more.")
        if self.engine == HYBRID:
            fusion = FUSIONS.get(self.fusion)
            if len(set(self.legs)) < len(self.legs) or len(self.legs) < 2:
                raise UsageError(
                    f"a hybrid fuses two engines or more, each once, not {', '.join(self.legs) or 'none'}."
                )
            if self.fusion == "weighted" and len(self.legs) != 2:
                raise UsageError("alpha weighs two legs. Fuse more of them with rrf, combsum, combmnz or isr.")
            fusion.fuse([Ranked.empty(1)] * len(self.legs), **self.fusion_settings)  # checks its settings

    @property
    def fusion_settings(self) -> dict[str, Any]:
        """What the fusion takes of these settings."""
        if self.fusion == "weighted":
            return {"weights": self.weights, "normalise": self.normalise}
        return {"k": self.rrf_k} if self.fusion == "rrf" else {}


def steps_of(rewrite: Sequence[str], rerank: str | None) -> list[str]:
    """What the name of a system says of rewriting and reranking: how, and not by which file."""
    split = (text.partition(":") for text in rewrite)
    more = [f"{name}:{target}" if target.isalnum() else name for name, _, target in split]
    return more + (["rerank:chat" if rerank == CHAT else "rerank"] if rerank else [])
