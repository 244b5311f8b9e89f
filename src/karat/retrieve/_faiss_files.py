"""Reading the files of a foreign FAISS index: the index itself, and what its vectors are. Never a pickle."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from karat.core.errors import InputError
from karat.io.cells import is_missing
from karat.io.records import JSONError, json_lines, parse_json
from karat.io.source import Source
from karat.retrieve._stored import id_of

_ENDINGS = (".faiss", ".index")
_EXPORT = """import json
from langchain_community.vectorstores import FAISS
store = FAISS.load_local({folder!r}, None, index_name={name!r}, allow_dangerous_deserialization=True)
with open({target!r}, "w", encoding="utf-8") as out:
    for row in range(store.index.ntotal):
        doc = store.docstore.search(store.index_to_docstore_id[row])
        id_ = store.index_to_docstore_id[row]
        entry = {{"id": id_, "page_content": doc.page_content, "metadata": doc.metadata}}
        out.write(json.dumps(entry, default=str) + "\\n")"""


def index_file(path: Path) -> Path:
    """The index that a path names: the file, or the only one in the folder."""
    if path.suffix in (".pkl", ".pickle"):
        raise _pickle(path.with_suffix(".faiss"), path)
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError("there is no such file or folder", place=str(path), remedy="Name a file that FAISS wrote.")
    indexes = sorted(file for file in path.iterdir() if file.suffix in _ENDINGS and file.is_file())
    if len(indexes) != 1:
        names = f" ({', '.join(file.name for file in indexes)})" if indexes else ""
        raise InputError(
            f"the folder holds {len(indexes)} files that end in {' or '.join(_ENDINGS)}{names}",
            place=str(path),
            remedy="Name the file itself.",
        )
    return indexes[0]


def read_index(file: Path) -> Any:
    """The index in a file, after a look at its head: a damaged count would have FAISS ask for any amount of memory."""
    import faiss

    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            head = opened.read(16)
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror}", place=str(file)) from None
    remedy = "Name a file that faiss.write_index wrote."
    kind = head[:4].decode("ascii", "replace")
    if len(head) < 16 or not (kind.startswith("I") and kind.isascii() and kind.isprintable()):
        raise InputError("is not an index of FAISS", place=str(file), remedy=remedy)
    if kind.startswith("IB"):
        raise InputError("is an index of binary vectors, which karat cannot search", place=str(file), remedy=remedy)
    dimension, total = struct.unpack("<iq", head[4:])
    least = total * dimension * 4 if kind in ("IxFI", "IxF2", "IxFl") else total
    if not 0 < dimension <= 1 << 20 or total < 0 or least > size:
        raise InputError(
            f"tells of {total:,} vectors of {dimension:,} numbers, which do not fit into its {size:,} bytes",
            place=str(file),
            remedy="The file is damaged or cut off: copy it again.",
        )
    try:
        index = faiss.read_index(str(file))
    except (RuntimeError, MemoryError) as problem:
        reason = " ".join(str(problem).split())[-200:]
        raise InputError(f"cannot be read as an index of FAISS: {reason}", place=str(file), remedy=remedy) from None
    if index.metric_type not in (faiss.METRIC_INNER_PRODUCT, faiss.METRIC_L2):
        raise InputError(
            f"measures by metric {index.metric_type} of FAISS; karat reads inner product and L2", place=str(file)
        )
    return index


def names_beside(file: Path, total: int) -> Sequence[Mapping[str, Any]] | None:
    """What the vectors are, each with an `id`, from a file beside the index; None where there is none."""
    folder = file.parent
    lines = sorted(folder.glob("*.jsonl"))
    chosen = next((path for path in lines if path.name in ("chunks.jsonl", f"{file.stem}.jsonl")), None)
    if chosen is None and len(lines) > 1:
        raise InputError(
            f"holds several .jsonl files beside the index: {', '.join(path.name for path in lines)}",
            place=str(folder),
            remedy="Call the one with the chunks, in the order of the vectors, chunks.jsonl.",
        )
    chosen = chosen or next((f for f in (*lines, folder / "ids.json", folder / "ids.txt") if f.is_file()), None)
    if chosen is None:
        pickled = file.with_suffix(".pkl")
        if pickled.exists():
            raise _pickle(file, pickled)
        return None
    records = _read(chosen)
    if len(records) != total:
        raise InputError(
            f"has {len(records):,} entries, the index {file.name} beside it {total:,} vectors",
            place=str(chosen),
            remedy="One entry for each vector, in their order, is needed: export it again, or take it away.",
        )
    seen: dict[str, int] = {}
    for row, record in enumerate(records, 1):
        if is_missing(record["id"]):
            raise InputError("has no id", place=str(chosen), row=row, remedy="Name every vector, in their order.")
        if seen.setdefault(record["id"], row) != row:
            raise InputError(
                f"the id {record['id']!r} stands at {seen[record['id']]} already", place=str(chosen), row=row
            )
    return records


def _read(file: Path) -> list[Mapping[str, Any]]:
    source = Source(file)
    if file.suffix == ".txt":
        return [{"id": line} for _, line in source.lines()]
    if file.suffix == ".json":
        return _ids(source)

    def refuse(row: int | None, problem: str, remedy: str) -> NoReturn:
        raise source.error(problem, row=row, remedy=remedy)

    records: list[Mapping[str, Any]] = []
    for row, record in json_lines(source.lines(), refuse):
        id_ = id_of(record)
        if id_ is None:
            refuse(row, "has no id", 'Give each object an "id".')
        records.append({**record, "id": id_})
    return records


def _ids(source: Source) -> list[Mapping[str, Any]]:
    """A list of ids, or an object from the number of each vector to its id."""
    try:
        ids = parse_json(source.text())
    except JSONError as error:
        raise source.error(error.problem, row=error.row, remedy=error.remedy) from None
    if isinstance(ids, dict) and set(ids) == {str(row) for row in range(len(ids))}:
        ids = [ids[str(row)] for row in range(len(ids))]
    if not isinstance(ids, list) or not all(type(id_) in (str, int) for id_ in ids):
        raise source.error("is not a list of ids", remedy='Write ["first id", "second id", ...].')
    return [{"id": str(id_)} for id_ in ids]


def _pickle(file: Path, pickled: Path) -> InputError:
    target = str(file.with_name("chunks.jsonl"))
    export = _EXPORT.format(folder=str(file.parent), name=file.stem, target=target)
    return InputError(
        "is a pickle, as LangChain saves it; opening one can run any code, so karat never does",
        place=str(pickled),
        remedy=f"If you trust it, run this where LangChain is installed, then try again:\n\n{export}\n",
    )
