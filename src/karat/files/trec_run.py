"""trec_run: `qid Q0 docid rank score tag`, one hit a line, blanks between; the scores count, not the ranks.

Read in blocks of whole lines, so that a run of millions of rows needs little more memory than its columns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from karat.core.errors import UsageError
from karat.core.ranked import ranking
from karat.core.run import Run
from karat.core.text.words import plural
from karat.files._format import Fit, Format
from karat.files._runs import run_of_frames, small_run
from karat.files._write import PlainIds, without_blanks, written
from karat.io.cells import can_be

if TYPE_CHECKING:
    import polars as pl

    from karat.files._format import Kind
    from karat.io.input import Input
    from karat.io.source import Source

_BLOCK = 8 << 20
_MOST_RANKS = 2_000  # lines at the beginning whose ranks are held against their scores
_LONGEST_RANK = 12  # digits
_BLANKS = re.compile(rb"[ \t\r\f\v]+")
_FIELDS = ("question", "Q0", "doc", "rank", "score", "tag")


def _sniff(input: Input, kind: Kind) -> Fit | None:
    if input.source is None:
        return None
    lines = [line.split() for line in input.source.head.decode("utf-8", "replace").split("\n")[:20] if line.strip()]
    whole = lines[:-1] if len(lines) > 1 else lines
    if not whole or any(len(line) < 5 for line in whole):
        return None
    if all(_is_hit(line) and (len(line) == 6 or line[1].upper() == "Q0") for line in whole):
        return Fit(0.95, "six fields a line, the fourth a rank and the fifth a score")
    if sum(len(line) >= 6 and line[1].upper() == "Q0" for line in whole) * 2 > len(whole):
        return Fit(0.8, "six fields a line with Q0")
    return None


def _is_hit(fields: Sequence[str]) -> bool:
    """Whether a line is a hit, with or without text after the tag: the fourth field a rank, the fifth a score."""
    return len(fields) >= 6 and fields[3].lstrip("-").isdigit() and can_be(float, fields[4])


def read(source: Source, name: str | None = None) -> tuple[Run, int]:
    """The run a TREC file holds, and how many lines go on after the tag; rows of a question need not stand together."""
    if source.is_small:
        lines = [[field.decode() for field in line.encode().split()] for _, line in source.lines()]
        if all(len(fields) in (0, 6) for fields in lines):
            rows = ((fields[0], fields[2], fields[4]) for fields in lines if fields)
            if (run := small_run(name or source.stem, rows, source.name)) is not None:
                return run, 0
    longer: list[int] = []

    def frames() -> Iterator[pl.DataFrame]:
        for block in source.blocks(_BLOCK):
            frame, beyond_tag = _parse(block, source)
            longer.append(beyond_tag)
            yield frame

    return run_of_frames(name or source.stem, frames(), source.name, partial(_refuse_repeat, source)), sum(longer)


def _parse(block: bytes, source: Source) -> tuple[pl.DataFrame, int]:
    """Question, doc and score of a block, and how many of its lines go on after the tag."""
    separator = b"\t" if b"\t" in block[: block.find(b"\n") + 1 or None] else b" "
    frame = _columns(block, separator)
    if frame is not None:
        return frame, 0
    lines = [line for raw in block.split(b"\n") if (line := _BLANKS.sub(b" ", raw.strip()))]
    longer = [place for place, line in enumerate(lines) if line.count(b" ") > 5]
    for place in longer:
        fields = lines[place].split(b" ", 6)
        if not _is_hit([field.decode("utf-8", "replace") for field in fields]):
            raise _explain(source)
        lines[place] = b" ".join(fields[:6])
    frame = _columns(b"\n".join(lines), b" ")
    if frame is None:
        raise _explain(source)
    return frame, len(longer)


def _columns(block: bytes, separator: bytes) -> pl.DataFrame | None:
    """The three columns that matter, or None where a row has not six fields or a score is not finite.

    No row may have a seventh field, and separators must be five times the rows: so every row has exactly six.
    """
    import numpy as np
    import polars as pl

    schema = {name: pl.Float64 if name == "score" else pl.String for name in (*_FIELDS, "seventh")}
    try:
        frame = pl.read_csv(
            block, has_header=False, separator=separator.decode(), schema=schema, columns=[0, 2, 4, 6],
            quote_char=None, missing_columns="insert",
        )  # fmt: skip
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    extra = frame.drop_in_place("seventh")
    if extra.null_count() < len(extra) or any(column.null_count() for column in frame):
        return None
    if _count(block, separator) != 5 * len(frame):
        return None
    score = frame["score"].to_numpy()
    if not np.isfinite(score.sum()) and not np.isfinite(score).all():
        return None
    return frame


def _count(block: bytes, byte: bytes) -> int:
    """How often a byte occurs, a cache-full at a time."""
    import numpy as np

    data, wanted = np.frombuffer(block, np.uint8), byte[0]
    return sum(int(np.count_nonzero(data[i : i + (1 << 18)] == wanted)) for i in range(0, len(data), 1 << 18))


def _explain(source: Source) -> Exception:
    """The first line that is no hit, named."""
    row = 0
    for row, line in source.lines():
        fields = line.split()
        if not fields:
            continue
        if len(fields) < 6:
            return source.error(
                f"has {len(fields)} fields where a hit has six (question Q0 document rank score tag); "
                f'the "{_FIELDS[len(fields)]}" is missing',
                row=row,
                remedy="Complete the row or remove it.",
            )
        if len(fields) > 6 and not _is_hit(fields):
            return source.error(
                f"has {len(fields)} fields where a hit has six (question Q0 document rank score tag), and the fourth "
                "and fifth are no rank and score",
                row=row,
                remedy="Ids may not hold blanks: replace them, or give the results as JSONL.",
            )
        if not can_be(float, fields[4]) or not math.isfinite(float(fields[4])):
            return source.error(
                f"the score {fields[4]!r} is not a finite number", row=row, field="score",
                remedy="Give every hit a number.",
            )  # fmt: skip
    return source.error("cannot be read as a TREC run", row=row, remedy="Check the rows up to here.")


def _refuse_repeat(source: Source, question: str, doc: str) -> NoReturn:
    """A document twice for a question is refused: trec_eval does not say which of the two counts."""
    rows = [n for n, text in source.lines() if (f := text.split()) and f[0] == question and f[2] == doc]
    raise source.error(
        f"document {doc!r} stands twice for question {question!r} (first in line {rows[0]})",
        row=rows[1],
        remedy="Keep one row for each question and document.",
    )


def _read_results(input: Input) -> tuple[list[Run], list[str]]:
    run, longer = read(input.need_source())
    notes = [f"text after the tag in {plural(longer, 'line')}: ignored, as trec_eval does"] if longer else []
    return [run], notes + _rank_notes(input.head_lines(_MOST_RANKS))


def _rank_notes(lines: Iterable[str]) -> list[str]:
    """A sentence where ranks contradict scores: of two hits of a question the one with the lower score stands first."""
    hits: dict[str, list[tuple[int, float]]] = {}
    for fields in map(str.split, lines):
        if _is_hit(fields) and fields[3].isdecimal() and len(fields[3]) <= _LONGEST_RANK:
            hits.setdefault(fields[0], []).append((int(fields[3]), float(fields[4])))
    for question, ranked in hits.items():
        for (rank, score), (other, higher) in pairwise(sorted(ranked, key=lambda hit: (hit[0], -hit[1]))):
            if rank < other and score < higher:
                return [
                    f"the ranks contradict the scores (question {question!r}: rank {rank} has {score:g}, rank {other} "
                    f"{higher:g}): hits are ranked by score, as trec_eval does"
                ]
    return []


def _write(runs: Sequence[Run], path: Path) -> list[str]:
    """Ranked hits with their scores; where those do not give the list's own order, 1/rank stands in their place."""
    if len(runs) > 1:
        names = ", ".join(run.name for run in runs)
        raise UsageError(f"a TREC run holds one system, and there are {len(runs)} ({names}). Write one file for each.")
    (run,) = runs
    order = ranking(run)
    scores = run.scores
    spent = any(a.seconds or a.tokens is not None or a.cost_usd is not None for a in run.answers.values())
    parts = {
        "answers": run.has_answers, "seconds, tokens and cost": spent, "steps": bool(run.steps),
        "failed rows": bool(run.failed),
    }  # fmt: skip
    lost = [what for what, there in parts.items() if there]
    lost += [f"the {field} of hits" for field in run.fields]
    if scores is not None and (ranking(run.by_score()) != order).any():
        scores = None
        lost.append("scores, which do not give the order of the hits: 1/rank is written")
    docs, tag, ids = run.doc_list, without_blanks(run.name), PlainIds()
    with written(path) as file:
        for q, qid in enumerate(run.question_ids):
            hits = order[run.offsets[q] : run.offsets[q + 1]].tolist()
            for rank, (question, doc) in enumerate(ids.of(qid, (docs[hit] for hit in hits)), 1):
                score = 1 / rank if scores is None else float(scores[hits[rank - 1]])
                file.write(f"{question} Q0 {doc} {rank} {score!r} {tag}\n")
    return lost + ids.lost()


FORMAT = Format(
    name="trec_run",
    about="TREC run: question Q0 document rank score tag",
    sniff=_sniff,
    read_results=_read_results,
    write_results=_write,
    endings=(".trec", ".run"),
)
