"""A cross-encoder: a model that reads two texts together and says how well they fit: for reranking, and for answers.

It is a folder on this machine that sentence-transformers' CrossEncoder or transformers saved. Nothing is downloaded,
no code of the folder runs, and weights are safetensors only (others are pickles).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError, KaratError, UsageError
from karat.core.progress import Progress
from karat.core.text.wellformed import well_formed
from karat.models._local import check_parts, json_in, loading, no_bars

if TYPE_CHECKING:
    from numpy.typing import NDArray

REMEDY = "Name a folder that CrossEncoder.save_pretrained wrote."
TOGETHER = 1024


class CrossEncoder:
    """The cross-encoder in a folder, ready to use.

    Scores are the model's own numbers before any squashing, so that good passages do not tie at 1. Pairs are read in
    batches of like length; the same pairs in the same order score the same to the last bit on the same machine.
    """

    def __init__(self, folder: str | Path, *, batch: int = 32, device: str = "cpu") -> None:
        self.folder, self.batch = Path(folder).expanduser(), batch
        check_folder(self.folder)
        self._model = loaded_encoder(self.folder, device)
        labels = int(self._model.num_labels)
        if labels != 1:
            raise InputError(
                f"is a classifier of {labels} classes; a cross-encoder gives one number a pair",
                place=str(self.folder),
                remedy="Choose a model trained for ranking.",
            )

    def score(self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None) -> NDArray[np.float64]:
        """How well each passage fits its query, (query, passage) a pair. Higher is better; all finite."""
        scores = np.zeros(len(pairs))
        for start in range(0, len(pairs), TOGETHER):
            some = [(well_formed(query), well_formed(text)) for query, text in pairs[start : start + TOGETHER]]
            fits = self._model.predict(some, batch_size=self.batch, show_progress_bar=False, convert_to_numpy=True)
            scores[start : start + len(some)] = np.asarray(fits, np.float64).reshape(len(some))
            if progress is not None:
                progress("reranking", start + len(some), len(pairs))
        if not np.isfinite(scores).all():
            query, text = pairs[int(np.flatnonzero(~np.isfinite(scores))[0])]
            raise KaratError(
                f"the cross-encoder {self.folder} gave a score that is not finite for the query {query[:60]!r} and the "
                f"passage {text[:60]!r}. The model is broken: choose another."
            )
        return scores


def loaded_encoder(folder: Path, device: str) -> Any:
    """The cross-encoder of a folder that was checked, which gives its numbers before any squashing."""
    try:
        import sentence_transformers
        import torch
    except ImportError:
        raise UsageError(
            "a cross-encoder needs sentence-transformers, which is not installed. Run: pip install 'karat[sbert]'"
        ) from None
    with loading(folder, "cannot be loaded as a cross-encoder", REMEDY), no_bars():
        model = sentence_transformers.CrossEncoder(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            activation_fn=torch.nn.Identity(),
            model_kwargs={"use_safetensors": True},
        )
    model.eval()
    return model


def check_folder(folder: Path) -> None:
    """Refuse what is no model, and what would run code that came with the weights."""
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(problem, place=str(folder), remedy=f"karat never downloads a model. {REMEDY}")
    if json_in(folder / "config.json") is None:
        raise InputError("holds no readable config.json", place=str(folder), remedy=REMEDY)
    check_parts(folder)
