"""Write: test sets and results as files, complete or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from karat.core.errors import InputError, UsageError
from karat.files._format import Format, formats

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file that takes its place only when it is complete; a name that ends with .gz is packed."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _opened(part) as file:
            yield file
        os.replace(part, target)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(f"cannot be written: {reason}", place=str(path), remedy="Choose another place.") from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _opened(part: Path) -> Iterator[TextIO]:
    if ".gz." not in part.name:
        with open(part, "x", encoding="utf-8", newline="\n") as file:
            yield file
        return
    import gzip
    import io

    with open(part, "xb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        text = io.TextIOWrapper(packed, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()


def write(
    what: TestSet | Run | Sequence[Run],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> list[str]:
    """Writes a test set or results and returns, in sentences, what the format could not hold.

    The format is the one named, else the one whose ending the path has. `inputs` are files that must not be
    overwritten.
    """
    from karat.core.run import Run
    from karat.core.types import TestSet

    target = Path(path)
    for given in inputs:
        if _same(Path(given), target):
            raise UsageError(f"{path} is the input itself. Name another file to write to.")
    kind = "test set" if isinstance(what, TestSet) else "results"
    chosen = formats().get(format) if format is not None else _by_name(target, kind)
    if isinstance(what, TestSet):
        if chosen.write_testset is None:
            raise UsageError(f"the format {chosen.name} cannot be written from a test set. {_choices('test set')}")
        return chosen.write_testset(what, target)
    if chosen.write_results is None:
        raise UsageError(f"the format {chosen.name} cannot be written from results. {_choices('results')}")
    return chosen.write_results([what] if isinstance(what, Run) else list(what), target)


def _same(given: Path, target: Path) -> bool:
    try:
        return given.exists() and target.exists() and given.samefile(target)
    except (OSError, ValueError):
        return False


def _writer(entry: Format, kind: str) -> object | None:
    return entry.write_testset if kind == "test set" else entry.write_results


def _choices(kind: str) -> str:
    able = [entry.name for entry in formats() if _writer(entry, kind) is not None]
    return f"Formats for {kind}: {', '.join(able)}."


def _by_name(path: Path, kind: str) -> Format:
    name = path.name.lower().removesuffix(".gz")
    found = [
        (len(ending), entry)
        for entry in formats()
        if _writer(entry, kind) is not None
        for ending in entry.endings
        if name.endswith(ending) or (ending == "/" and (not path.suffix or path.is_dir()))
    ]
    if not found:
        raise UsageError(f"{path}: the name does not say which format to write. Name one. {_choices(kind)}")
    return max(found, key=lambda pair: pair[0])[1]
