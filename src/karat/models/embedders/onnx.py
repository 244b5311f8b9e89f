"""`onnx:FOLDER`: any sentence encoder exported to ONNX, with model.onnx and tokenizer.json in the folder.

The model's output `sentence_embedding` is taken where it has one; otherwise the vectors of the tokens are pooled as
1_Pooling/config.json says: their mean, which is also what happens without that file, or the first token. A text longer
than the model reads (the tokenizer's own truncation, else config.json's max_position_embeddings, else 512) is cut.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError
from karat.core.text.words import plural
from karat.models._embedder import Embedder, EmbedderSettings, Encoder, not_installed
from karat.models._local import digest_of, folder_of, json_in, loading

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 32
_LENGTH = 512
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_DTYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


def embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder `onnx:FOLDER`."""
    folder = folder_of(settings, "model.onnx", "tokenizer.json")
    try:
        import onnxruntime
        import tokenizers  # noqa: F401
    except ImportError:
        raise not_installed(settings, "onnxruntime", "onnx") from None
    onnxruntime.disable_telemetry_events()
    model = _Model(folder)
    read = sorted(f for f in folder.rglob("*") if _is_read(folder, f))
    return Encoder(settings, digest_of(read), model.encode, batch=128)


def _is_read(folder: Path, file: Path) -> bool:
    named = ("tokenizer.json", "config.json", "1_Pooling/config.json")
    return file.is_file() and (file.relative_to(folder).as_posix() in named or file.name.startswith("model.onnx"))


class _Model:
    """A tokenizer and a session of onnxruntime."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tokenizer = _tokenizer(folder)
        self.session = _session(folder / "model.onnx")
        self.inputs = {one.name: one.type for one in self.session.get_inputs()}
        unknown = [name for name, kind in self.inputs.items() if name not in _INPUTS or kind not in _DTYPES]
        if unknown or "input_ids" not in self.inputs:
            raise InputError(
                f"the model takes {', '.join(self.inputs)}; karat gives {', '.join(_INPUTS)} as whole numbers",
                place=str(folder / "model.onnx"),
                remedy="Export a sentence encoder.",
            )
        self.outputs = [one.name for one in self.session.get_outputs()]
        self.first_token = _takes_first_token(folder / "1_Pooling" / "config.json")

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        batches = (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))
        rows = np.concatenate([self._batch([texts[i] for i in batch]) for batch in batches])
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return np.asarray(rows[back], np.float32)

    def _batch(self, texts: list[str]) -> NDArray[np.float32]:
        pieces = self.tokenizer.encode_batch(texts)
        mask = np.array([piece.attention_mask for piece in pieces], np.int64)
        arrays = {
            "input_ids": np.array([piece.ids for piece in pieces], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([piece.type_ids for piece in pieces], np.int64),
            "position_ids": np.broadcast_to(np.arange(mask.shape[1]), mask.shape),
        }
        if mask.shape[1] == 0:
            raise InputError("made no tokens of a text", place=str(self.folder / "tokenizer.json"))
        with loading(self.folder / "model.onnx", f"failed on {plural(len(texts), 'text')}"):
            feed = {name: arrays[name].astype(_DTYPES[kind]) for name, kind in self.inputs.items()}
            outputs = dict(zip(self.outputs, self.session.run(None, feed), strict=True))
        return self._pooled(outputs, mask)

    def _pooled(self, outputs: dict[str, Any], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        for name in ("sentence_embedding", *self.outputs):
            output = outputs.get(name)
            if isinstance(output, np.ndarray) and output.dtype.kind == "f":
                if output.ndim == 2 and len(output) == len(mask):
                    return np.asarray(output, np.float32)
                if output.ndim == 3 and output.shape[:2] == mask.shape:
                    return _pool(output, mask, self.first_token)
        shapes = ", ".join(f"{name} {getattr(output, 'shape', '')}" for name, output in outputs.items())
        raise InputError(
            f"no output of the model is a vector for each text or token: {shapes}",
            place=str(self.folder / "model.onnx"),
            remedy="Export a sentence encoder.",
        )


def _pool(tokens: NDArray[Any], mask: NDArray[np.int64], first_token: bool) -> NDArray[np.float32]:
    """One vector for each text: its first token's, or the mean of those that are no padding."""
    if first_token:
        return np.asarray(tokens[np.arange(len(mask)), mask.argmax(axis=1)], np.float32)
    weights = mask.astype(np.float32)
    sums = np.einsum("ntd,nt->nd", tokens.astype(np.float32), weights)
    return np.asarray(sums / np.maximum(weights.sum(axis=1, keepdims=True), 1), np.float32)


def _session(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    with loading(file, "cannot be read as an ONNX model"):
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    with loading(file, "cannot be read as a tokenizer", "Export the model and its tokenizer again."):
        tokenizer = Tokenizer.from_file(str(file))
    if tokenizer.truncation is None:
        length = _settings(folder / "config.json").get("max_position_embeddings")
        tokenizer.enable_truncation(length if isinstance(length, int) and 0 < length < _LENGTH else _LENGTH)
    padding = tokenizer.padding or {}
    pad = padding.get("pad_token") or next((t for t in ("[PAD]", "<pad>") if tokenizer.token_to_id(t) is not None), "")
    tokenizer.enable_padding(pad_id=padding.get("pad_id") or tokenizer.token_to_id(pad) or 0, pad_token=pad)
    return tokenizer


def _takes_first_token(file: Path) -> bool:
    """Whether a text's vector is its first token's."""
    settings = _settings(file)
    modes = {name for name, used in settings.items() if name.startswith("pooling_mode_") and used is True}
    if isinstance(mode := settings.get("pooling_mode"), str):
        modes.add(f"pooling_mode_{mode}")
    if not modes or modes <= {"pooling_mode_mean_tokens", "pooling_mode_mean"}:
        return False
    if modes <= {"pooling_mode_cls_token", "pooling_mode_cls"}:
        return True
    raise InputError(
        f"asks for {', '.join(sorted(modes))}; karat pools by mean or by first token",
        place=str(file),
        remedy="Export the model with an output sentence_embedding, or use sbert:FOLDER.",
    )


def _settings(file: Path) -> dict[str, Any]:
    settings = json_in(file) if file.is_file() else {}
    if not isinstance(settings, dict):
        raise InputError("cannot be read as JSON settings", place=str(file))
    return settings
