"""Provenance: where a run comes from, down to the bytes of what its systems read."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.loading import file_of
from karat.retrieve.rewrite import needs_of
from karat.systems.indexes import digest_of
from karat.systems.outside import CallSettings
from karat.systems.settings import CHAT, SystemSettings

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.experiment.spec import Listed, Spec
    from karat.systems.index import Index

PACKAGES = ("numpy", "polars", "faiss-cpu", "PyStemmer", "wordllama")


def manifest_of(spec: Spec, testset: TestSet, indexes: Sequence[Index], command: Sequence[str]) -> dict[str, Any]:
    """What a run's manifest begins with; `digest` stands for the whole work."""
    from importlib.metadata import version

    read = {one.name: list(_read_by(one)) for one in spec.systems()}
    inputs: dict[str, Any] = {
        "testset": {"path": spec.keys.testset, "digest": testset.digest, "questions": len(testset)},
        "indexes": [{"path": str(index.path), "generation": str(index.about["generation"])} for index in indexes],
        "systems": {name: digest_of(paths) for name, paths in read.items() if paths},
        **({"answer": digest_of(answering)} if (answering := list(_read_by_answerer(spec))) else {}),
    }
    whole = {"karat": version("karat"), "spec": spec.digest, "inputs": inputs}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True)
    inputs["testset"]["file"] = str(spec.path(spec.keys.testset))  # no part of the digest, as where the run was started
    if testset.version is not None:  # no part of the digest: a run that was stopped before the freeze goes on
        inputs["testset"]["version"] = testset.version
    return {
        "karat": version("karat"),
        "command": list(command),
        "spec": spec.plain(),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "inputs": inputs,
        "seed": spec.keys.seed,
        "machine": {
            "python": sys.version.split()[0],
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count(),
            "packages": {name: version(name) for name in PACKAGES},
        },
    }


def _read_by(one: Listed) -> Iterator[Path]:
    """The files and folders that a system reads: results, the file of a function, lists of rewriters, a reranker."""
    source = one.source
    if isinstance(source, SystemSettings):
        targets = [text.partition(":")[2] for text in source.rewrite if not needs_of(text)]
        targets += [source.rerank] if source.rerank and source.rerank != CHAT else []
        yield from (Path(target) for target in targets if target)
    elif isinstance(source, CallSettings):
        file = file_of(source.target, source.folder)
        if file is not None:
            yield file
    elif path := getattr(source, "path", None):
        yield path


def _read_by_answerer(spec: Spec) -> Iterator[Path]:
    """The files that an answerer reads: its prompt, the file of a function."""
    answer = spec.keys.answer
    if answer is None:
        return
    if answer.prompt is not None:
        yield spec.path(answer.prompt)
    kind, _, target = answer.by.partition(":")
    file = file_of(target, spec.folder) if kind == "call" else None
    if file is not None:
        yield file
