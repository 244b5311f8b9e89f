# ruff: noqa: E501 (the files that are damaged stand on a line each)
"""Damaged files through every command that reads them: never a traceback, a crash, a hang or a flood.

Every command meets some twenty of them in CI, and a hundred with `KARAT_FUZZ=5000 pytest -m fuzz`, which takes minutes.

Run as a program, this file is the parent of the cases: it has everything imported and nothing begun, so that a fork of
it is a fresh `karat` within milliseconds.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

CASES = int(os.environ.get("KARAT_FUZZ", "1000"))
SECONDS = 20  # of work; a busy machine takes longer for it
WAIT = 120
MEMORY = 2 << 30
WORKERS = 2
SEED = 20

QUESTIONS = [
    {"id": f"q{n}", "question": f"Who keeps the {thing} of the hut?", "answers": [thing], "gold": [{"doc": f"{thing}.md"}],
     "kind": "factual" if n % 2 else "open", "tags": {"season": "winter"}}
    for n, thing in enumerate(("log", "stove", "lamp", "radio", "soup", "sledge"))
]  # fmt: skip
SYSTEMS = ("plain", "heavy")


def hits(turn: int) -> list[dict[str, object]]:
    docs = [str(question["gold"][0]["doc"]) for question in QUESTIONS]
    return [
        {"id": question["id"], "retrieved": [{"id": docs[(n + turn * i) % 6], "score": 3 - i} for i in range(3)],
         "answer": f"The {docs[n][:-3]} is kept by the cook.", "seconds": {"total": 0.5}, "confidence": 0.75}
        for n, question in enumerate(QUESTIONS)
    ]  # fmt: skip


def asked(row: dict[str, object]) -> str:
    return next(str(question["question"]) for question in QUESTIONS if question["id"] == row["id"])


def spans(row: dict[str, object]) -> dict[str, object]:
    """A row as OTLP has it: a chain, and a retriever in it."""
    found = {
        f"retrieval.documents.{n}.document.{name}": value
        for n, hit in enumerate(row["retrieved"])
        for name, value in hit.items()
    }
    parts = (
        ("1", "", {"openinference.span.kind": "CHAIN", "input.value": asked(row), "output.value": row["answer"]}),
        ("2", "1", {"openinference.span.kind": "RETRIEVER", "input.value": json.dumps({"query": asked(row)}), **found}),
    )
    return {"resourceSpans": [{"scopeSpans": [{"spans": [
        {"traceId": row["id"], "spanId": own, "parentSpanId": parent, "name": "x", "startTimeUnixNano": "1700000000000000000",
         "endTimeUnixNano": "1700000001000000000", "status": {"code": 1}, "attributes": [
            {"key": name, "value": {"doubleValue" if isinstance(value, int) else "stringValue": value}} for name, value in part.items()]}
        for own, parent, part in parts]}]}]}  # fmt: skip


def observations(row: dict[str, object]) -> dict[str, object]:
    """A row as Langfuse has it."""
    found = [
        {"page_content": "x", "metadata": {"source": hit["id"], "score": hit["score"]}} for hit in row["retrieved"]
    ]
    one = {"id": "o", "traceId": row["id"], "type": "RETRIEVER", "parentObservationId": None, "startTime": "2024-01-01T00:00:00Z",
           "endTime": "2024-01-01T00:00:01Z", "input": asked(row), "output": json.dumps(found), "usageDetails": {"total": 3}}  # fmt: skip
    return {"id": row["id"], "input": {"question": asked(row)}, "output": row["answer"], "observations": [one]}


def lines(rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def ground(folder: Path) -> None:
    """Every kind of file that karat reads, whole."""
    import polars as pl

    docs = {
        str(q["gold"][0]["doc"]): f"The cook keeps the {q['answers'][0]} of the hut. It is 10 years old.\n" * 4
        for q in QUESTIONS
    }
    texts = {
        "qa.jsonl": lines(QUESTIONS),
        "qa.json": json.dumps([{"question": q["question"], "relevant_docs": [q["gold"][0]["doc"]]} for q in QUESTIONS], indent=1),
        "qa.csv": "id,question,answer,gold\n" + "".join(f'{q["id"]},"{q["question"]}",x,{q["gold"][0]["doc"]}\n' for q in QUESTIONS),
        "qa.tsv": "qid\tquestion\tanswer\tcontext\tdocument_ids\n" + "".join(f"{q['id']}\t{q['question']}\tA\t[]\t['{q['gold'][0]['doc']}']\n" for q in QUESTIONS),
        "qa.qrels": "".join(f"{q['id']} 0 {q['gold'][0]['doc']} 1\n" for q in QUESTIONS),
        "squad.json": json.dumps({"data": [{"title": "T", "paragraphs": [{"context": "The cook.", "qas": [
            {"id": "q1", "question": "Who?", "answers": [{"text": "cook", "answer_start": 4}]}]}]}]}),
        "plain.jsonl": lines(hits(1)),
        "heavy.jsonl": lines(hits(2)),
        "otlp.jsonl": lines(map(spans, hits(1))),
        "langfuse.json": json.dumps([observations(row) for row in hits(1)]),
        "plain.csv": "question_id,doc_id,rank,score\n" + "".join(f"{row['id']},{hit['id']},{n},{hit['score']}\n" for row in hits(1) for n, hit in enumerate(row["retrieved"], 1)),
        "plain.run": "".join(f"{row['id']} Q0 {hit['id']} {n} {hit['score']} plain\n" for row in hits(1) for n, hit in enumerate(row["retrieved"], 1)),
        "scores.csv": "question_id,system,Recall@5,MRR\n" + "".join(f"q{n},{s},{n % 2},{1 / (n + 1)}\n" for s in SYSTEMS for n in range(6)),
        "grid.csv": "question_id,alpha,k,recall\n" + "".join(f"q{n},{a},{k},{n % 2}\n" for n in range(6) for a in (0, 1) for k in (3, 5)),
        "summary.csv": "system,n,Recall@5,Recall@5 std,MRR\nplain,6,0.5,0.5,0.4083\nheavy,6,0.5,0.5,0.4083\n",
        "summary.md": "| system | Recall@5 | MRR |\n|---|---|---|\n| plain | 0.50 ± 0.1 | 57.9% |\n| heavy | 0,25 | 1.2 |\n",
        "summary.json": json.dumps({"plain": {"recall@5": 0.5, "n": 6}, "heavy": {"recall@5": 0.25, "n": 6}}),
        "labels.csv": "id,system,measure,label,rater\n" + "".join(f"q{n},plain,TokenF1,{n % 2},r{r}\n" for n in range(6) for r in range(2)),
        "karat.yaml": "name: huts\ntestset: qa.jsonl\nsystems:\n  - {name: plain, results: plain.jsonl}\n  - {name: heavy, results: heavy.jsonl}\nmeasures: [Recall@3, MRR, TokenF1]\noutputs: [markdown, csv, json]\nseed: 1\n",
        "page.html": "<!DOCTYPE html><html><head><title>T</title></head><body><h1>Hut</h1><p>The cook keeps it.</p><table><tr><td>1</td></tr></table></body></html>",
        "page.txt": "The cook keeps the log of the hut.\n\n1. Stove\n2. Lamp\n",
        "page.md": "---\ntitle: Hut\n---\n# Hut\n\nThe [cook](http://x.y/z) keeps `it`.\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "docs.csv": "id,title,text\n" + "".join(f'{name},T,"{text.strip()}"\n'.replace("\n", " ") + "\n" for name, text in docs.items()),
        "docs.jsonl": lines({"_id": name, "title": "T", "text": text} for name, text in docs.items()),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "docs").mkdir()
    for name, text in docs.items():
        (folder / "docs" / name).write_text(f"# {name}\n\n{text}", encoding="utf-8")
    pl.DataFrame({"question_id": ["q1", "q2"], "doc_id": ["log.md", "x"], "score": [1.0, 2.0]}).write_parquet(
        folder / "plain.parquet"
    )
    pl.DataFrame({"id": list(docs), "text": list(docs.values())}).write_parquet(folder / "docs.parquet")
    papers(folder, docs)


def papers(folder: Path, docs: dict[str, str]) -> None:
    """Documents of formats that are packed."""
    from docx import Document
    from fpdf import FPDF
    from openpyxl import Workbook

    paper, word, book = FPDF(), Document(), Workbook()
    paper.set_font("Helvetica")
    word.add_heading("Huts")
    book.active.append(["id", "text"])
    for name, text in docs.items():
        paper.add_page()
        paper.multi_cell(0, text=text)
        word.add_paragraph(text)
        book.active.append([name, text])
    paper.output(folder / "paper.pdf")
    word.save(folder / "paper.docx")
    book.save(folder / "docs.xlsx")


MADE = (
    ("index", "docs", "-o", "ix", "--engine", "bm25"),
    ("testset", "freeze", "qa.jsonl", "--version", "1"),
    ("run", "karat.yaml"),
    ("gate", "LAST", "--save", "main"),
    ("testset", "review", "qa.jsonl"),
)
"""What karat writes beside them."""

READ: tuple[tuple[str, tuple[str, ...]], ...] = (
    *((name, ("score", name, "plain.jsonl", "-q")) for name in ("qa.jsonl", "qa.json", "qa.csv", "qa.tsv", "qa.qrels", "squad.json")),
    *((name, ("score", "qa.jsonl", name, "-q")) for name in ("plain.jsonl", "plain.csv", "plain.run", "plain.parquet", "otlp.jsonl", "langfuse.json")),
    ("otlp.jsonl", ("testset", "make", "otlp.jsonl", "--from", "traces", "-o", "new.jsonl", "--redact", "email", "-q")),
    *((name, ("index", name, "-o", "new", "--engine", "bm25", "-q"))
      for name in ("page.html", "page.txt", "page.md", "docs.csv", "docs.jsonl", "docs.parquet", "paper.pdf",
                   "paper.docx")),
    ("qa.jsonl", ("convert", "qa.jsonl", "new.tsv", "--to", "liverag")),
    ("qa.jsonl", ("testset", "check", "qa.jsonl", "-q")),
    ("qa.jsonl", ("testset", "check", "qa.jsonl", "ix", "-q")),
    ("docs.xlsx", ("convert", "docs.xlsx", "new.jsonl")),
    ("plain.run", ("convert", "plain.run", "new.jsonl")),
    ("karat.yaml", ("run", "karat.yaml", "--dry-run")),
    ("karat.yaml", ("run", "karat.yaml", "-q")),
    ("scores.csv", ("compare", "scores.csv", "--draws", "50", "-q")),
    ("scores.csv", ("compare", "--power", "scores.csv", "-q")),
    ("grid.csv", ("compare", "--factors", "grid.csv", "--score", "recall", "--factor", "alpha", "--factor", "k")),
    ("summary.csv", ("verify", "summary.csv")),
    ("summary.csv", ("verify", "scores.csv", "--table", "summary.csv")),
    ("scores.csv", ("verify", "scores.csv", "--table", "summary.csv")),
    ("summary.md", ("verify", "summary.md")),
    ("summary.json", ("verify", "summary.json")),
    ("labels.csv", ("judge", "calibrate", "LAST", "labels.csv", "-q")),
    ("qa.jsonl.review.csv", ("testset", "review", "qa.jsonl", "--apply", "qa.jsonl.review.csv")),
    ("ix", ("search", "ix", "who keeps the log")),
    ("ix", ("testset", "check", "qa.jsonl", "ix", "-q")),
    ("ix", ("testset", "make", "ix", "--offline", "-o", "new.jsonl", "-q")),
    ("runs", ("show", "LAST")),
    ("runs", ("show", "LAST", "q1")),
    ("runs", ("show", "LAST", "-o", "new.md")),
    ("runs", ("gate", "LAST", "MRR >= 0.1", "--baseline", "main")),
    ("runs", ("compare", "LAST", "--draws", "50", "-q")),
    ("runs", ("show",)),
    ("runs", ("verify", "LAST")),
    ("runs", ("run", "karat.yaml", "-q")),
    ("frozen", ("score", "qa.jsonl", "plain.jsonl", "-q")),
    ("frozen", ("run", "karat.yaml", "--dry-run")),
)  # fmt: skip
"""Which file or folder is damaged, and the command that reads it; in a folder, any of its files."""


class Case(NamedTuple):
    number: int
    target: str
    argv: tuple[str, ...]


def cases() -> list[Case]:
    return [Case(n, *READ[n % len(READ)]) for n in range(CASES)]


JUNK = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\xef\xbb\xbf", b"1e999", b"-1", b"NaN", b"9" * 400, b"null", b"[]",
    b"{}", b'"', b"\r", b"\t", b",", b"\n\n", b"'", b"=1+1", b"../../x", b"*a", b"&a [*a]", b"!!python/object:os.system x",
    "\u202e\u200b\u2028".encode(), b"[" * 20_000, b'{"a":' * 5_000, b"<div>" * 5_000, b"<!---->" * 400, b"a-" * 2_000,
    b" " * 5_000, b"." * 20_000, b"_" * 5_000, b"x" * 200_000, b"x," * 20_000, b"| " * 5_000, b"(" * 5_000,
)  # fmt: skip


def damaged(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """The bytes with one to three faults."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        data = draw.choice(FAULTS)(data, others, draw)
    return data


def _flip(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _cut(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    start = draw.randint(0, len(data))
    return data[:start] if draw.random() < 0.5 else data[:start] + data[draw.randint(start, len(data)) :]


def _insert(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    place = draw.randint(0, len(data))
    return data[:place] + draw.choice(JUNK) + data[place:]


def _number(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    places = [n for n in range(len(data)) if data[n : n + 1].isdigit()]
    if not places:
        return data
    place = draw.choice(places)
    return data[:place] + draw.choice((b"1e999", b"-5", b"9" * 30, b"NaN", b"0", b"1e-320", b"1.5")) + data[place + 1 :]


def _value(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """One value of a JSON text, or of one of its lines, of another kind; or a key said twice."""
    rows = data.split(b"\n")
    place = draw.randrange(len(rows))
    for whole in (False, True):
        try:
            document = json.loads(data if whole else rows[place])
            break
        except (ValueError, RecursionError):
            continue
    else:
        return _swap(data, others, draw)
    holders = list(_holders(document))
    if not holders:
        return draw.choice((b"[]", b"{}", b"null", b"1", b'"x"'))
    holder = draw.choice(holders)
    key = draw.choice(list(holder)) if isinstance(holder, dict) else draw.randrange(len(holder))
    if draw.random() < 0.3:
        del holder[key]
    else:
        holder[key] = draw.choice(
            (None, True, -1, 0, 2**63, 1e308, "", "x", [], {}, [[]], {"a": 1}, ["x", 1, None], "\x00")
        )
    text = json.dumps(document)
    if draw.random() < 0.1:
        text = text.replace("{", '{"id": 1, "id": 2, ', 1)
    rows[place] = text.encode()
    return text.encode() if whole else b"\n".join(rows)


def _holders(value: object) -> Iterator[dict | list]:
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


def _swap(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """Two columns or lines of a table changed for each other, a line said twice or left out."""
    rows = data.split(b"\n")
    if draw.random() < 0.5:
        one, two = draw.randrange(len(rows)), draw.randrange(len(rows))
        rows[one], rows[two] = rows[two], draw.choice((rows[one], rows[two], b""))
    else:
        mark = b"\t" if b"\t" in data else b"," if b"," in data else b" "
        one, two = draw.randrange(4), draw.randrange(4)
        for n, row in enumerate(rows):
            cells = row.split(mark)
            if max(one, two) < len(cells) and draw.random() < 0.9:
                cells[one], cells[two] = cells[two], cells[one]
                rows[n] = mark.join(cells)
    return b"\n".join(rows)


def _other(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    return draw.choice((*others, b"", b"\n", b"null", b"[]", b"PK\x03\x04", b"PAR1", b"%PDF-1.7"))


FAULTS: tuple[Callable[[bytes, list[bytes], random.Random], bytes], ...] = (
    _flip, _flip, _cut, _insert, _insert, _insert, _number, _value, _value, _value, _swap, _other,
)  # fmt: skip


def files_of(folder: Path, target: str) -> list[Path]:
    if target == "frozen":
        return sorted(path for path in folder.iterdir() if path.name.startswith("qa.jsonl.frozen"))
    path = folder / target
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def outcome_of(case: Case, whole: Path, draw: random.Random) -> str | None:
    """What is wrong with what karat does about a damaged file, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "x"
        shutil.copytree(whole, folder)
        path = draw.choice(files_of(folder, case.target))
        others = [p.read_bytes() for p in whole.iterdir() if p.is_file()]
        path.write_bytes(damaged(path.read_bytes(), others, draw))
        status, said = forked(case.argv, folder, Path(name) / "said")
        if os.environ.get("KEEP") == str(case.number):
            shutil.copytree(folder, os.environ["KEEP_IN"])
        why = None
        if os.WIFSIGNALED(status):
            why = f"ended by signal {os.WTERMSIG(status)}"
        elif os.WEXITSTATUS(status) not in (0, 2, 3, 4, 5, 10, 11):
            why = f"exit {os.WEXITSTATUS(status)}"
        elif "Traceback" in said or "not enough memory" in said:
            why = "a traceback, or too much memory"
        place = path.relative_to(folder)
        return f"case {case.number}, {place}, karat {' '.join(case.argv)}: {why}: {said[-600:]}" if why else None


def forked(argv: tuple[str, ...], folder: Path, said: Path) -> tuple[int, str]:
    """How karat ends in a child of this process, and what it says."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            signal.alarm(WAIT)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
            size = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_DATA, (size + MEMORY, size + MEMORY))  # not what is only reserved
            out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.chdir(folder)
            sys.argv = ["karat", *argv]
            from karat.cli.main import main

            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitpid(child, 0)[1], said.read_text(encoding="utf-8", errors="replace")


def parent(turn: int, only: list[int]) -> None:
    """Run every case of a worker and print what is wrong, a line each."""
    import importlib
    import pkgutil

    import karat
    from karat.cli.main import COMMANDS

    for info in pkgutil.walk_packages(karat.__path__, "karat."):
        if info.name not in ("karat.__main__", "karat.pool._ray_leader"):  # one runs, the other needs Ray
            importlib.import_module(info.name)
    for name in COMMANDS:
        importlib.import_module(f"karat.cli.{name.replace(' ', '_')}")
    for name in (
        "polars",
        "numpy",
        "rich.console",
        "yaml",
        "selectolax.lexbor",
        "typer",
    ):
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name) / "whole"
        whole.mkdir()
        child = os.fork()
        if child == 0:
            ground(whole)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        for argv in MADE:
            status, said = forked(argv, whole, Path(name) / "said")
            assert os.waitstatus_to_exitcode(status) == 0, (argv, said)
        begun = time.monotonic()
        for case in cases():
            if case.number in only if only else case.number % WORKERS == turn:
                started = time.monotonic()
                why = outcome_of(case, whole, random.Random(SEED + case.number))
                if why:
                    print(json.dumps(why), flush=True)
                if "SLOW" in os.environ and time.monotonic() - started > 1:
                    print(case, round(time.monotonic() - started, 1), file=sys.stderr)
        print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)


@pytest.mark.fuzz
def test_damaged_files_are_refused_in_a_sentence():
    quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, str(turn)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, **quiet},
        )
        for turn in range(WORKERS)
    ]  # fmt: skip
    ended = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORKERS, [said for _, said in ended]
    assert [json.loads(line) for out, _ in ended for line in out.splitlines()] == []


if __name__ == "__main__":
    parent(int(sys.argv[1]), [int(number) for number in sys.argv[2:]])
