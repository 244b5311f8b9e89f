"""What a karat.yaml makes karat run or ask: functions of the user's, folders of models, hosts, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from karat.experiment.spec._answers import model_keys
from karat.experiment.spec._listed import embedder_of
from karat.experiment.spec._systems import CallKeys, EndpointKeys
from karat.models import EmbedderSettings
from karat.models.hosts import OPENAI, host_of
from karat.systems.settings import CHAT

if TYPE_CHECKING:
    from karat.experiment.spec._model import SpecKeys

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Use:
    """One thing that a key names: code that is run, a model that is loaded from a folder, or a host that is asked."""

    place: Place
    kind: Literal["code", "model", "host"]
    name: str

    @property
    def refused(self) -> str:
        """What it would do, as the beginning of a sentence."""
        what = {"code": "would run the code of", "model": "would load the model in", "host": "would ask the host"}
        return f"{what[self.kind]} {self.name}"


def uses_of(keys: SpecKeys) -> Iterator[Use]:
    """Everything that runs or is asked because a key says so, in the order of the keys."""
    for key in ("measures", "judge"):
        for i, text in enumerate(getattr(keys, key) or ()):
            yield from _measured((key, i), text)
    if keys.main is not None:
        yield from _measured(("main",), keys.main)
    for i, embedder in enumerate(keys.embedder or ()):
        yield from _embedded(("embedder", i), embedder_of(embedder))
    if isinstance(own := keys.settings.get("dense", {}).get("embedder"), Mapping):
        yield from _embedded(("settings", "dense", "embedder"), EmbedderSettings.of(own))
    if keys.cross_encoder is not None:
        yield Use(("cross_encoder",), "model", keys.cross_encoder)
    for i, system in enumerate(keys.systems):
        yield from _systems(("systems", i), system)
    if keys.sweep is not None:
        yield from _systems(("sweep",), keys.sweep)
    if keys.answer is not None:
        yield from _answered(("answer",), keys.answer)
    for key in ("model", "judge_model"):
        if (model := getattr(keys, key)) is not None:
            yield _asked((key,), model_keys(model).base_url or OPENAI)


def _measured(place: Place, text: str) -> Iterator[Use]:
    if ":" in text.partition("(")[0]:
        yield Use(place, "code", text)


def _embedded(place: Place, embedder: EmbedderSettings) -> Iterator[Use]:
    if embedder.address is not None:
        yield _asked(place, embedder.address)
    if embedder.folder is not None:
        yield Use(place, "model", embedder.label)


def _systems(place: Place, system: Any) -> Iterator[Use]:
    if isinstance(system, CallKeys):
        yield Use((*place, "call"), "code", system.call)
    elif isinstance(system, EndpointKeys):
        yield _asked((*place, "http", "url"), system.http.url)
    for key in ("engine", "engines", "legs"):
        named = getattr(system, key, None) or ()
        for text in (named,) if isinstance(named, str) else named:
            if "://" in text:
                yield _asked((*place, key), text.partition(":")[2])
    rerank = getattr(system, "rerank", None)
    if rerank is not None and rerank != CHAT:
        yield Use((*place, "rerank"), "model", rerank)
    if getattr(system, "embedder", None) is not None:
        yield from _embedded((*place, "embedder"), embedder_of(system.embedder))


def _answered(place: Place, answer: Any) -> Iterator[Use]:
    kind, _, target = answer.by.partition(":")
    if kind == "call":
        yield Use((*place, "by"), "code", target)
    elif answer.http is not None:
        yield _asked((*place, "http", "url"), answer.http.url)
    elif kind in ("http", "https"):
        yield _asked((*place, "by"), answer.by if target.startswith("//") else target)


def _asked(place: Place, address: str) -> Use:
    """The host of an address; what waits for the environment, or for a question, is shown as it is written."""
    parts = urlsplit(address)
    waits = "{" in parts.netloc or not parts.netloc
    return Use(place, "host", (parts.netloc or address) if waits else host_of(f"{parts.scheme}://{parts.netloc}"))
