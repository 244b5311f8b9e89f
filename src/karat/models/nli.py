"""An NLI model: a cross-encoder of three classes that reads a premise and a claim: entailment, neutral, contradiction.

It is a folder on this machine, as that of a cross-encoder for ranking: nothing is downloaded, no code of it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from karat.core.errors import InputError, KaratError
from karat.core.progress import Progress
from karat.core.text.wellformed import well_formed
from karat.models._local import digest_of, json_in
from karat.models.cross_encoder import TOGETHER, check_folder, loaded_encoder

CLASSES = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class NliClasses:
    """The likeliest class of each pair with its share, and how many pairs the model saw the beginning of alone."""

    labels: list[str]
    shares: list[float]
    cut: int


class NliModel:
    """The NLI model in a folder. What its classes are is read in its config.json, and must be said there."""

    def __init__(self, folder: str | Path, *, batch: int = 32, device: str = "cpu") -> None:
        self.folder, self._batch = Path(folder).expanduser(), batch
        check_folder(self.folder)
        self.labels, self._device = _labels(self.folder), device

    @cached_property
    def _model(self) -> Any:
        return loaded_encoder(self.folder, self._device)

    @cached_property
    def digest(self) -> str:
        """Changes whenever verdicts may change."""
        return digest_of([self.folder / "config.json", *sorted(self.folder.rglob("*.safetensors"))])

    def classify(self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None) -> NliClasses:
        """The class of each (premise, claim); of equal ones the first that the model names."""
        scores = np.zeros((len(pairs), len(CLASSES)))
        cut = 0
        for start in range(0, len(pairs), TOGETHER):
            some = [(well_formed(premise), well_formed(claim)) for premise, claim in pairs[start : start + TOGETHER]]
            fits = self._model.predict(some, batch_size=self._batch, show_progress_bar=False, convert_to_numpy=True)
            scores[start : start + len(some)] = np.asarray(fits, np.float64).reshape(len(some), len(CLASSES))
            cut += self._cut(some)
            if progress is not None:
                progress("judging claims", start + len(some), len(pairs))
        if not np.isfinite(scores).all():
            raise KaratError(f"the NLI model {self.folder} gave a score that is not finite. Choose another model.")
        shares = np.exp(scores - scores.max(axis=1, initial=-np.inf, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        labels = [self.labels[best] for best in scores.argmax(axis=1).tolist()]
        return NliClasses(labels, shares.max(axis=1, initial=0.0).tolist(), cut)

    def _cut(self, pairs: Sequence[tuple[str, str]]) -> int:
        """How many pairs have more tokens than the model reads."""
        tokenizer = self._model.tokenizer
        most = getattr(self._model, "max_seq_length", None) or tokenizer.model_max_length
        tokens = tokenizer([p for p, _ in pairs], [c for _, c in pairs], truncation=False, verbose=False)["input_ids"]
        return sum(len(one) > most for one in tokens)


def _labels(folder: Path) -> tuple[str, ...]:
    """The class of each output, as config.json names them."""
    config = json_in(folder / "config.json")
    named = config.get("id2label") if isinstance(config, dict) else None
    values = {str(key): str(value).lower() for key, value in named.items()} if isinstance(named, dict) else {}
    labels = [next((name for name in CLASSES if values[key].startswith(name[:6])), "") for key in sorted(values)]
    if sorted(labels) != sorted(CLASSES) or sorted(values) != ["0", "1", "2"]:
        shown = ", ".join(values.values())[:120] or "none"
        raise InputError(
            f"is no NLI model: its config.json has to name the classes entailment, neutral and contradiction under "
            f"id2label, and names {shown}",
            place=str(folder),
            remedy="Choose a cross-encoder trained on natural language inference.",
        )
    return tuple(labels)
