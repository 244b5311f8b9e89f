"""The net: every number that some sixty commands print or write, as it was recorded.

Each command has a file in `recorded/`: its exit code, and under every file that it wrote (`stdout` for what it
printed) the numbers, column by column or path by path (`summaries[].mean`), with the identifiers that say whose they
are. Words, timings, versions, paths and checksums are not recorded. Of a column with more than `FEW` values the count,
the sum and a weighted sum stand for all (a hash for identifiers).

    pytest tests/net                  compares: integers and identifiers exactly, others to 1e-9 (cosines to 1e-6)
    KARAT_RECORD=1 pytest tests/net   records anew what differs

A changed number is a fault, unless it was mended on purpose: then record anew, and the diff of the recorded files
shows what else the change moved.
"""

import contextlib
import csv
import hashlib
import html
import io
import json
import math
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

RECORDED = Path(__file__).with_name("recorded")
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
FEW = 40
UNSTABLE = re.compile(
    r"(?:^|_)(?:seconds|ms|time|times|took|date|version|digest|sha256|checksum|fingerprint|bytes|path|place|command|run"
    r"|environment|machine|packages|folder)(?:\[\]|_|$)"
)
# The fields whose strings say whose a number is, or are themselves what was found.
NAMED = {
    "id", "qid", "question_id", "query_id", "doc", "doc_id", "chunk", "chunk_id", "system", "measure", "slice", "value",
    "kind", "status", "best", "a", "b", "better", "baseline", "step", "matcher", "factor", "cell", "ranked", "relevant",
    "hits", "gold", "left", "right", "severity", "grade", "page", "winner", "chosen", "configuration",
}  # fmt: skip
STAMP = re.compile(r"\d{8}T\d{6}Z(-[\w-]+)?")
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.]*[A-Za-z])")


@dataclass(frozen=True)
class Done:
    """A command that ran: its exit code and what it printed."""

    code: int
    out: str
    err: str


def run(line):
    """Run a command in this process."""
    from karat.cli.main import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr("sys.argv", ["karat", *shlex.split(line)])
        patch.setenv("COLUMNS", "200")
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return Done(code, out.getvalue(), err.getvalue())


# What a file holds, as columns: {path: values in order}


def columns_of(name, text, every_text):
    """The numbers and identifiers of a file or of what was printed, by the kind of its content."""
    if name.endswith((".csv", ".tsv")):
        rows = csv.DictReader(io.StringIO(text), delimiter="\t" if name.endswith(".tsv") else ",")
        return gather(((key, cell(value)) for row in rows for key, value in row.items()), every_text)
    if name.endswith((".run", ".trec", ".qrels")):
        fields = [line.split() for line in text.splitlines()]
        return gather(((str(n), cell(value)) for row in fields for n, value in enumerate(row)), every_text=True)
    if name.endswith(".jsonl"):
        return gather((pair for line in text.splitlines() for pair in walk(json.loads(line), "")), every_text)
    if name.endswith(".xml"):
        return gather(((key, cell(value)) for key, value in re.findall(r'(\w+)="([\d.]+)"', text)), every_text)
    with contextlib.suppress(ValueError):
        return gather(walk(json.loads(text), ""), every_text)
    return gather(((f"table {n}", v) for n, lines in enumerate(tables(text)) for v in numbers(lines)), every_text)


def walk(value, path):
    """(path, leaf) of all leaves of a JSON value; the places of a list are not told apart."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner, f"{path}[]")
    else:
        yield path, value


def cell(text):
    """A cell of a table: a number where it is one, nothing where it is empty."""
    try:
        return int(text)
    except (TypeError, ValueError):
        pass
    try:
        return float(text)
    except (TypeError, ValueError):
        return text or None


def gather(pairs, every_text):
    columns = {}
    for path, value in pairs:
        parts = re.split(r"\.(?=[a-z_])", path)
        if any(UNSTABLE.search(part) for part in parts):
            continue
        named = every_text or parts[-1].removesuffix("[]") in NAMED
        if isinstance(value, str) and (not named or STAMP.search(value) or value.startswith(os.sep)):
            continue
        columns.setdefault(path, []).append(repr(value) if value != value or value in (math.inf, -math.inf) else value)
    return {path: values for path, values in columns.items() if any(v is not None for v in values)}


def tables(text):
    """The rows of each table of a text: those under a rule on the console, of Markdown, of LaTeX and of HTML."""
    if "<table" in text:
        for table in re.findall(r"<table.*?</table>", text, re.S):
            yield [html.unescape(re.sub("<[^>]*>", " ", row)) for row in re.findall(r"<td.*?</td>", table, re.S)]
        return
    rows, ruled, before, head = [], False, "", ""
    for line in [*text.splitlines(), ""]:
        if re.fullmatch(r"[─\s]*─{3,}[─\s]*", line):
            ruled, head = True, before
        elif line.startswith("|") or " & " in line or (ruled and line.strip()):
            rows.append(line)
        else:
            if rows:
                yield timeless(head or rows[0], rows)
            rows, ruled, head = [], False, ""
        before = line


def timeless(head, rows):
    """Rows without their column of seconds; none of a front against them, whose order is that of times."""
    titles = [title.strip() for title in head.split("|")]
    if "seconds" not in titles and not re.search(r"  seconds(?:  |$)", head):
        return rows
    if "on front" in head:
        return []
    if "seconds" in titles:
        place = titles.index("seconds")
        return ["|".join(cells[:place] + cells[place + 1 :]) for cells in (row.split("|") for row in rows)]
    end = head.index("seconds") + len("seconds")
    start = len(head[: head.index("seconds")].rstrip())
    return [row[:start] + row[end:] for row in rows]


def numbers(lines):
    for line in lines:
        if "seconds" not in line:
            for figure in NUMBER.findall(line):
                yield cell(figure.replace(",", "").replace("−", "-").rstrip("."))


def brief(values):
    """A column as it is recorded: whole where short, else what tells any change of it."""
    if len(values) <= FEW:
        return values
    figures = [v for v in values if isinstance(v, int | float)]
    others = [v for v in values if not isinstance(v, int | float)]
    digest = {"count": len(values), "empty": values.count(None)}
    if figures:
        weights = 1 + np.modf(np.arange(len(figures)) * 0.6180339887498949)[0]
        digest |= {"sum": math.fsum(figures), "weighted": math.fsum(weights * np.array(figures, dtype=float))}
    if any(v is not None for v in others):
        digest["sha256"] = hashlib.sha256("\n".join(map(str, others)).encode()).hexdigest()[:16]
    return digest


# Recording and comparing


def same(one, two, within):
    if isinstance(one, float) or isinstance(two, float):
        both = isinstance(one, int | float) and isinstance(two, int | float)
        return both and math.isclose(one, two, rel_tol=within, abs_tol=within / 1000)
    return one == two and type(one) is type(two)


def differences(recorded, now, within, at=""):
    """(key, recorded, now) of all that differs."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(k for k in now if k not in recorded)]:
            yield from differences(recorded.get(key), now.get(key), within, f"{at} / {key}" if at else key)
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for n, (one, two) in enumerate(zip(recorded, now, strict=True)):
            yield from differences(one, two, within, f"{at} #{n}")
    elif not same(recorded, now, within):
        yield at, recorded, now


def read(path):
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        lists = [name for name, kind in frame.schema.items() if kind.is_nested()]
        return frame.with_columns(pl.col(lists).map_elements(str, pl.String)).write_csv()
    return path.read_text(encoding="utf-8")


def check(name, line, wrote=(), every_text=False, without=None, within=1e-9):
    """Run a command and hold its numbers, and those of the files it wrote, against what is recorded under `name`.

    `without` names the parts of a JSON object that are not looked at: times that were measured. `within` is how far
    numbers may be apart, as a share of them.
    """
    done = run(line)
    now = {"command": f"karat {line}", "exit": done.code, "stdout": columns_of("stdout", done.out, every_text)}
    for pattern in wrote:
        paths = sorted(Path().glob(pattern))
        assert paths, f"karat {line} wrote no {pattern}\n{done.err}"
        for path in paths:
            kind = f"{path.name}.csv" if path.suffix == ".parquet" else path.name
            now[STAMP.sub("", path.as_posix())] = columns_of(kind, read(path), every_text)
    for file, columns in now.items():
        if isinstance(columns, dict):
            now[file] = {key: brief(v) for key, v in columns.items() if not (without and key.startswith(without))}
    path = RECORDED / f"{name}.json"
    recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    changed = (
        [("everything", "nothing", "not recorded")] if recorded is None else list(differences(recorded, now, within))
    )
    if changed and os.environ.get("KARAT_RECORD"):
        path.parent.mkdir(exist_ok=True)
        parts = [f" {json.dumps(k)}: {_lines(v)}" for k, v in now.items()]
        path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    elif changed:
        shown = "\n".join(f"  {key}\n    recorded {one}\n    now      {two}" for key, one, two in changed[:20])
        pytest.fail(f"karat {line}\n{len(changed)} recorded values differ ({path.name}):\n{shown}\n{done.err[-2000:]}",
                    pytrace=False)  # fmt: skip
    return done


def _lines(part):
    """A column a line, so that a change reads well in a diff."""
    if not isinstance(part, dict) or not part:
        return json.dumps(part)
    lines = (f"  {json.dumps(k, ensure_ascii=False)}: {json.dumps(v, ensure_ascii=False)}" for k, v in part.items())
    return "{\n" + ",\n".join(lines) + "\n }"


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    """A folder with the documents' examples and the demo's files, for the commands of one module."""
    folder = tmp_path_factory.mktemp("net")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    with contextlib.chdir(folder):
        assert run("demo --files demo").code == 0
    return folder


@pytest.fixture
def net(ground, monkeypatch, undrawn):
    """`check` in the common folder."""
    monkeypatch.chdir(ground)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return check


@pytest.fixture(scope="module")
def index(ground):
    """The demo's documents as `demo.index`."""
    with contextlib.chdir(ground):
        assert run("index demo/docs -o demo.index").code == 0
    return "demo.index"


@pytest.fixture(scope="module")
def study(ground):
    """A run of the demo's systems, and one of answers that were judged: `demo` and `judged`."""
    with contextlib.chdir(ground):
        Path("demo/short.yaml").write_text(SHORT, encoding="utf-8")
        for line in ("run demo/short.yaml --runs-dir runs", "run judged.yaml --runs-dir judged"):
            done = run(line)
            assert done.code == 0, done.err
    return SimpleNamespace(runs="runs", judged="judged")


SHORT = """\
name: demo
corpus: docs
testset: questions.jsonl
where: {half: test}
systems: [pure_dense, dense_heavy, pure_sparse, rrf]
sweep: {alpha: "0.4,0.6"}
k: [3, 5]
main: Recall@5
by: [kind]
outputs: [csv, json, markdown]
"""
