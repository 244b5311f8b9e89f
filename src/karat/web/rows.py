"""Rows: the questions of a run with what every system scored, read from rows.parquet as far as they are asked for.

The file may come from anybody. Columns are read one by one, each of one system, and held as long as there is room.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.core.scores import Status
from karat.core.text.words import excerpt
from karat.core.types import NO_VALUE
from karat.io.parquet import check_parquet, parquet_columns
from karat.stats.arrays import Bools, Floats, Ints
from karat.web.filters import Filters
from karat.web.held import Held

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


ROWS = "rows.parquet"
SHOWN = 6  # systems, unless some are named
PAGE, MOST_PAGE = 100, 500
HELD = 384 << 20  # bytes of columns that are held
ORDERS = 16  # filtered lists that are held: the pages of each are cut out of it
MOST_SYSTEMS, MOST_COLUMNS, MOST_VALUES = 10_000, 5_000, 200
LONGEST = 1_000  # characters of a question in a list
SLACK = 1e-9  # .3 - .1 is less than .2
_REMEDY = "Write the run's files again: karat show RUN -o FOLDER, or run it again."
_TEXTS = re.compile(r"question|kind|answer|failure|tag\..*|.*\.(status|reason)", re.DOTALL)  # columns of texts
_STATUS = {status.name: int(status) for status in Status}


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What is known of a run's questions besides its rows, each asked for when a filter or a page needs it."""

    best: str | None = None
    main: str | None = None
    failures: Callable[[], Mapping[str, Mapping[str, str]] | None] = lambda: None  # system -> question -> label
    labels: Callable[[], Mapping[str, int]] = dict  # question -> how many
    disputed: Callable[[], frozenset[str]] = frozenset  # questions on which judges disagree


class QuestionTable:
    """The questions of a run, filtered, sorted and cut into pages; `facts` is what other files of the run say."""

    def __init__(self, path: Path, facts: RunFacts | None = None) -> None:
        self.path, self.facts, self._place = path, facts or RunFacts(), str(path)
        self._held, self._orders = Held(HELD), Held(ORDERS)
        self.kinds_of = check_parquet(path, self._place)
        if len(self.kinds_of) > MOST_COLUMNS:
            raise self._unsound(f"it has {len(self.kinds_of):,} columns, and {MOST_COLUMNS:,} is the most")
        for name in ("system", "question_id", "status", *filter(_TEXTS.fullmatch, self.kinds_of)):
            self._expect(name)
        runs = self._read(["system"], whole=True)["system"].rle().struct.unnest()
        lengths = runs["len"].to_list()
        names = runs["value"].to_list()
        if not names or len(set(lengths)) > 1 or len(set(names)) < len(names) or None in names:
            raise self._unsound("its systems do not have the same questions one after another")
        if len(names) > MOST_SYSTEMS:
            raise self._unsound(f"it has {len(names):,} systems, and {MOST_SYSTEMS:,} is the most")
        self.n = int(lengths[0])
        self._begin = {name: place * self.n for place, name in enumerate(names)}
        first = self.facts.best
        self.systems: tuple[str, ...] = tuple(sorted(names, key=lambda name: name != first))
        self.measures = self._measures()
        self.tags = tuple(name.removeprefix("tag.") for name in self.kinds_of if name.startswith("tag."))

    def _unsound(self, problem: str) -> InputError:
        return InputError(problem, place=self._place, remedy=_REMEDY)

    def begin_of(self, system: str) -> int:
        """The row of the file at which a system begins."""
        self._check_order(system)
        return self._begin[system]

    def _expect(self, name: str) -> None:
        import polars as pl

        if self.kinds_of.get(name) != pl.String:
            what = "has no column" if name not in self.kinds_of else "has no texts in the column"
            raise self._unsound(f"it {what} {name!r:.60}")

    def _measures(self) -> tuple[str, ...]:
        """Columns with a status of their own; the main measure first."""
        named = [name for name, kind in self.kinds_of.items() if f"{name}.status" in self.kinds_of]
        for name in named:
            if not self.kinds_of[name].is_numeric():
                raise self._unsound(f"the measure {name!r:.60} has no numbers")
        return tuple(sorted(named, key=lambda name: name != self.facts.main))

    def _read(self, columns: Sequence[str], system: str | None = None, *, whole: bool = False) -> pl.DataFrame:
        begin = 0 if system is None else self._begin[system]
        frame = parquet_columns(self.path, self._place, columns, begin, None if whole else self.n)
        if not whole and frame.height != self.n:
            raise self._unsound("it was changed while it was read")
        return frame

    def _column(self, name: str, system: str | None = None) -> pl.Series:
        """A column of a system; of the first where it is the same for all."""

        def read() -> tuple[pl.Series, int]:
            series = self._read([name], system)[name]
            return series, int(series.estimated_size())

        series: pl.Series = self._held.get((system, name), read)
        return series

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the questions."""
        ids: list[str] = self._column("question_id").to_list()
        if None in ids or len(set(ids)) < len(ids):
            raise self._unsound("a question stands twice, or without an id")
        return ids

    def number_of(self, question: str) -> int:
        """The place of a question."""
        if question not in self._numbers:
            near = did_you_mean(question, self.ids[:5_000])
            raise UsageError(f"this run has no question {question!r:.100}.{near}")
        return self._numbers[question]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {id_: number for number, id_ in enumerate(self.ids)}

    def texts(self, name: str, system: str | None = None) -> pl.Series | None:
        """A column of texts, where there is one."""
        return self._column(name, system) if name in self.kinds_of else None

    def values(self, system: str, measure: str) -> Floats:
        """The scores of a system, NaN where there is none."""

        def read() -> tuple[Floats, int]:
            import polars as pl

            self._check_order(system)
            series = self._read([measure], system)[measure].cast(pl.Float64, strict=False)
            values = series.fill_null(float("nan")).to_numpy().copy()
            values[~np.isfinite(values)] = np.nan
            return values, values.nbytes

        values: Floats = self._held.get((system, "values", measure), read)
        return values

    def _check_order(self, system: str) -> None:
        """Refuse a file in which a system's questions stand in another order than the first one's."""

        def read() -> tuple[bool, int]:
            own = self._read(["question_id"], system)["question_id"]
            return bool((own == self._column("question_id")).all()), 1

        if not self._held.get((system, "order"), read):
            raise self._unsound("its systems do not have the same questions in the same order")

    def status(self, system: str) -> NDArray[np.uint8]:
        """The gravest status of each row of a system."""

        def read() -> tuple[NDArray[np.uint8], int]:
            import polars as pl

            series = self._read(["status"], system)["status"]
            unknown = [name for name in series.unique().to_list() if name not in _STATUS]
            if unknown:
                raise self._unsound(f"there is no status {unknown[0]!r:.40}; known are {', '.join(_STATUS)}")
            return series.replace_strict(_STATUS, return_dtype=pl.UInt8).to_numpy(), series.len()

        status: NDArray[np.uint8] = self._held.get((system, "statuses"), read)
        return status

    def failures(self, system: str) -> pl.Series | None:
        """The label of each question that a system fails; None where nobody looked."""
        if "failure" in self.kinds_of:
            return self.texts("failure", system)

        def look() -> tuple[pl.Series | None, int]:
            import polars as pl

            labels = self.facts.failures()
            if labels is None:
                return None, 0
            own = labels.get(system, {})
            return pl.Series([own.get(id_) for id_ in self.ids], dtype=pl.String), 16 * self.n

        series: pl.Series | None = self._held.get((system, "failures"), look)
        return series

    def shown(self, filters: Filters) -> tuple[list[str], list[str]]:
        """The systems and measures that filters name, or the first."""
        filters.known_to(self.systems, self.measures)
        asked = filters.systems or [name for name in (filters.a, filters.b) if name is not None]
        return list(dict.fromkeys(asked or self.systems[:SHOWN])), list(filters.measures or self.measures[:1])

    def difference(self, filters: Filters) -> Floats:
        """b - a by the first measure, NaN where one of them has no value."""
        _, measures = self.shown(filters)
        if filters.a is None or filters.b is None or not measures:
            raise UsageError("a difference is between two systems by a measure: give a and b.")
        return self.values(filters.b, measures[0]) - self.values(filters.a, measures[0])

    def masks(self, filters: Filters) -> dict[str, Bools]:
        """What each filter lets through, by its name; those that let everything through are none of them."""
        systems, measures = self.shown(filters)
        masks: dict[str, Bools] = {}
        if filters.text:
            masks["text"] = self._with_words(filters.text, systems[0])
        if filters.kinds:
            masks["kind"] = self._among(self.texts("kind"), filters.kinds)
        for tag, names in filters.tags:
            if tag not in self.tags:
                raise UsageError(f"this run has no tag {tag!r:.60}.{did_you_mean(tag, self.tags)}")
            masks[f"tag.{tag}"] = self._among(self.texts(f"tag.{tag}"), names)
        if filters.failures:
            masks["failure"] = self._among(self.failures(systems[0]), filters.failures)
        if filters.low is not None or filters.high is not None:
            values = self.values(systems[0], self._first(measures))
            low, high = (-np.inf if filters.low is None else filters.low), filters.high
            masks["range"] = (values >= low - SLACK) & (values <= (np.inf if high is None else high) + SLACK)
        if filters.differ is not None:
            gap = self.difference(filters)
            b, a = gap >= filters.differ - SLACK, -gap >= filters.differ - SLACK
            masks["differ"] = b if filters.side == "b" else a if filters.side == "a" else a | b
        if filters.status is not None:
            masks["status"] = self.status(systems[0]) == _STATUS[filters.status]
        if filters.labelled is not None:
            labels = self.facts.labels()
            masks["labelled"] = self._in(labels.keys()) == filters.labelled
        if filters.disagree is not None:
            masks["disagree"] = self._in(self.facts.disputed()) == filters.disagree
        return masks

    def _first(self, measures: Sequence[str]) -> str:
        if not measures:
            raise UsageError("this run has no measure.")
        return measures[0]

    def _in(self, ids: Any) -> Bools:
        return np.fromiter((id_ in ids for id_ in self.ids), bool, self.n)

    def _among(self, series: pl.Series | None, names: Sequence[str]) -> Bools:
        if series is None:
            return np.full(self.n, NO_VALUE in names)
        mask = series.is_in([name for name in names if name != NO_VALUE]).fill_null(NO_VALUE in names)
        return mask.to_numpy()

    def _with_words(self, text: str, system: str) -> Bools:
        """Questions of which every word stands in the id, the text, or the answer of a system."""
        places = [self.texts("question_id"), self.texts("question"), self.texts("answer", system)]
        columns = [series.str.to_lowercase() for series in places if series is not None]
        mask = np.ones(self.n, bool)
        for word in text.lower().split()[:32]:
            held = np.zeros(self.n, bool)
            for series in columns:
                held |= series.str.contains(word, literal=True).fill_null(False).to_numpy()
            mask &= held
        return mask

    def numbers(self, filters: Filters) -> Ints:
        """The places of the questions that filters let through, sorted."""

        def select() -> tuple[Ints, int]:
            mask = np.ones(self.n, bool)
            for one in self.masks(filters).values():
                mask &= one
            numbers = np.flatnonzero(mask)
            return numbers[self._order(filters, numbers)], 1

        key = (filters, frozenset(self.facts.labels())) if filters.labelled is not None else filters
        numbers: Ints = self._orders.get(key, select)
        return numbers

    def _order(self, filters: Filters, numbers: Ints) -> Ints:
        """The places among `numbers` in order; what has no value stands last, what is equal by number."""
        import polars as pl

        down, by = filters.order == "down", filters.sort
        if by == "number":
            return np.arange(len(numbers))[:: -1 if down else 1]
        if by in ("id", "text", "kind"):
            name = {"id": "question_id", "text": "question"}.get(by, by)
            series = self.texts(name)
            keys = pl.Series([None] * self.n, dtype=pl.String) if series is None else series
        else:
            keys = pl.Series(self.difference(filters) if by == "difference" else self._scores_by(by)).fill_nan(None)
        table = pl.DataFrame({"key": keys.gather(numbers), "number": numbers})
        order = table.select(pl.arg_sort_by("key", "number", descending=[down, False], nulls_last=True)).to_series()
        return order.cast(pl.Int64).to_numpy()

    def _scores_by(self, sort: str) -> Floats:
        for measure in self.measures:
            system = sort.removesuffix(f":{measure}")
            if system != sort and system in self._begin:
                return self.values(system, measure)
        raise UsageError(
            f"sort={sort!r:.80}: write number, id, text, kind, difference or SYSTEM:MEASURE, as in "
            f"{self.systems[0]}:{self._first(self.measures)}."
        )

    def page(self, filters: Filters, offset: int = 0, limit: int = PAGE) -> dict[str, Any]:
        """Some rows of the filtered list, thin: no hits, no reasons."""
        numbers = self.numbers(filters)
        systems, measures = self.shown(filters)
        rows = self.rows(numbers[offset : offset + limit], systems, measures)
        for row in rows:
            row["text"] = excerpt(row["text"], LONGEST)
        return {
            "total": len(numbers), "offset": offset, "of": self.n, "rows": rows, "measures": measures,
            "systems": systems,
        }  # fmt: skip

    def rows(self, numbers: Ints, systems: Sequence[str], measures: Sequence[str]) -> list[dict[str, Any]]:
        """These questions with what these systems scored."""
        chosen = numbers.tolist()
        picked = {name: self._picked(self.texts(name), numbers) for name in ("question", "kind")}
        tags = {tag: self._picked(self.texts(f"tag.{tag}"), numbers) for tag in self.tags}
        scores = {s: [self.values(s, m)[numbers].tolist() for m in measures] for s in systems}
        names = [status.name for status in Status]
        status = {s: self.status(s)[numbers].tolist() for s in systems}
        failures = {s: self._picked(self.failures(s), numbers) for s in systems}
        labels = self.facts.labels()
        return [
            {
                "n": number,
                "id": self.ids[number],
                "text": picked["question"][i] or "",
                "kind": picked["kind"][i],
                "tags": {tag: values[i] for tag, values in tags.items() if values[i] is not None},
                "scores": {s: [_real(column[i]) for column in columns] for s, columns in scores.items()},
                "status": {s: names[codes[i]] for s, codes in status.items()},
                "failure": {s: own[i] for s, own in failures.items() if own[i] is not None},
                "labels": labels.get(self.ids[number], 0),
            }
            for i, number in enumerate(chosen)
        ]

    def _picked(self, series: pl.Series | None, numbers: Ints) -> list[Any]:
        return [None] * len(numbers) if series is None else series.gather(numbers).to_list()

    def facets(self, filters: Filters) -> dict[str, Any]:
        """How many questions each value would show under the other filters, and the means of what is shown."""
        systems, measures = self.shown(filters)
        masks = self.masks(filters)

        def others(name: str) -> Bools:
            mask = np.ones(self.n, bool)
            for key, one in masks.items():
                if key != name:
                    mask &= one
            return mask

        every = others("")
        means = {}
        for system in systems if measures else ():
            values = self.values(system, measures[0])[every]
            known = values[~np.isnan(values)]
            means[system] = {"mean": float(known.mean()) if len(known) else None, "n": len(known)}
        return {
            "total": int(every.sum()), "of": self.n,
            "kinds": counted(self.texts("kind"), others("kind")),
            "tags": {tag: counted(self.texts(f"tag.{tag}"), others(f"tag.{tag}")) for tag in self.tags},
            "failures": {s: counted(self.failures(s), others("failure"), none=False) for s in systems},
            "measure": measures[0] if measures else None, "means": means,
        }  # fmt: skip

    def pieces(self, filters: Filters, size: int = 5_000) -> Iterator[list[dict[str, Any]]]:
        """The filtered rows piece by piece, with every measure unless some are named."""
        numbers = self.numbers(filters)
        systems, _ = self.shown(filters)
        for begin in range(0, len(numbers), size):
            yield self.rows(numbers[begin : begin + size], systems, filters.measures or self.measures)


def counted(series: pl.Series | None, mask: Bools, *, none: bool = True) -> list[dict[str, Any]]:
    """How often each value stands under a mask, the most frequent first."""
    if series is None:
        return []
    import polars as pl

    counts = series.filter(pl.Series(mask)).value_counts(sort=False, name="n").rows()
    named = [(NO_VALUE if value is None else value, n) for value, n in counts if none or value is not None]
    named.sort(key=lambda pair: (-pair[1], pair[0]))
    return [{"value": value, "n": n} for value, n in named[:MOST_VALUES]]


def _real(value: float) -> float | None:
    return None if value != value else value
