"""Tuning: a finished run opened for tuning: its index where it stands, its questions, and how they were scored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, KaratError, UsageError

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.experiment.spec import Spec
    from karat.experiment.store import RunFolder
    from karat.experiment.sweep.tuner import Tuner
    from karat.retrieve import Progress
    from karat.systems.settings import SystemSettings

OWN = ("engine", "fusion", "alpha", "normalise", "rrf_k", "depth")


@dataclass(frozen=True)
class RunIndex:
    """The index that a run searched: where it stands, and which generation of it that was."""

    path: Path
    generation: str


def index_of_run(run: RunFolder, runs_dir: Path) -> RunIndex:
    """The index of a run, as it was when the run searched it; what is missing is told with how to mend it."""
    listed = _mapping(run.manifest.get("inputs")).get("indexes")
    entries = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    if not entries:
        raise UsageError(
            "this run searched no index of karat's: it holds results alone. Index the documents and run again with "
            "`corpus` or `index` in karat.yaml."
        )
    if len(entries) > 1:
        raise UsageError(
            f"this run has {len(entries)} indexes, and one is tuned at a time. Run one way of indexing alone, or use "
            "`karat sweep`."
        )
    path, generation = str(entries[0].get("path", "")), str(entries[0].get("generation", ""))
    again = "Run the same command again: `karat run` builds it and this page goes on with the new run."
    places = [Path(path), runs_dir.parent / path, runs_dir / "indexes" / Path(path).name]
    there = [place for place in places if path and isfile(place / "index.json")]
    if not there:
        raise InputError("the index is not there any more", place=path, remedy=again)
    for place in there:
        if _generation(place) == generation:
            return RunIndex(place, generation)
    raise InputError("the index was built again since this run", place=str(there[0]), remedy=again)


def _generation(path: Path) -> str | None:
    try:
        return str(json.loads((path / "index.json").read_text(encoding="utf-8"))["generation"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def spec_of_run(run: RunFolder) -> Spec:
    """The experiment that a run did, from its manifest; no code that it names is loaded."""
    from karat.experiment.spec import spec_of

    values = run.manifest.get("spec")
    try:
        return spec_of(json.dumps(values), run.path, "the spec of this run")
    except KaratError as problem:
        raise InputError(
            f"its manifest has a spec that this karat does not read: {problem}", place=run.id, remedy="Run it again."
        ) from None


def open_tuner(
    run: RunFolder, testset: TestSet, runs_dir: Path, progress: Progress = lambda what, done, total: None
) -> Tuner:
    """A tuner over the index and the questions of a run, by its main measure and matched as it matched."""
    from karat.experiment.sweep.tuner import Tuner
    from karat.systems.index import Index

    run_index, spec = index_of_run(run, runs_dir), spec_of_run(run)
    main = spec.main if ":" not in spec.main else None
    if main is not None:
        main = _without_cut(main)
    depths = [settings.depth for settings in own_systems(spec).values()]
    return Tuner.open(
        testset,
        Index.open(run_index.path),
        spec.choices(),
        main=main,
        cuts=spec.cutoffs,
        depths=depths,
        progress=progress,
    )


def _without_cut(main: str) -> str | None:
    """A main measure at any cut-off; None where it is no measure of retrieval."""
    from karat.core.language import parse

    measure = parse(main)
    if measure.spec.stage != "retrieval":
        return None
    return measure.name.rpartition("@")[0] if measure.k is not None else measure.name


def own_systems(spec: Spec) -> dict[str, SystemSettings]:
    """The systems of a run that can be tuned: over an index, of the usual legs, with nothing before and after."""
    from karat.systems.settings import SystemSettings

    systems = {one.name: one.source for one in spec.systems() if isinstance(one.source, SystemSettings)}
    if spec.grid is not None:
        systems |= {point.name: point.system for point in spec.grid.points(1)[0]}
    usual = {*SystemSettings.legs}
    return {
        name: settings
        for name, settings in systems.items()
        if {*settings.consulted} <= usual and not (settings.rewrite or settings.rerank or settings.embedder)
    }


def setting_of(settings: SystemSettings) -> dict[str, str]:
    """The values by which a tuner is asked for a system."""
    from karat.systems.settings import HYBRID, OF_FUSION

    if settings.engine != HYBRID:
        return {"fusion": "weighted", "alpha": "1" if settings.engine == settings.legs[0] else "0"}
    values = {name: f"{getattr(settings, name)}" for name, of in OF_FUSION.items() if of == settings.fusion}
    return {"fusion": settings.fusion, "depth": str(settings.depth), **values}


def entry_settings(settings: SystemSettings) -> dict[str, Any]:
    """What karat.yaml says of a system: its engine, and what is not as usual."""
    from karat.systems.settings import SystemSettings

    usual, described = SystemSettings(), settings.described
    always = ("engine", "alpha")
    return {
        name: described[name]
        for name in OWN
        if name in described and (name in always or described[name] != getattr(usual, name))
    }


def spec_file_of(run: RunFolder, folder: Path) -> Path:
    """The karat.yaml that a tuned system goes to: that of the run where it still stands, else that of a folder."""
    from karat.experiment.spec import FILE

    named = _mapping(run.manifest.get("inputs")).get("spec_file")
    own = Path(named) if isinstance(named, str) else None
    return own if own is not None and own.is_absolute() and isfile(own) else folder / FILE


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
