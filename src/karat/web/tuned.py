"""Tuned: the figures of a setting as the page of tuning shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.types import NO_VALUE
from karat.experiment.study import values_of
from karat.experiment.tuning import own_systems, setting_of, spec_of_run
from karat.results.serial import plain
from karat.stats.arrays import TIE, Floats, finite, mean_known
from karat.stats.summary import summarise
from karat.web.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from karat.core.measure import Measure
    from karat.core.scores import Scores
    from karat.experiment.store import RunFolder
    from karat.experiment.sweep.grid import Grid
    from karat.experiment.sweep.swept import Swept
    from karat.experiment.sweep.tuner import Tuner
    from karat.results.evaluation import Summary
    from karat.web.runs import View

SHOWN = 50  # questions that are named of those won, and of those lost
LONGEST = 200  # characters of a question that is named
TEXT = 600  # characters of a hit


def figures_of(tuner: Tuner, run: RunFolder, view: View, grid: Grid, baseline: str | None) -> dict[str, Any]:
    """Means of all measures, of the main one by kind, and the questions won and lost against a baseline."""
    swept = tuner.swept(grid)
    scores, main = swept.scores, swept.cells[0]
    before = _TunedBaseline(tuner, run, view, grid, baseline) if baseline else None
    earlier = {m.name: before.values(m) if before is not None else None for m in scores.measures}
    nothing = np.full(len(tuner.testset), np.nan)
    values = np.stack([nothing if one is None else one for one in earlier.values()], axis=-1)[None]
    of_baseline = replace(scores, values=values, status=np.zeros(values.shape, np.uint8))
    kinds = [question.kind for question in tuner.testset] if "kind" in tuner.testset.slices else None
    own = values_of(scores, main.name)[0]
    units = {measure.name: measure.spec.unit for measure in scores.measures}
    rows, by_kind = [], []
    for now, then in zip(_summaries(scores, kinds), _summaries(of_baseline, kinds), strict=True):
        shown: dict[str, Any] = {"mean": now.mean, "n": now.n, "baseline": None, "baseline_n": None, "difference": None}
        if (other := earlier[now.measure]) is not None:
            gap = (values_of(scores, now.measure)[0] - other)[_of_kind(kinds, now.value)]
            shown |= {"baseline": then.mean, "baseline_n": then.n, "difference": finite(float(mean_known(gap)))}
        if now.slice is None:
            rows.append({"name": now.measure, "unit": units[now.measure], **shown})
        elif now.measure == main.name:
            by_kind.append({"kind": now.value, **shown})
    return {
        "name": swept.configurations[0].name,
        "settings": plain(swept.configurations[0].settings),
        "main": main.name,
        "lower": main.spec.direction == "lower",
        "measures": rows,
        "kinds": by_kind,
        "baseline": baseline if before is not None else None,
        "against": _against(tuner, main, own, earlier[main.name]),
    }


def _summaries(scores: Scores, kinds: Sequence[str | None] | None) -> tuple[Summary, ...]:
    """Means as a sweep has them, without intervals."""
    return summarise(scores, slices={} if kinds is None else {"kind": kinds}, intervals=False)


def _of_kind(kinds: Sequence[str | None] | None, value: str | None) -> Any:
    """Which questions are of a kind; all for None."""
    return slice(None) if kinds is None or value is None else np.array([(kind or NO_VALUE) == value for kind in kinds])


def _against(tuner: Tuner, main: Measure, own: Floats, earlier: Floats | None) -> dict[str, Any] | None:
    """Questions won, lost and equal, those that differ most first."""
    if earlier is None:
        return None
    sign = -1.0 if main.spec.direction == "lower" else 1.0
    gain = sign * (own - earlier)
    both = np.isfinite(gain)

    def named(chosen: Any) -> list[dict[str, Any]]:
        order = sorted(np.flatnonzero(chosen).tolist(), key=lambda q: (-abs(gain[q]), q))[:SHOWN]
        return [
            {
                "id": one.id,
                "text": one.text[:LONGEST],
                "kind": one.kind,
                "value": float(own[q]),
                "baseline": float(earlier[q]),
            }
            for q in order
            for one in (tuner.testset.questions[q],)
        ]

    won, lost = both & (gain > TIE), both & (gain < -TIE)
    counts = {"won": int(won.sum()), "lost": int(lost.sum()), "n": int(both.sum())}
    return {**counts, "won_questions": named(won), "lost_questions": named(lost)}


class _TunedBaseline:
    """The scores of a system of the run: as the run has them, else worked out at another cut-off."""

    def __init__(self, tuner: Tuner, run: RunFolder, view: View, grid: Grid, name: str) -> None:
        self._table, self._name = view.table(run), name
        Filters(systems=(name,)).known_to(self._table.systems, self._table.measures)
        self._ids = {id_: place for place, id_ in enumerate(self._table.ids)}
        self._order = np.array([self._ids.get(id_, -1) for id_ in tuner.testset.ids])
        settings = own_systems(spec_of_run(run)).get(name)
        self._swept: Swept | None = None
        if settings is not None and settings.depth in tuner.depths:
            self._swept = tuner.swept(tuner.grid(**setting_of(settings), k=str(grid.k[0])))

    def values(self, measure: Measure) -> Floats | None:
        """Its value for every question; None where the run has none at this cut-off and it is none of karat's own."""
        cut = measure.k is not None or measure.tokens is not None
        if cut and measure.name in self._table.measures and (self._order >= 0).all():
            held: Floats = np.asarray(self._table.values(self._name, measure.name), np.float64)[self._order]
            return held
        if self._swept is None:
            return None
        values: Floats = values_of(self._swept.scores, measure.name)[0]
        return values


def curve_of(tuner: Tuner, one: Swept, many: Swept) -> dict[str, Any]:
    """Intervals of a setting, the main measure over alpha, and what of that is chance."""
    main, name = many.cells[0], one.configurations[0].name
    kinds = ("kind",) if "kind" in tuner.testset.slices else ()
    summaries = one.evaluation(kinds).summaries
    choice = many.choice(seed=tuner.choices.seed)
    reply: dict[str, Any] = {
        "main": main.name,
        "measures": [_interval(s.measure, s) for s in summaries if s.slice is None],
        "kinds": [_interval(s.value, s) for s in summaries if s.slice is not None and s.measure == main.name],
        "curve": [], "choice": None, "name": name,
    }  # fmt: skip
    if choice is None:
        return reply
    equal = {pair.a: pair for pair in (*choice.equals, *choice.beaten)}
    same = {pair.a for pair in choice.equals} | {choice.best.system}
    for configuration, cell in _cells(many, choice.cells):
        pair = equal.get(configuration.name)
        reply["curve"].append({
            "name": configuration.name, "alpha": configuration.alpha, "mean": finite(cell.mean), "low": cell.low,
            "high": cell.high, "best": configuration.name == choice.best.system, "same": configuration.name in same,
            "chosen": configuration.name == name, "p": pair.adjusted if pair is not None else None,
        })  # fmt: skip
    alphas = sorted(point["alpha"] for point in reply["curve"] if point["same"] and point["alpha"] is not None)
    reply["choice"] = plain({
        "best": choice.best.system, "sentences": list(choice.sentences), "optimism": choice.optimism,
        "expected": choice.cross_validated, "expected_low": choice.expected_low, "expected_high": choice.expected_high,
        "plateau": alphas, "of": len(reply["curve"]), "flat": not choice.beaten,
    })  # fmt: skip
    return reply


def _interval(name: str | None, summary: Any) -> dict[str, Any]:
    return {"name": name, "mean": summary.mean, "low": summary.low, "high": summary.high, "n": summary.n}


def _cells(swept: Swept, cells: Any) -> Iterator[tuple[Any, Any]]:
    """Each configuration with its cell, by alpha; those without one last."""
    by_name = {cell.system: cell for cell in cells}
    order = sorted(swept.configurations, key=lambda c: (c.alpha is None, c.alpha or 0.0))
    yield from ((configuration, by_name[configuration.name]) for configuration in order)


def hits_of(tuner: Tuner, query: str, k: int, grid: Grid) -> dict[str, Any]:
    """The first hits of each engine and of the fusion, with what each gave; gold where the query is a question."""
    from karat.experiment.explain import explain_query
    from karat.systems.system import System

    (point,) = grid.points(k)[0]
    fused = explain_query(System(point.system, tuner.index), query, k)
    number = next((n for n, one in enumerate(tuner.testset) if one.text.strip() == query.strip()), None)
    gold = (
        {tuner.index.chunks[row].id for row in tuner.resolution.gold_rows(number).tolist()}
        if number is not None
        else ()
    )
    lists = [{"name": point.name, "hits": [_hit(hit, gold, tuner) for hit in _fused_hits(fused)]}]
    known = {name for name, _ in fused.legs}
    legs = dict(fused.legs)
    for leg in point.system.legs:
        if leg not in known:
            legs |= dict(explain_query(System(replace(point.system, engine=leg), tuner.index), query, k).legs)
    if fused.fusion is None:
        lists = []
    for leg, hits in sorted(legs.items(), key=lambda item: point.system.legs.index(item[0])):
        rows = [{"id": h.chunk, "rank": h.rank, "score": h.score, "made_of": h.made_of, "parts": []} for h in hits]
        lists.append({"name": leg, "hits": [_hit(row, gold, tuner) for row in rows]})
    question = tuner.testset.questions[number].id if number is not None else None
    shown: dict[str, Any] = plain(
        {"query": query, "k": k, "question": question, "lists": lists, "notes": list(fused.notes)}
    )
    return shown


def _fused_hits(fused: Any) -> list[dict[str, Any]]:
    return [
        {"id": hit.chunk, "rank": hit.rank, "score": hit.score, "made_of": (), "parts": [
            {"engine": name, "rank": part.rank, "score": part.score, "share": part.contribution}
            for (name, _), part in zip(fused.legs, hit.parts, strict=True)
        ]}
        for hit in fused.fused
    ]  # fmt: skip


def _hit(hit: dict[str, Any], gold: Any, tuner: Tuner) -> dict[str, Any]:
    """A hit with its text."""
    chunk = tuner.index.chunks[tuner.index.chunks.row_of[hit["id"]]]
    text = chunk.text if len(chunk.text) <= TEXT else f"{chunk.text[:TEXT]}…"
    return {
        **hit,
        "doc": chunk.doc,
        "page": chunk.pages[0] if chunk.pages else None,
        "text": text,
        "gold": hit["id"] in gold,
    }
