"""Dataset folders: splits and files of datasets on disk as Hugging Face's datasets, BEIR and MTEB lay them out.

`FOLDER#SPLIT` names a split. Nothing in a folder is run: the scripts of a dataset are neither read nor imported.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.core.errors import InputError, did_you_mean
from karat.core.text.words import plural
from karat.io.opening import first_bytes, read_whole, refusing

IR_DATASETS = "irds:"
"""What the name of a dataset of ir_datasets begins with."""

_DICT, _STATE, _INFO = "dataset_dict.json", "state.json", "dataset_info.json"
_OWN = frozenset({_DICT, _STATE, _INFO, "dataset_infos.json"})
_TABLES = frozenset({"arrow", "csv", "json", "jsonl", "ndjson", "parquet", "tsv"})
_SHARD = re.compile(r"[-_.]\d+-of-(\d+)$")
_SPLITS = frozenset({"train", "test", "dev", "validation", "valid", "val", "eval"})
_QRELS = ("qrels", "default", "data")  # MTEB keeps judgements as its default configuration
_META_LIMIT = 16 << 20
_MOST_FILES = 100_000
_MOST_NAMED = 12
_POINTER = b"version https://git-lfs.github.com/spec/"

Splits = dict[str, tuple[Path, ...]]
"""The files of each split, in their order; the name is empty where a folder holds one split that it does not name."""


@dataclass(frozen=True)
class Selection:
    """The files of one split of a folder, and a sentence on what was chosen and what was left."""

    split: str
    files: tuple[Path, ...]
    note: str


def split_named(path: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """A path, and the split that it names: `FOLDER#SPLIT`, unless a file is called so."""
    text = os.fspath(path)
    folder, mark, split = text.rpartition("#")
    if mark and folder and "\0" not in text and not os.path.exists(text) and os.path.isdir(folder):
        return Path(folder), split
    return Path(text), None


def is_dataset_id(path: str | os.PathLike[str]) -> bool:
    """Whether this names a dataset of ir_datasets, and no file."""
    return os.fspath(path).startswith(IR_DATASETS)


def source_exists(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file or folder of this name, or of the name before the split; ids are looked up later."""
    return is_dataset_id(path) or split_named(path)[0].exists()


def selected_split(folder: Path, wanted: str | None) -> Selection | None:
    """The split of a dataset that is read as a test set or results; None: the folder is laid out otherwise."""
    if retrieval_parts(folder) is not None:
        return None
    if splits := _splits_of(folder, wanted is not None):
        return choose(folder, splits, wanted, "test", ignored(folder))
    if wanted is not None:
        raise _no_splits(folder, wanted)
    return None


def selected_corpus(folder: Path, wanted: str | None) -> Selection | None:
    """The files of a dataset that hold its documents; None: all that the folder holds is read."""
    splits = _saved_splits(folder)
    if not splits and (folder / "corpus").is_dir() and (wanted is not None or retrieval_parts(folder) is not None):
        splits, wanted = _splits_of(folder / "corpus", True), None if wanted == "corpus" else wanted
    if not splits and wanted is not None:
        splits = _splits_of(folder, True)
    if splits:
        return choose(folder, splits, wanted, "corpus", ignored(folder))
    if wanted is not None:
        raise _no_splits(folder, wanted)
    return None


def retrieval_parts(folder: Path) -> tuple[Splits, Splits] | None:
    """Queries and judgements by split, of a folder that keeps them apart; None: it does not."""
    queries = _part(folder, "queries")
    if not queries:
        return None
    for name in _QRELS:
        if (folder / name).is_dir() and (qrels := _splits_of(folder / name, True)):
            return queries, qrels
    return None


def choose(folder: Path, splits: Splits, wanted: str | None, usual: str, left: Sequence[str] = ()) -> Selection:
    """The split that is wanted; else the only one, else the usual one, else an error that lists them."""
    names = list(splits)
    shown = ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" if names[_MOST_NAMED:] else "")
    if wanted is not None and wanted not in splits:
        has = f"Splits: {shown}." if any(names) else "It holds one split, without a name: leave the # out."
        raise InputError(
            f"has no split {wanted!r}", place=str(folder), remedy=f"{did_you_mean(wanted, names)} {has}".strip()
        )
    name = wanted if wanted is not None else names[0] if len(names) == 1 else usual
    if name not in splits:
        raise InputError(
            f"holds {plural(len(names), 'split')} ({shown}), none of them called {usual}",
            place=str(folder),
            remedy=f"Say which: {folder}#{names[0]}",
        )
    files = splits[name]
    if not files:
        remedy = "Name another split, or save or copy the dataset again."
        raise InputError(f"holds no rows{f' in split {name!r}' if name else ''}", place=str(folder), remedy=remedy)
    for file in files:
        _check_inside(folder, file)
        _refuse_pointer(file)
    _check_complete(folder, name, files)
    others = [other for other in names if other != name]
    parts = [f"split {name}" if name else ""]
    parts += [plural(len(files), "file")] if len(files) > 1 else []
    parts += [f"not read: {', '.join([*others, *left][:_MOST_NAMED])}"] if others or left else []
    return Selection(name, files, "; ".join(filter(None, parts)))


def ignored(folder: Path) -> list[str]:
    """What of a dataset is never read: scripts, and what a benchmark keeps beside its questions."""
    names = sorted(entry.name for entry in folder.iterdir())
    scripts = [f"{name} (a script, not run)" for name in names if name.endswith(".py")]
    return [*scripts, *(name for name in names if name.split(".")[0] in ("instructions", "instruction", "top_ranked"))]


def _part(folder: Path, name: str) -> Splits:
    """A part of a retrieval dataset: a folder of splits, or one file."""
    if (folder / name).is_dir():
        return _splits_of(folder / name, True)
    files = [path for path in _files(folder) if path.name.split(".")[0] == name]
    return {"": (files[0],)} if files else {}


def _splits_of(folder: Path, any_name: bool) -> Splits:
    """The splits of a folder that was saved, or of files that are named by them; `any_name`: whatever these are."""
    if saved := _saved_splits(folder):
        return saved
    listed = [_files(place) for place in (folder, folder / "data") if place.is_dir()]
    named = [files for files in listed if files and all(map(_names_split, files))]
    for files in named or (filter(None, listed) if any_name else ()):
        splits: dict[str, list[Path]] = {}
        for path in files:
            splits.setdefault(_stem(path), []).append(path)
        return {name: tuple(paths) for name, paths in splits.items()}
    return {}


def _saved_splits(folder: Path) -> Splits:
    """The splits of a folder that `save_to_disk` wrote; empty where it did not."""
    if (folder / _DICT).is_file():
        names = _json(folder / _DICT).get("splits")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise _damaged(folder / _DICT, 'its "splits" is no list of names')
        return {name: _saved(_child(folder, name, _DICT)) for name in names}
    if (folder / _STATE).is_file() and (folder / _INFO).is_file():
        split = _json(folder / _STATE).get("_split")
        return {split if isinstance(split, str) else "": _saved(folder)}
    return {}


def _saved(folder: Path) -> tuple[Path, ...]:
    """The files of a dataset, as its state lists them; none where it has no rows or is not there."""
    if not (folder / _STATE).is_file():
        return ()
    state = _json(folder / _STATE)
    listed = state.get("_data_files")
    entries = listed if isinstance(listed, list) else [None]
    names = [one.get("filename") if isinstance(one, Mapping) else None for one in entries]
    if len(names) > _MOST_FILES or not all(isinstance(name, str) for name in names):
        raise _damaged(folder / _STATE, 'its "_data_files" is no list of files')
    if state.get("_indices_data_files"):
        raise InputError(
            "selects rows by a file of indices, as datasets did before 2.0",
            place=str(folder),
            remedy="Save it again with a newer version of datasets.",
        )
    return tuple(_child(folder, str(name), _STATE) for name in names)


def _child(folder: Path, name: str, source: str) -> Path:
    """What stands directly in a folder; a name that leads elsewhere is refused."""
    if name in ("", ".", "..") or "\0" in name or Path(name).name != name or "\\" in name:
        raise InputError(
            f"names {name[:80]!r}, which leads out of the folder", place=str(folder / source), remedy="Do not trust it."
        )
    return folder / name


def _check_inside(folder: Path, path: Path) -> None:
    """A file must be there and in the folder; a link may lead to the blobs of a download cache that holds both."""
    if not path.is_file():
        raise InputError("is missing", place=str(path), remedy="Save, copy or download the dataset again.")
    top, real = Path(os.path.realpath(folder)), Path(os.path.realpath(path))
    home = next((parent.parent for parent in (top, *top.parents) if parent.parent.name == "snapshots"), None)
    if real.is_relative_to(top) or (home is not None and real.is_relative_to(home.parent / "blobs")):
        return
    raise InputError("is a link that leads out of the folder", place=str(path), remedy="Copy the file into the folder.")


def _files(folder: Path) -> list[Path]:
    """The tables that stand directly in a folder, by name."""
    paths = [Path(entry.path) for entry in os.scandir(folder) if not entry.name.startswith(".")]
    tables = [path for path in paths if _ending(path) in _TABLES and path.name not in _OWN and path.is_file()]
    return sorted(tables, key=lambda path: os.fsencode(path.name))


def _ending(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").rpartition(".")[2]


def _without_endings(path: Path) -> str:
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return name.rpartition(".")[0]


def _stem(path: Path) -> str:
    """A file's name without endings and the number of its shard."""
    return _SHARD.sub("", _without_endings(path))


def _names_split(path: Path) -> bool:
    """Whether a file is called as a split is, or as a numbered part of one."""
    return _stem(path) in _SPLITS or _SHARD.search(_without_endings(path)) is not None


def _check_complete(folder: Path, split: str, files: Sequence[Path]) -> None:
    """Files that say how many they are must be so many: a download that ended early is no dataset."""
    told = {int(found[1]) for path in files if (found := _SHARD.search(_without_endings(path)))}
    if told and told != {len(files)}:
        problem = f"holds {len(files)} of {max(told)} files{f' of split {split!r}' if split else ''}"
        raise InputError(problem, place=str(folder), remedy="Save, copy or download the dataset again.")


def _json(path: Path) -> Mapping[str, Any]:
    with refusing(path):
        data = read_whole(path, _META_LIMIT)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise _damaged(path, str(problem)[:120]) from None
    if not isinstance(document, dict):
        raise _damaged(path, "it is no object")
    return document


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"cannot be read: {what}", place=str(path), remedy="Save or download the dataset again.")


def _no_splits(folder: Path, wanted: str) -> InputError:
    inside = ", ".join(sorted(entry.name for entry in folder.iterdir())[:6]) or "nothing"
    return InputError(
        f"has no splits, and so none called {wanted!r} (it holds {inside})",
        place=str(folder),
        remedy="Name a folder of datasets, BEIR or MTEB, or leave the # out.",
    )


def _refuse_pointer(file: Path) -> None:
    with refusing(file):
        if first_bytes(file, len(_POINTER)) != _POINTER:
            return
    raise InputError("is a pointer of Git LFS, not the file", place=str(file), remedy="Fetch it: git lfs pull")
