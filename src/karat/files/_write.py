"""Write: test sets and results as files, complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from karat.core.errors import UsageError
from karat.files._format import Format, formats
from karat.io.writing import replaced

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.results.evaluation import Taken


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file that takes its place only when it is complete; a name that ends with .gz is packed."""
    with replaced(path) as part, _opened(part) as file:
        yield file


@contextmanager
def _opened(part: Path) -> Iterator[TextIO]:
    if ".gz." not in part.name:
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    import gzip
    import io

    with open(part, "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
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
    """Writes a test set or results and names what the format could not hold.

    The format is the one named, else the one whose ending the path has. `inputs` are files that must not be
    overwritten.
    """
    from karat.core.run import Run
    from karat.core.types import TestSet

    target = Path(path)
    for given in inputs:
        if _same(Path(given), target):
            raise UsageError(f"{path} is the input itself. Name another file to write to.")
    chosen = _chosen(target, "test set" if isinstance(what, TestSet) else "results", format)
    if isinstance(what, TestSet):
        if chosen.write_testset is None:
            raise UsageError(f"the format {chosen.name} cannot be written from a test set. {_choices('test set')}")
        return chosen.write_testset(what, target)
    if chosen.write_results is None:
        raise UsageError(f"the format {chosen.name} cannot be written from results. {_choices('results')}")
    return chosen.write_results([what] if isinstance(what, Run) else list(what), target)


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Taken, str, list[str]]:
    """Writes what one file holds as another: what it was taken for, the format written, and what that cannot hold."""
    from karat.core.types import TestSet
    from karat.files._read import read_any, read_results, read_testset

    what: TestSet | Sequence[Run]
    kinds = [kind for kind in ("test set", "results") if _can_write(Path(target), kind, format)]
    if kinds == ["test set"]:
        what, taken = read_testset(source, columns=columns)
    elif kinds == ["results"]:
        what, taken = read_results(source, columns=columns)
    else:
        what, taken = read_any(source, columns=columns)
    chosen = _chosen(Path(target), "test set" if isinstance(what, TestSet) else "results", format)
    return taken, chosen.name, write(what, target, format=format, inputs=(source,))


def _chosen(path: Path, kind: str, format: str | None) -> Format:
    return formats().get(format) if format is not None else _by_name(path, kind)


def _can_write(path: Path, kind: str, format: str | None) -> bool:
    if format is not None:
        return _writer(formats().get(format), kind) is not None
    return any(_ends(path, entry) for entry in formats() if _writer(entry, kind) is not None)


def _ends(path: Path, entry: Format) -> int:
    """The length of the ending by which the path names the format; 0 when it does not."""
    name = path.name.lower().removesuffix(".gz")
    folder = not path.suffix or path.is_dir()
    fitting = (len(e) for e in entry.endings if (folder if e == "/" else name.endswith(e)))
    return max(fitting, default=0)


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
    found = [(size, entry) for entry in formats() if _writer(entry, kind) and (size := _ends(path, entry))]
    if not found:
        raise UsageError(
            f"{path}: the name does not say which format to write: name it with --to (format=). {_choices(kind)}"
        )
    return max(found, key=lambda pair: pair[0])[1]


def hits_of(run: Run) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each question with its hits in ranked order: id, score and the fields that are known."""
    from karat.core.ranked import ranking

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


def plain(text: str) -> str:
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
    }
    if "answers" not in keeps:
        parts.pop("more answers")
    if "gold" not in keeps:
        del parts["units"], parts["grades"]
    return [name for key, (name, present) in parts.items() if present and key not in keeps]


def lost_of_answers(runs: Sequence[Run]) -> list[str]:
    """Names what else is known of answers that only canonical results keep."""
    answers = [answer for run in runs for answer in run.answers.values()]
    parts = {
        "how sure systems are of their answers": any(a.confidence is not None for a in answers),
        "which hits answers used": any(a.used is not None for a in answers),
    }
    return [name for name, present in parts.items() if present]
