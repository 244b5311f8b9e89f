"""Freezing: a test set under a version, so that every figure says which questions it is of."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.types import NO_VALUE

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.files import Frozen

_VERSION = re.compile(r"[\w][\w.+-]{0,39}")


@dataclass(frozen=True)
class Freeze:
    """A test set that is frozen: where it and its version stand, and whether it was already."""

    testset: TestSet
    frozen: Frozen
    path: Path
    note: Path
    stood: bool = False


def freeze(
    testset: str | os.PathLike[str],
    version: str,
    *,
    output: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Freeze:
    """Write beside a test set which version it is, with its digest. `output`: of a copy in karat's own JSONL.

    A version names one set of questions for good: another set under the same version is refused, and so is another
    version of the same questions. Earlier versions stay listed with their digests.
    """
    from karat.files import frozen_beside, frozen_path, read_testset, write, write_frozen

    if not _VERSION.fullmatch(version):
        raise UsageError(f"the version {version!r} cannot be. Name it with letters, digits, '.', '-' or '_': 1.0.")
    source = Path(testset)
    questions, _ = read_testset(source, columns=columns)
    target = source if output is None else Path(output)
    before = frozen_beside(source)
    if output is not None:
        refuse_existing(target, frozen_path(target))
    new = frozen_of(questions, version, before)
    if before is not None and before.digest == questions.digest:
        if before.version != version:
            raise UsageError(
                f"{source} is frozen as version {before.version}, and its questions did not change since: the same "
                "questions have one version."
            )
        if output is None:
            return Freeze(questions, before, source, frozen_path(source), stood=True)
    if output is not None:
        write(questions, target, format="canonical", inputs=(source,))
        questions, _ = read_testset(target)
        new = frozen_of(questions, version, before)
    return Freeze(questions, new, target, write_frozen(new, target))


def refuse_existing(*paths: Path) -> None:
    """An error where a file that is to be written exists."""
    for path in paths:
        if path.exists():
            raise UsageError(f"{path} exists, and nothing is overwritten unasked. Name another file with -o.")


def refuse_frozen(path: Path, why: str) -> None:
    """An error where a test set that is frozen would be written anew; `why` ends the sentence."""
    from karat.files import frozen_beside

    frozen = frozen_beside(path)
    if frozen is not None:
        stands = "is" if path.exists() else "was"
        raise UsageError(f"{path} {stands} frozen as version {frozen.version}{why}")


def frozen_of(testset: TestSet, version: str, before: Frozen | None = None) -> Frozen:
    """What is written of a test set under a version; `before` is the version that it follows."""
    from karat.files import Frozen

    earlier = dict(before.earlier) if before is not None else {}
    if before is not None and before.digest != testset.digest:
        earlier[before.version] = before.digest
    if earlier.get(version, testset.digest) != testset.digest:
        raise UsageError(
            f"version {version} names other questions already (digest {earlier[version][:12]}). Name a new version."
        )
    kinds = Counter(q.kind or NO_VALUE for q in testset) if not testset.is_plain else Counter[str]()
    made_by = Counter(text for q in testset if (text := _maker(q.tags)))
    return Frozen(
        version, testset.digest, len(testset), kinds=dict(sorted(kinds.items())),
        made_by=dict(sorted(made_by.items())), earlier=earlier,
    )  # fmt: skip


def _maker(tags: Mapping[str, str]) -> str:
    """How a question was made, as far as its tags say."""
    source, model = tags.get("source", ""), tags.get("model", "")
    return f"{source} by {model}" if source and model else source or model
