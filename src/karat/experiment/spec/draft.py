"""A first karat.yaml for documents and questions: looked at, then written with a comment to every choice."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import InputError, UsageError
from karat.core.writing import write_whole
from karat.experiment.spec.presets import PRESETS

if TYPE_CHECKING:
    from karat.core.evaluation import Taken
    from karat.core.types import TestSet
    from karat.retrieve import Progress

_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ ()-]*[A-Za-z0-9_./()]|[A-Za-z_./]")
_FEW = 20  # values of a tag that is still worth a table


@dataclass(frozen=True)
class Draft:
    """A karat.yaml that was written, and what was seen on the way, in sentences."""

    path: Path
    said: tuple[str, ...]


def write_spec(
    docs: str | os.PathLike[str],
    testset: str | os.PathLike[str],
    output: str | os.PathLike[str] = "karat.yaml",
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Draft:
    """Look at documents (or an index) and a test set, and write a karat.yaml for them; none is overwritten unasked."""
    from karat.files import read_testset

    path = Path(output)
    if path.is_dir():
        path = path / "karat.yaml"
    if path.exists() and not force:
        raise UsageError(f"{path} exists. Name another file with -o, or replace it with --force.")
    if not Path(testset).exists() and Path(docs).exists():
        raise InputError("does not exist", place=str(testset), remedy="Name a file of questions.")
    questions, taken = read_testset(testset)
    if not len(questions):
        raise InputError("holds no questions", place=str(testset), remedy="Add some.")
    key, held, problems = _looked(Path(docs), progress)
    text = _text(path, Path(docs), Path(testset), key, held, questions, taken)
    write_whole(path, text)
    seen = [
        f"{taken.place}: taken for {taken.format}: {taken.what}",
        *(f"  {note}" for note in taken.notes),
        f"{docs}: {held}",
        *problems,
    ]
    return Draft(path, tuple(seen))


def _looked(docs: Path, progress: Progress | None) -> tuple[str, str, list[str]]:
    """The key to name documents by, what they are in words, and what could not be read."""
    from karat.experiment.index import Index

    if (docs / "index.json").is_file():
        index = Index.open(docs)
        return "index", "an index of {docs:,} documents, {chunks:,} chunks".format(**index.about["corpus"]), []
    from karat.corpus import read

    reading = read(docs, progress=progress or (lambda what, done, total: None))
    pages = sum(len(doc.pages) for doc in reading.docs)
    count = len(reading.docs)
    held = f"{count:,} document{'' if count == 1 else 's'}" + (f", {pages:,} pages" if pages else "")
    lost = [str(problem) for problem in reading.problems if problem.fatal]
    more = [f"... and {len(lost) - 5} more that cannot be read."] if len(lost) > 5 else []
    return "corpus", held, [*lost[:5], *more]


def _text(path: Path, docs: Path, testset: Path, key: str, held: str, questions: TestSet, taken: Taken) -> str:
    slices = _slices(questions)
    lines = [
        "# An experiment: which of these systems finds the gold of these questions best?",
        "# Run it with: karat run. docs/karat-yaml.md explains every key; `karat schema` prints the JSON Schema.",
        "",
        f"name: {_scalar(_name(testset))}",
        f"{key}: {_path(docs, path)}  # {held}",
        f"testset: {_path(testset, path)}  # {taken.format}: {_comment(taken.what)}",
        "",
    ]
    if key == "corpus":
        lines += [
            "# How documents are cut, and what makes vectors of the chunks. A list of either is swept.",
            "chunk: tokens:200:40",
            "embedder: wordllama",
            "",
        ]
    lines += ["# What is compared. Presets fuse vectors and BM25; alpha is the weight of the vectors.", "systems:"]
    width = max(map(len, PRESETS))
    for preset in PRESETS.values():
        alpha = dict(preset.settings).get("alpha")
        what = f"alpha {alpha:g}. " if alpha is not None else ""
        lines.append(f"  - {preset.name:<{width}}  # {what}{preset.use_case}")
    lines += [
        "  # - engine: hybrid           # a hybrid of your own",
        "  #   alpha: 0.6",
        "  # - call: my_search:search   # a function: search(question, k) returns ids",
        "  # - results: results.jsonl   # what another system returned",
        "",
        "# Every alpha in steps of .1 as well, at no further search:",
        "# sweep: {alpha: 0:1:0.1}",
        "",
        "k: [1, 3, 5, 10]  # cut-offs",
        "main: F1@5  # what systems are ranked by",
    ]
    if slices:
        first = ["kind"] if "kind" in slices else slices[:1]
        rest = [_scalar(_comment(name)) for name in slices if name not in first]
        more = f"; there are also {', '.join(rest)}" if rest else ""
        lines.append(f"by: [{', '.join(map(_scalar, first))}]  # slices, a table for each{more}")
    if taken.format in ("healthcare", "hybrid_rag", "liverag", "rag_benchmark", "momento"):
        lines.append(f"# dialect: {taken.format.replace('_', '-')}  # count as that document does")
    lines += ["seed: 0", ""]
    return "\n".join(lines)


def _slices(questions: TestSet) -> list[str]:
    """Kind, and tags of few values, that divide the questions."""
    found = []
    for name in questions.slices:
        values = {q.slice_value(name) for q in questions}
        if name == "kind" or (1 < len(values) <= _FEW and name != "answerable"):
            found.append(name)
    return found[:5]


def _name(testset: Path) -> str:
    """A name for the experiment that can be part of a folder's."""
    stem = testset.name.split(".")[0]
    return re.sub(r"[^\w-]+", "-", stem).strip("-")[:60] or "experiment"


def _path(target: Path, spec: Path) -> str:
    """A path from the folder of karat.yaml, as a YAML text that the environment does not touch."""
    try:
        text = Path(os.path.relpath(target, spec.parent)).as_posix()
    except ValueError:
        text = target.absolute().as_posix()
    return _scalar(text.replace("${", "$${"))


def _scalar(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and not re.fullmatch(r"[-+.\deE]+|true|false|null|~", text, re.IGNORECASE)
    return text if plain else json.dumps(text)


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:200]
