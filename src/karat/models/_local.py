"""Models in folders on this machine: nothing is downloaded, and no code of a folder runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, UsageError

if TYPE_CHECKING:
    from karat.models._embedder import EmbedderSettings


def digest_of(files: Iterable[Path]) -> str:
    """A short digest of the contents of some files."""
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "blake2b").digest())
    return digest.hexdigest()


def folder_of(settings: EmbedderSettings, *needed: str) -> Path:
    """The folder that the settings' target names, with the files an embedder needs."""
    if not settings.target:
        raise UsageError(f"the embedder {settings.name} needs a folder: write {settings.name}:FOLDER.")
    folder = Path(settings.target).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"the embedder {settings.label}: {folder} is not a folder. karat never downloads a model: "
            "name a folder on this machine."
        )
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"the embedder {settings.label}: {folder} holds no {' and no '.join(missing)}. "
            "Name the folder that holds the exported model."
        )
    return folder


def json_in(file: Path) -> Any:
    """What a JSON file holds; None where there is none, or where it cannot be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


@contextmanager
def loading(place: Path, problem: str, remedy: str | None = None) -> Iterator[None]:
    """Make an error of a file of whatever it sets off in the libraries that load it."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{problem}: {reason}", place=str(place), remedy=remedy) from None


def check_parts(folder: Path) -> None:
    """Refuse a model of sentence-transformers that would run code which came with the weights: own parts, a pickle."""
    listed = json_in(folder / "modules.json") or []
    parts = listed if isinstance(listed, list) else [listed]
    kinds = [str(part.get("type")) if isinstance(part, dict) else "?" for part in parts]
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
