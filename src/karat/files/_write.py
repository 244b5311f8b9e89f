"""Write: test sets and results as files, complete or not at all."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from karat.core.errors import UsageError
from karat.core.ranked import ranking
from karat.core.run import Run
from karat.core.text.words import plural
from karat.core.types import TestSet
from karat.files._format import KINDS, Format, Kind, formats
from karat.files._read import read_any, read_results, read_testset
from karat.files._redact import Redactor
from karat.io.writing import replaced
from karat.results.evaluation import InputInfo


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file that takes its place only when it is complete; a name that ends with .gz is packed."""
    with replaced(path) as part, open(part, "wb") as raw:
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if str(path).endswith(".gz") else raw
        with packed, io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as file:
            yield file


def write_lines(path: str | os.PathLike[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """JSONL, an object a line."""
    with written(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write(
    what: TestSet | Run | Sequence[Run],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> list[str]:
    """Writes a test set or results and names what the format could not hold.

    The format is the one named, else the one whose ending the path has. `inputs` are files that must not be
    overwritten.
    """
    target = Path(path)
    if any(os.path.exists(given) and target.exists() and target.samefile(given) for given in inputs):
        raise UsageError(f"{path} is the input itself. Name another file to write to.")
    writer = _format_for(target, _kind(what), format).writer(_kind(what))
    assert writer is not None
    return writer(what if isinstance(what, TestSet) else [what] if isinstance(what, Run) else list(what), target)


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    redact: Sequence[str] = (),
) -> tuple[InputInfo, str, list[str]]:
    """Writes what one file holds as another: what it was taken for, the format written, and what that cannot hold.

    What the patterns of `redact` find is replaced first; see Redactor.
    """
    redactor = Redactor(redact)
    kinds = [kind for kind in KINDS if _fitting(Path(target), kind, format)]
    what: TestSet | list[Run]
    if kinds == ["testset"]:
        what, taken = read_testset(source, columns=columns)
    elif kinds == ["results"]:
        what, taken = read_results(source, columns=columns)
    else:
        what, taken = read_any(source, columns=columns)
    what = redactor.redacted_testset(what) if isinstance(what, TestSet) else redactor.redacted_runs(what)
    written_as = _format_for(Path(target), _kind(what), format).name
    lost = write(what, target, format=format, inputs=(source,))
    return replace(taken, notes=(*taken.notes, *redactor.notes())), written_as, lost


def _kind(what: TestSet | Run | Sequence[Run]) -> Kind:
    return "testset" if isinstance(what, TestSet) else "results"


def _fitting(path: Path, kind: Kind, format: str | None) -> list[tuple[int, Format]]:
    """The formats that can be written there: the one named, or those whose ending the path has, with its length."""
    able = [entry for entry in (formats() if format is None else [formats().get(format)]) if entry.writer(kind)]
    if format is not None:
        return [(0, entry) for entry in able]
    name, is_folder = path.name.lower().removesuffix(".gz"), not path.suffix or path.is_dir()
    endings = ((ending, entry) for entry in able for ending in entry.endings)
    return [(len(end), entry) for end, entry in endings if (is_folder if end == "/" else name.endswith(end))]


def _format_for(path: Path, kind: Kind, format: str | None) -> Format:
    fitting = _fitting(path, kind, format)
    if fitting:
        return max(fitting, key=lambda pair: pair[0])[1]
    problem = f"the format {format} cannot be written from {KINDS[kind]}."
    if format is None:
        problem = f"{path}: the name does not say which format to write: name it with --to (format=)."
    able = ", ".join(entry.name for entry in formats() if entry.writer(kind))
    raise UsageError(f"{problem} Formats for {KINDS[kind]}: {able}.")


def hits_of(run: Run) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each question with its hits in ranked order: id, score and the fields that are known."""
    docs = run.doc_list
    order = ranking(run).tolist() if run.order == "score" else range(len(docs))
    scores = None if run.scores is None else run.scores.tolist()
    bounds = dict(zip(run.question_ids, zip(run.offsets.tolist(), run.offsets[1:].tolist(), strict=False), strict=True))
    for qid in run.asked:
        hits = []
        begin, end = bounds.get(qid, (0, 0))
        for index in order[begin:end]:
            hit: dict[str, Any] = {"id": docs[index]}
            if scores is not None:
                hit["score"] = scores[index]
            for name, column in run.fields.items():
                if column[index] is not None:
                    hit[name] = column[index]
            hits.append(hit)
        yield qid, hits


def rows_of(runs: Sequence[Run]) -> Iterator[tuple[Run, str, list[dict[str, Any]], dict[str, Any]]]:
    """Each question of each system with its hits, and what a row says in any format: the system, and a failure."""
    for run in runs:
        for qid, hits in hits_of(run):
            row: dict[str, Any] = {"system": run.name} if len(runs) > 1 else {}
            yield run, qid, hits, row | ({"status": "failed", "error": run.failed[qid]} if qid in run.failed else {})


def contexts_of(run: Run, qid: str, hits: list[dict[str, Any]]) -> list[str]:
    """The texts that an answer was given, or those of the hits."""
    answer = run.answers.get(qid)
    if answer is not None and answer.contexts is not None:
        return list(answer.contexts)
    return [hit["text"] for hit in hits if "text" in hit]


class PlainIds:
    """Ids as formats with blanks between values can hold them, `_` for each blank; counts the rows that changed."""

    def __init__(self) -> None:
        self.renamed = 0

    def of(self, qid: str, docs: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The question with each of its documents; two documents that would be called the same are refused."""
        originals: dict[str, str] = {}
        for doc in docs:
            names = without_blanks(qid), without_blanks(doc)
            if originals.setdefault(names[1], doc) != doc:
                raise UsageError(
                    f"question {qid!r}: {originals[names[1]]!r} and {doc!r} are the same id once blanks are replaced. "
                    "Rename one of them, or write another format."
                )
            self.renamed += names != (qid, doc)
            yield names

    def lost(self) -> list[str]:
        """What is lost of the ids."""
        return [f"blanks in ids (written as _ in {plural(self.renamed, 'row')})"] if self.renamed else []


def without_blanks(text: str) -> str:
    """An id as a format with blanks between its values can hold it: `_` for each blank."""
    return "".join("_" if letter.isspace() else letter for letter in text)


def lost_of(testset: TestSet, *, keeps: Sequence[str] = ()) -> list[str]:
    """Names the parts of a test set that a format does not keep."""
    parts = {
        "texts": ("the texts of the questions", any(q.text for q in testset)),
        "answers": ("reference answers", any(q.answers for q in testset)),
        "more answers": ("all reference answers but the first", any(len(q.answers) > 1 for q in testset)),
        "kinds": ("kinds", any(q.kind is not None for q in testset)),
        "tags": ("tags", any(q.tags for q in testset)),
        "grades": ("grades", any(g.grade != 1 for q in testset for g in q.gold)),
        "answerable": ("which questions are unanswerable", not all(q.answerable for q in testset)),
        "units": (
            "what the gold is (documents, pages, quotes): its plain names are written",
            not testset.is_plain and any(g.id is None for q in testset for g in q.gold),
        ),
        "gold": ("the gold", any(q.gold for q in testset)),
        "nuggets": ("nuggets", any(q.nuggets for q in testset)),
        "excluded": ("excluded documents", any(q.excluded for q in testset)),
        "history": ("earlier turns of conversations", any(q.history for q in testset)),
        "turns": (
            "which conversation questions are of, and at which turn",
            any(q.conversation is not None or q.turn is not None for q in testset),
        ),
    }
    if "answers" not in keeps:
        parts.pop("more answers")
    if "gold" not in keeps:
        del parts["units"], parts["grades"]
    return [name for key, (name, present) in parts.items() if present and key not in keeps]


def lost_of_results(runs: Sequence[Run], *, keeps: Sequence[str] = ()) -> list[str]:
    """Names the parts of results, beside ids, texts and answers, that a format does not keep."""
    answers = [answer for run in runs for answer in run.answers.values()]
    parts = {
        "scores": ("scores (the order of the hits is kept)", any(run.scores is not None for run in runs)),
        "fields": ("pages, URLs and further fields of the hits", any(set(run.fields) - {"text"} for run in runs)),
        "seconds": ("seconds", any(a.seconds for a in answers)),
        "spent": ("tokens and cost", any(a.tokens is not None or a.cost_usd is not None for a in answers)),
        "confidence": ("how sure systems are of their answers", any(a.confidence is not None for a in answers)),
        "used": ("which hits answers used", any(a.used is not None for a in answers)),
        "steps": ("steps", any(run.steps for run in runs)),
    }
    return [name for key, (name, present) in parts.items() if present and key not in keeps]
