"""What loading a model with sentence-transformers needs, whatever the model is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from karat.core.errors import InputError


def check_parts(folder: Path, kinds: Sequence[str]) -> None:
    """Refuse a model that would run code that came with the weights: parts of its own, or a pickle.

    `kinds` are the types that its modules.json names.
    """
    foreign = [kind for kind in kinds if not kind.startswith("sentence_transformers.")]
    if foreign:
        raise InputError(
            f"names code of its own ({foreign[0]}), which karat does not run",
            place=str(folder),
            remedy="Choose a model made of sentence-transformers' own parts.",
        )
    if not any(folder.rglob("*.safetensors")):
        raise InputError(
            "holds no .safetensors weights; other weights are pickles, which can run code",
            place=str(folder),
            remedy="Save the model again as safetensors.",
        )


@contextmanager
def no_bars() -> Iterator[None]:
    """No progress bar of transformers while a model is loaded."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
