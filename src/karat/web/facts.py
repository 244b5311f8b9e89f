"""Facts: what the API says of a run besides its rows, and of runs over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.language import parse
from karat.report.labels import LABELS
from karat.results.serial import plain
from karat.web.rows import QuestionTable, counted
from karat.web.runs import View, summary_of

if TYPE_CHECKING:
    from karat.experiment.store import RunFolder


HAS = ("answers", "hits", "labels", "index", "steps")


def facts_of(view: View, run: RunFolder, table: QuestionTable | None) -> dict[str, Any]:
    """What a page of questions has to know: systems, measures, the values that filters take.

    Without a table, as of a running run, what its manifest says.
    """
    about = view.about(run)
    if table is None:
        nothing: dict[str, Any] = {"systems": [], "measures": [], "main": about["main"], "best": None, "k": None}
        nothing |= {"kinds": [], "tags": {}, "failures": _failures(), "has": dict.fromkeys(HAS, False)}
        return {name: about[name] for name in ("id", "name", "state", "questions")} | nothing
    every = np.ones(table.n, bool)
    main = table.measures[0] if table.measures else None
    return {
        "id": run.id,
        "name": about["name"],
        "state": run.state,
        "questions": table.n,
        "systems": list(table.systems),
        "measures": [measure_facts(name) for name in table.measures],
        "main": main,
        "best": summary_of(run).get("best") if summary_of(run).get("best") in table.systems else None,
        "k": next((own.k for name in table.measures[:1] if (own := known_measure(name)) is not None), None),
        "kinds": counted(table.texts("kind"), every),
        "tags": {tag: counted(table.texts(f"tag.{tag}"), every) for tag in table.tags},
        "failures": _failures(),
        "has": {
            "answers": "answer" in table.kinds_of,
            "hits": "ranked" in table.kinds_of,
            "labels": bool(view.label_counts(run)),
            "index": has_index(run),
            "steps": "steps" in table.kinds_of,
        },
    }


def _failures() -> list[dict[str, str]]:
    """Every label of a failure in words."""
    return [{"label": label, "title": words.title, "meaning": words.meaning} for label, words in LABELS.items()]


def has_index(run: RunFolder) -> bool:
    """Whether a run searched an index of karat's."""
    inputs = run.manifest.get("inputs")
    indexes = inputs.get("indexes") if isinstance(inputs, Mapping) else None
    return isinstance(indexes, list) and bool(indexes)


def known_measure(name: str) -> Any:
    """A registered measure by its name; None for any other. No code is loaded for a name."""
    try:
        return parse(name)
    except UsageError:
        return None


def measure_facts(name: str) -> dict[str, Any]:
    """A measure as pages draw it."""
    measure = known_measure(name)
    if measure is None:
        return {"name": name, "stage": "other", "direction": "none", "range": [None, None], "unit": ""}
    about = {"stage": measure.spec.stage, "direction": measure.spec.direction, "unit": measure.spec.unit}
    fields: dict[str, Any] = plain({"name": name, **about, "range": list(measure.bounds)})
    return fields


def trends(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Runs of one test set by one main measure in the order they were started, where there are several."""
    by: dict[tuple[str, str], list[dict[str, Any]]] = {}
    fields = ("id", "name", "started", "best", "mean", "low", "high")
    for run in sorted(runs, key=lambda run: run["started"] or ""):
        if run["testset"] is not None and run["main"] is not None and run["mean"] is not None:
            by.setdefault((run["testset"], run["main"]), []).append({name: run[name] for name in fields})
    return [{"testset": digest, "main": main, "runs": some} for (digest, main), some in by.items() if len(some) > 1]
