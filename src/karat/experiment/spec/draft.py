"""A first karat.yaml for documents and questions: looked at, then written with a comment to every choice."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import InputError, UsageError
from karat.core.text.words import plural
from karat.experiment.spec import FILE, Spec, load_spec, spec_of
from karat.experiment.spec.presets import PRESETS
from karat.io.dataset_folder import source_exists
from karat.io.writing import write_whole
from karat.systems.index_folder import is_index

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.results.evaluation import InputInfo
    from karat.retrieve import Progress

_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ ()-]*[A-Za-z0-9_./()]|[A-Za-z_./]")
_FEW = 20  # values of a tag that is still worth a table


@dataclass(frozen=True)
class SpecDraft:
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
) -> SpecDraft:
    """Look at documents (or an index) and a test set, and write a karat.yaml for them; none is overwritten unasked."""
    path = Path(output)
    if path.is_dir():
        path = path / "karat.yaml"
    if path.exists() and not force:
        raise UsageError(f"{path} exists. Name another file with -o, or replace it with --force.")
    questions, taken = _questions(Path(docs), Path(testset))
    held, problems = _looked(Path(docs), progress)
    write_whole(path, _text(path, Path(docs), Path(testset), held, questions, taken))
    seen = [
        f"{taken.place}: {taken.read_as}",
        *(f"  {note}" for note in taken.notes),
        f"{docs}: {held}",
        *problems,
    ]
    return SpecDraft(path, tuple(seen))


def is_spec(source: str | os.PathLike[str]) -> bool:
    """Whether a path names a karat.yaml, or the folder that holds one, and not documents."""
    path = Path(source)
    return (path.suffix.lower() in (".yaml", ".yml") and not path.is_dir()) or (path / FILE).is_file()


def spec_for(
    source: str | os.PathLike[str] | Spec,
    testset: str | os.PathLike[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> Spec:
    """The experiment of a karat.yaml, or of the folder that holds one; else that of documents and a test set.

    The latter is what `karat init` would write for them, and nothing is written; `columns` are those of the test set.
    """
    path = None if isinstance(source, Spec) else Path(source)
    if path is None or is_spec(path):
        if testset is not None:
            raise UsageError(
                f"{path or 'the experiment'} names its own test set, and {testset} is given too. Leave that out, or "
                "name the folder of the documents alone."
            )
        return source if isinstance(source, Spec) else load_spec(source)
    if testset is None:
        what = f"is no .yaml file and holds no {FILE}" if path.exists() else "does not exist"
        raise UsageError(
            f"{path} {what}. To compare systems on documents give a test set too: karat run DOCS TESTSET. "
            f"`karat testset make` makes one from an index, `karat run DOCS` makes one and scores it."
        )
    if not isinstance(testset, str | os.PathLike):
        raise UsageError(f"the test set of a run is a file, not a {type(testset).__name__}: name its path.")
    questions, taken = _questions(path, Path(testset), columns)
    text = _text(Path(FILE), path, Path(testset), "", questions, taken)
    spec = spec_of(text, place=f"karat run {path} {testset}, key")
    return replace(spec, written=replace(spec.written, lines={}))  # nobody has a file with these lines


def _questions(docs: Path, testset: Path, columns: Mapping[str, str] | None = None) -> tuple[TestSet, InputInfo]:
    """The questions of a test set; documents and questions must be there."""
    from karat.files import read_testset

    for path, what in ((docs, "a folder or file of documents"), (testset, "a file of questions")):
        if not source_exists(path):
            raise InputError("does not exist", place=str(path), remedy=f"Name {what}.")
    questions, taken = read_testset(testset, columns=columns)
    if not len(questions):
        raise InputError("holds no questions", place=str(testset), remedy="Add some.")
    return questions, taken


def _looked(docs: Path, progress: Progress | None) -> tuple[str, list[str]]:
    """What documents are in words, and what of them could not be read."""
    if is_index(docs):
        from karat.systems.index import Index

        return "an index of {docs:,} documents, {chunks:,} chunks".format(**Index.open(docs).about["corpus"]), []
    from karat.corpus import read

    reading = read(docs, progress=progress or (lambda what, done, total: None))
    pages = sum(len(doc.pages) for doc in reading.docs)
    count = len(reading.docs)
    held = plural(count, "document") + (f", {plural(pages, 'page')}" if pages else "")
    lost = [str(problem) for problem in reading.problems if problem.fatal]
    more = [f"... and {len(lost) - 5} more that cannot be read."] if len(lost) > 5 else []
    return held, [*lost[:5], *more]


def _text(path: Path, docs: Path, testset: Path, held: str, questions: TestSet, taken: InputInfo) -> str:
    slices, key = _slices(questions), "index" if is_index(docs) else "corpus"
    lines = [
        "# An experiment: which of these systems finds the gold of these questions best?",
        "# Run it with: karat run. docs/reference/karat-yaml.md has every key, `karat init --schema` the schema.",
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
            "# embedder: wordllama  # by the language of the documents unless given",
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
        "main: Recall@5  # what systems are ranked by",
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
    slices = []
    for name in questions.slices:
        values = {q.slice_value(name) for q in questions}
        if name == "kind" or (1 < len(values) <= _FEW and name != "answerable"):
            slices.append(name)
    return slices[:5]


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
