"""beir: a folder with queries.jsonl and qrels/*.tsv; the corpus beside them is not read here."""

from __future__ import annotations

import json
from pathlib import Path

from karat.core.types import Gold, Question, TestSet
from karat.files import _cells
from karat.files._cells import CellError
from karat.files._format import Fit, Format, Kind
from karat.files._look import Look
from karat.files._qrels import read_judgements
from karat.files._testset import refuse_double, testset_of
from karat.files._write import lost_of, written
from karat.io.formulas import cell
from karat.results.evaluation import Taken

_SPLITS = ("test", "dev", "validation", "train")


def _qrels(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "qrels").glob("*.tsv*") if path.is_file())


def _queries(folder: Path) -> Path | None:
    return next((p for name in ("queries.jsonl", "queries.jsonl.gz") if (p := folder / name).is_file()), None)


def _sniff(look: Look, kind: Kind) -> Fit | None:
    if kind != "testset" or look.folder is None or _queries(look.folder) is None or not _qrels(look.folder):
        return None
    return Fit(0.97, "queries.jsonl and qrels/*.tsv")


def _choose(paths: list[Path]) -> Path:
    """The qrels to read: test before dev before train, else the first by name."""
    stems = {path.name.split(".")[0]: path for path in paths}
    return next((stems[split] for split in _SPLITS if split in stems), paths[0])


def _read_testset(look: Look) -> tuple[TestSet, Taken]:
    folder = look.folder
    queries = None if folder is None else _queries(folder)
    if folder is None or queries is None:
        raise look.error("no queries.jsonl in the folder", remedy="Give a BEIR folder.")
    paths = _qrels(folder)
    chosen = _choose(paths)
    notes = [f"judgements from qrels/{chosen.name}"]
    if len(paths) > 1:
        others = ", ".join(path.name for path in paths if path != chosen)
        notes[0] += f" (not {others})"
    judged = read_judgements(Look(chosen))
    texts = _texts(Look(queries))
    missing = next((qid for qid in judged if qid not in texts), None)
    if missing is not None:
        raise look.error(
            f"question {missing!r} of qrels/{chosen.name} is not in {queries.name}", remedy="Give matching files."
        )
    if len(judged) < len(texts):
        notes.append(f"{len(texts) - len(judged)} of {len(texts)} queries are not judged there and are left out")
    questions = [
        Question(qid, texts[qid], gold=tuple(Gold(id=doc, grade=grade) for doc, grade in docs.items()))
        for qid, docs in judged.items()
    ]
    return testset_of(look, questions, FORMAT.name, notes)


def _texts(look: Look) -> dict[str, str]:
    texts: dict[str, str] = {}
    rows: dict[str, int] = {}
    for row, record in look.records():
        try:
            qid = _cells.id_text(record.get("_id", record.get("id")))
            text = _cells.plain_text(record.get("text", ""))
        except CellError as error:
            raise look.error(error.problem, row=row, field="_id", remedy=error.remedy) from None
        refuse_double(look, qid, row, rows, True)
        texts[qid] = text
    return texts


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    with written(path / "queries.jsonl") as file:
        for question in testset:
            file.write(json.dumps({"_id": question.id, "text": question.text}, ensure_ascii=False) + "\n")
    with written(path / "qrels" / "test.tsv") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for qid, docs in (testset.qrels or {}).items():
            for doc, grade in docs.items():
                file.write(f"{_cell(qid)}\t{_cell(doc)}\t{grade}\n")
    lost = lost_of(testset, keeps=("texts", "gold", "grades"))
    return [*lost, "corpus.jsonl (a test set holds no documents)"]


def _cell(text: str) -> str:
    return cell(" ".join(text.split()) if any(letter in text for letter in '\t\r\n"') else text)


FORMAT = Format(
    "beir",
    "BEIR folder: queries.jsonl and qrels/*.tsv",
    _sniff,
    _read_testset,
    write_testset=_write_testset,
    endings=("/",),
)
