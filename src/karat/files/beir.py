"""beir: a folder with queries.jsonl and qrels/*.tsv; the corpus beside them is not read here."""

from __future__ import annotations

from pathlib import Path

from karat.core.types import TestSet
from karat.files._format import Fit, Format, Kind
from karat.files._judgements import joined_judgements
from karat.files._write import lost_of, write_lines, written
from karat.io.formulas import guarded_cell
from karat.io.input import Input

_SPLITS = ("test", "dev", "validation", "train")


def _qrels(folder: Path) -> list[Path]:
    """The judgements, those to read first: test before dev before train, else the first by name."""
    paths = sorted(path for path in (folder / "qrels").glob("*.tsv*") if path.is_file())
    splits = [path.name.split(".")[0] for path in paths]
    chosen = next((splits.index(split) for split in _SPLITS if split in splits), 0)
    return paths[chosen : chosen + 1] + paths[:chosen] + paths[chosen + 1 :]


def _queries(folder: Path) -> Path | None:
    return next((p for name in ("queries.jsonl", "queries.jsonl.gz") if (p := folder / name).is_file()), None)


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if input.folder is None or _queries(input.folder) is None or not _qrels(input.folder):
        return None
    return Fit(0.97, "queries.jsonl and qrels/*.tsv")


def _read_testset(input: Input) -> tuple[TestSet, list[str]]:
    queries = None if input.folder is None else _queries(input.folder)
    if input.folder is None or queries is None:
        raise input.error("no queries.jsonl in the folder", remedy="Give a BEIR folder.")
    chosen, *others = _qrels(input.folder)
    asked = Input.open(queries)
    rows = ((row, {"id": r.get("_id", r.get("id")), "question": r.get("text")}) for row, r in asked.records())
    questions, judged = joined_judgements(input, asked.with_rows(rows), chosen)
    notes = [f"judgements from qrels/{chosen.name}"]
    if others:
        notes[0] += f" (not {', '.join(path.name for path in others)})"
    if left := len(questions) - len(judged):
        notes.append(f"{left} of {len(questions)} queries are not judged there and are left out")
    return TestSet([questions[qid] for qid in judged], name=input.stem), notes


def _write_testset(testset: TestSet, path: Path) -> list[str]:
    write_lines(path / "queries.jsonl", ({"_id": question.id, "text": question.text} for question in testset))
    with written(path / "qrels" / "test.tsv") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for qid, docs in (testset.qrels or {}).items():
            for doc, grade in docs.items():
                file.write(f"{_cell(qid)}\t{_cell(doc)}\t{grade}\n")
    lost = lost_of(testset, keeps=("texts", "gold", "grades"))
    return [*lost, "corpus.jsonl (a test set holds no documents)"]


def _cell(text: str) -> str:
    return guarded_cell(" ".join(text.split()) if any(letter in text for letter in '\t\r\n"') else text)


FORMAT = Format(
    name="beir",
    about="BEIR folder: queries.jsonl and qrels/*.tsv",
    sniff=_sniff,
    read_testset=_read_testset,
    write_testset=_write_testset,
    endings=("/",),
)
