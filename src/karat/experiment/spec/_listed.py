"""From the entries of karat.yaml to systems: their names, what tells them apart, and how they retrieve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from karat.experiment.spec._fields import BudgetKeys, EmbedderKeys
from karat.experiment.spec._systems import CallKeys, EndpointKeys, EngineKeys, PresetKeys, ResultsKeys
from karat.experiment.spec.presets import preset_named
from karat.models import EmbedderSettings
from karat.results.study import Configuration
from karat.retrieve.rewrite import needs_of
from karat.systems.outside import CallSettings, HttpSettings
from karat.systems.settings import CHAT, SystemSettings, steps_of

if TYPE_CHECKING:
    from karat.experiment.sweep.grid import Grid

Rooted = Callable[[str], str]
"""Makes a path relative to karat.yaml one that can be opened."""


@dataclass(frozen=True)
class ResultsFile:
    """Results that stand in a file; it may hold several systems."""

    path: Path


Source = SystemSettings | ResultsFile | CallSettings | HttpSettings


@dataclass(frozen=True)
class Listed:
    """A system of karat.yaml: how it is shown, and what retrieves: settings of karat's own, or what is asked."""

    name: str
    source: Source
    configuration: Configuration

    @property
    def is_own(self) -> bool:
        """Whether karat itself retrieves."""
        return isinstance(self.source, SystemSettings)


def listed(system: Any, budgets: BudgetKeys, rooted: Rooted, folder: Path) -> Listed:
    """One entry of `systems`, with its paths made to open."""
    name = name_of(system)
    if isinstance(system, str | PresetKeys | EngineKeys):
        settings = settings_of(system)
        return Listed(name, _opened(settings, rooted), _configuration(name, system, settings))
    if isinstance(system, ResultsKeys):
        shown = {"results": system.results}
        return Listed(name, ResultsFile(Path(rooted(system.results))), _told(name, system, shown))
    seconds = system.timeout_seconds or budgets.timeout_seconds
    if isinstance(system, CallKeys):
        jobs = system.jobs or budgets.jobs or 1
        return Listed(
            name, CallSettings(system.call, folder, seconds, jobs), _told(name, system, {"call": system.call})
        )
    assert isinstance(system, EndpointKeys)
    http = system.http
    paths = {name: getattr(http, name) for name in ("ids", "docs", "pages", "urls", "texts", "scores", "answer")}
    source = http.settings(
        body=http.body, paths={k: v for k, v in paths.items() if v is not None}, timeout_seconds=seconds,
        jobs=system.jobs or budgets.jobs or 4,
    )  # fmt: skip
    return Listed(name, source, _told(name, system, {"http": http.url}))


def _told(name: str, system: Any, shown: dict[str, Any]) -> Configuration:
    return Configuration(name, shown, system.description or "")


def name_of(system: Any) -> str:
    """What a system is called: its own name, or what is told from its settings as they are written."""
    if not isinstance(system, str) and system.name:
        return str(system.name)
    if isinstance(system, str):
        return preset_named(system).name if "${" not in system else system
    if isinstance(system, PresetKeys):
        base = preset_named(system.preset).name if "${" not in system.preset else system.preset
        return "+".join((base, *steps_of(system.rewrite or (), system.rerank)))
    if isinstance(system, EngineKeys):
        return settings_of(system).name
    if isinstance(system, ResultsKeys):
        return Path(system.results).name.split(".")[0] or system.results
    if isinstance(system, CallKeys):
        return system.call
    return urlsplit(system.http.url).hostname or "http" if "${" not in system.http.url else "http"


def settings_of(system: str | PresetKeys | EngineKeys) -> SystemSettings:
    """How one of karat's own systems retrieves, paths as they are written."""
    given: dict[str, Any] = {}
    if isinstance(system, str | PresetKeys):
        given.update(preset_named(system if isinstance(system, str) else system.preset).settings)
    if isinstance(system, str):
        return SystemSettings(**given)
    names = [field.name for field in fields(SystemSettings)]
    written = {name: value for name in names if (value := getattr(system, name, None)) is not None}
    given |= {name: tuple(value) if isinstance(value, list) else value for name, value in written.items()}
    if "embedder" in given:
        given["embedder"] = embedder_of(given["embedder"])
    return SystemSettings(**given)


def _configuration(name: str, system: str | PresetKeys | EngineKeys, settings: SystemSettings) -> Configuration:
    about = use_case = ""
    if isinstance(system, str | PresetKeys):
        preset = preset_named(system if isinstance(system, str) else system.preset)
        about, use_case = preset.description, preset.use_case
    if not isinstance(system, str) and system.description:
        about = system.description
    return Configuration(name, settings.described, about, use_case)


def embedder_of(value: str | EmbedderKeys, rooted: Rooted | None = None) -> EmbedderSettings:
    """The settings of an embedder; a folder it names is made to open."""
    if isinstance(value, str):
        made = EmbedderSettings.parse(value)
    else:
        made = EmbedderSettings.parse(value.name, **value.model_dump(exclude={"name"}))
    return made if rooted is None else _rooted(made, rooted)


def _rooted(embedder: EmbedderSettings, rooted: Rooted) -> EmbedderSettings:
    """The embedder with the folder that it names, where it names one, made to open."""
    if not embedder.target or embedder.name not in ("onnx", "sbert"):
        return embedder
    return replace(embedder, target=rooted(embedder.target))


def _opened(settings: SystemSettings, rooted: Rooted) -> SystemSettings:
    """The settings with every path in them made to open."""

    def stored(text: str) -> str:
        kind, colon, target = text.partition(":")
        return f"{kind}:{rooted(target)}" if colon and "://" not in target else text

    def listed_in(text: str) -> str:
        return text if needs_of(text) else stored(text)

    return replace(
        settings,
        engine=stored(settings.engine),
        legs=tuple(map(stored, settings.legs)),
        rewrite=tuple(map(listed_in, settings.rewrite)),
        rerank=rooted(settings.rerank) if settings.rerank and settings.rerank != CHAT else settings.rerank,
        embedder=_rooted(settings.embedder, rooted) if settings.embedder is not None else None,
    )


def grid_of(**values: Any) -> Grid:
    """The grid of a sweep, from its values as they are written.

    Without fusions named, what only one of them takes says which: alpha the weighted one, rrf_k rrf, both both.
    """
    from karat.experiment.sweep.grid import Grid

    values = {name: v[0] if isinstance(v, list) and len(v) == 1 else v for name, v in values.items()}
    if "fusion" not in values:
        weighted = "alpha" in values or "normalise" in values or "rrf_k" not in values
        values["fusion"] = [*(["weighted"] if weighted else []), *(["rrf"] if "rrf_k" in values else [])]
    return Grid.of(**values)
