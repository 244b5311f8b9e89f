"""What karat.yaml means, checked before anything is read: names that exist, values that can be, keys that fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from karat.core.errors import KaratError, UsageError
from karat.experiment.rules import parse_rule
from karat.experiment.spec._check_answers import check_answers
from karat.experiment.spec._errors import Mistake
from karat.experiment.spec._fields import EmbedderKeys
from karat.experiment.spec._model import SpecKeys
from karat.experiment.spec._systems import CallKeys, EndpointKeys, EngineKeys, HttpKeys, PresetKeys, ResultsKeys
from karat.experiment.spec._yaml import Place
from karat.systems.environment import has_variables

SECRET = re.compile(
    r"authorization|cookie|api[-_]?key|secret|password|passwd|credential|(access|auth|bearer)[-_]?token|^(x-)?token$"
    r"|(^|-)(key|token)$",
    re.IGNORECASE,
)
_PATHS = ("ids", "docs", "pages", "urls", "texts", "scores", "answer")
_BUILT = ("chunk", "titles", "engines", "settings", "embedder")


def checked(keys: SpecKeys) -> list[Mistake]:
    """Every mistake; texts that wait for the environment are taken as right until it is known."""
    return list(_checks(keys))


def _tried(place: Place, check: Callable[[Any], object], value: Any) -> Iterator[Mistake]:
    if isinstance(value, str) and has_variables(value):
        return
    try:
        check(value)
    except KaratError as problem:
        yield place, str(problem)


def _checks(keys: SpecKeys) -> Iterator[Mistake]:
    yield from _named(("name",), keys.name, 60, folder=True)
    yield from _documents(keys)
    yield from _built(keys)
    yield from _systems(keys)
    yield from _sweep(keys)
    yield from _scoring(keys)
    for number, rule in enumerate(keys.gate or ()):
        yield from _tried(("gate", number), parse_rule, rule)
    yield from check_answers(keys, _tried, lambda: _names(keys))


def _named(place: Place, name: str, longest: int, *, folder: bool = False) -> Iterator[Mistake]:
    if not name.isprintable() or len(name) > longest:
        yield place, f"must be at most {longest} printable characters. Shorten it."
    elif folder and (name.startswith(".") or any(c in '/\\:*?"<>|' for c in name)):
        yield place, f"{name!r} cannot be part of a folder's name. Use letters, digits, - and _."


def _documents(keys: SpecKeys) -> Iterator[Mistake]:
    if keys.corpus is not None and keys.index is not None:
        yield ("index",), "stands beside corpus. Keep corpus to build an index, or index to use one that stands."
    if keys.index is not None:
        for name in _BUILT:
            if name in keys.model_fields_set:
                yield (
                    (name,),
                    "has no effect on an index that stands already. Remove it, or give corpus in place of index.",
                )
    if keys.corpus is None and keys.index is None:
        own = [i for i, system in enumerate(keys.systems) if needs_index(system)]
        if own:
            yield ("systems", own[0]), "searches documents, and none are named. Add corpus: FOLDER, or index: FOLDER."
        elif keys.sweep is not None:
            yield ("sweep",), "searches documents, and none are named. Add corpus: FOLDER, or index: FOLDER."
    if not keys.systems and keys.sweep is None:
        yield ("systems",), "names nothing to compare. List presets, such as [pure_dense, balanced, pure_sparse]."


def needs_index(system: Any) -> bool:
    """Whether a system of karat.yaml searches karat's own index."""
    if isinstance(system, EngineKeys):
        return ":" not in system.engine
    return isinstance(system, str | PresetKeys)


def _built(keys: SpecKeys) -> Iterator[Mistake]:
    from karat.corpus import Chunking
    from karat.retrieve import ENGINES

    for i, chunk in enumerate(keys.chunk):
        yield from _tried(("chunk", i), Chunking.parse, chunk)
    for i, embedder in enumerate(keys.embedder or ()):
        yield from _embedder(("embedder", i), embedder)
    for i, engine in enumerate(keys.engines):
        yield from _tried(("engines", i), ENGINES.get, engine)
    for name in ("chunk", "embedder", "engines"):
        values = getattr(keys, name) or ()
        twice = [i for i, value in enumerate(values) if value in values[:i]]
        if twice:
            yield (name, twice[0]), "stands here twice. Remove one."
    for name in keys.settings:
        if name not in keys.engines:
            yield ("settings", name), f"is no engine that is built. These are: {', '.join(keys.engines)}."


def _embedder(place: Place, value: str | EmbedderKeys) -> Iterator[Mistake]:
    from karat.models import EMBEDDERS

    def known(text: str) -> None:
        name = text.partition(":")[0]
        if name not in EMBEDDERS:
            EMBEDDERS.get(name)

    if isinstance(value, str):
        yield from _tried(place, known, value)
    else:
        yield from _tried((*place, "name"), known, value.name)


def _systems(keys: SpecKeys) -> Iterator[Mistake]:
    from karat.experiment.spec._listed import name_of

    names: dict[str, int] = {}
    for i, system in enumerate(keys.systems):
        place: Place = ("systems", i)
        before = len(found := list(_system(place, system, keys)))
        yield from found
        if before:
            continue
        name = name_of(system)
        yield from _named((*place, "name"), name, 80)
        if name in names:
            yield (
                (*place, "name") if not isinstance(system, str) and system.name else place,
                f"two systems are called {name!r} (the other is systems[{names[name]}]). Give each a name of its own.",
            )
        names.setdefault(name, i)


def _names(keys: SpecKeys) -> list[str]:
    from karat.experiment.spec._listed import name_of

    return [name_of(system) for system in keys.systems]


def _system(place: Place, system: Any, keys: SpecKeys) -> Iterator[Mistake]:
    from karat.experiment.spec.presets import preset_named

    if isinstance(system, str | PresetKeys):
        name = system if isinstance(system, str) else system.preset
        yield from _tried(place if isinstance(system, str) else (*place, "preset"), preset_named, name)
        if not has_variables(name):
            yield from _own(place, system, keys)
    elif isinstance(system, EngineKeys):
        yield from _own(place, system, keys)
    elif isinstance(system, CallKeys):
        yield from _tried((*place, "call"), _callable, system.call)
    elif isinstance(system, EndpointKeys):
        yield from endpoint((*place, "http"), system.http)
    else:
        assert isinstance(system, ResultsKeys)


def _callable(text: str) -> None:
    module, colon, name = text.partition(":")
    if not (module and colon and name and all(part.isidentifier() for part in name.split("."))):
        raise UsageError(f"{text!r} names no function. Write module:function, for example my_search:search.")


def _own(place: Place, system: str | PresetKeys | EngineKeys, keys: SpecKeys) -> Iterator[Mistake]:
    """Settings of karat's own system: none that would do nothing, and together they must make a system."""
    from karat.experiment.spec._check_answers import MODEL_NEEDED
    from karat.experiment.spec._listed import settings_of
    from karat.retrieve import STORES
    from karat.systems.settings import HYBRID, OF_FUSION

    if any(has_variables(text) for text in (getattr(system, "engine", ""), getattr(system, "fusion", None) or "")):
        return
    try:
        settings = settings_of(system)
    except KaratError:
        return
    hybrid = settings.engine == HYBRID
    idle: dict[str, bool] = {
        **{name: not hybrid or settings.fusion != fusion for name, fusion in OF_FUSION.items()},
        "fusion": not hybrid,
        "legs": not hybrid,
        "rerank_depth": settings.rerank is None,
        "embedder": not any(":" in name for name in (settings.engine, *settings.legs)),
    }
    for name, idles in idle.items():
        if idles and getattr(system, name, None) is not None:
            what = f"{settings.fusion} fusion" if hybrid else f"engine {settings.engine}"
            yield (*place, name), f"has no effect with {what}. Remove it."
            return
    kind, colon, target = settings.engine.partition(":")
    if colon:
        yield from _tried((*place, "engine"), STORES.get, kind)
        if not target:
            yield (*place, "engine"), f"{kind}: needs a path, for example {kind}:PATH."
    try:
        settings.check()
    except KaratError as problem:
        yield place, str(problem)
        return
    if settings.needs_chat and keys.model is None:
        yield place, f"asks a chat model to rewrite or rerank, {MODEL_NEEDED}"
    if keys.index is None:
        missing = [name for name in settings.consulted if ":" not in name and name not in keys.engines]
        built = ", ".join(keys.engines)
        if missing:
            yield place, f"searches {missing[0]!r}, which is not built. Add it to engines, which are {built}."
    embedder = getattr(system, "embedder", None)
    if embedder is not None:
        yield from _embedder((*place, "embedder"), embedder)


def endpoint(place: Place, http: HttpKeys, *, answers: bool = False) -> Iterator[Mistake]:
    """Mistakes in how an endpoint is asked, which retrieves or, given contexts, `answers`."""
    from karat.systems.outside._json_path import JsonPath

    for name in _PATHS:
        path = getattr(http, name)
        if path is not None:
            yield from _tried((*place, name), JsonPath.parse, path)
        if answers and path is not None and name != "answer":
            yield (*place, name), "has no effect: of an endpoint that answers only the answer is read. Remove it."
    if not answers and not any(getattr(http, name) for name in _PATHS if name != "scores"):
        yield place, "says nowhere what the reply holds. Add ids: $.hits[*].id, or another path."
    if http.method == "GET" and http.body is not None:
        yield (*place, "body"), "is not sent with GET. Put {question} into url, or use method: POST."
    usual = answers and http.body is None and http.method != "GET"
    if not usual and not any("{question}" in text for text in (http.url, *_texts(http.body))):
        yield place, "sends no question. Put {question} into body, or into url."
    for name, value in http.headers.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
            yield (*place, "headers"), f"{name!r} is no name of a header. Use letters, digits and -."
        elif SECRET.search(name) and not has_variables(value):
            yield (*place, "headers", name), IN_CLEAR
    for at, name, value in _entries(http.body, (*place, "body")):
        if SECRET.search(name) and isinstance(value, str) and not has_variables(value):
            yield at, IN_CLEAR
    yield from address((*place, "url"), http.url)


IN_CLEAR = (
    "is a secret in clear text. Write ${NAME} for it and set the environment variable NAME, so that it reaches no file."
)


def address(place: Place, url: str) -> Iterator[Mistake]:
    if url.startswith("${"):
        return
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.netloc)
    except ValueError:
        right = False
    if not right:
        yield place, "is no address. Write it like http://localhost:8000/search."
        return
    if "@" in parts.netloc:
        yield place, "holds a user name or a password. Send them in headers, as ${NAME}."
    for name, value in parse_qsl(parts.query):
        if SECRET.search(name) and "${" not in value:
            yield place, f"the parameter {name!r} {IN_CLEAR}"


def _texts(value: Any) -> Iterator[str]:
    from karat.systems.environment import texts_of

    return texts_of(value)


def _entries(value: Any, place: Place) -> Iterator[tuple[Place, str, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield (*place, name), str(name), inner
        yield from _entries(inner, (*place, name))


def _sweep(keys: SpecKeys) -> Iterator[Mistake]:
    if keys.sweep is None:
        return
    from karat.experiment.spec._listed import grid_of
    from karat.systems.settings import OF_FUSION

    values = keys.sweep.model_dump(exclude_none=True)
    if not values:
        yield ("sweep",), "names nothing to vary. Write for example alpha: 0:1:0.1."
        return
    problems: list[Mistake] = []
    for name, fusion in OF_FUSION.items():
        if name in values and fusion not in values.get("fusion", [fusion]):
            problems.append((("sweep", name), f"has no effect without the fusion {fusion}. Add it, or remove this."))
    problems += [
        (("sweep", "legs"), f"{name}: a sweep is over engines of one index. List it in systems.")
        for name in values.get("legs", ())
        if ":" in name
    ]
    for name, value in values.items():
        if any(has_variables(text) for text in _texts(value)):
            return
        problems += list(_tried(("sweep", name), lambda alone: grid_of(**alone), {name: value}))
    yield from problems
    if not problems:
        yield from _tried(("sweep",), lambda together: grid_of(**together), values)


def _scoring(keys: SpecKeys) -> Iterator[Mistake]:
    from karat.core.language import parse, parse_all
    from karat.match import MATCHERS
    from karat.measures.dialects import dialect_named

    yield from _tried(("dialect",), dialect_named, keys.dialect)
    for i, text in enumerate(keys.measures or ()):
        if ":" not in text:
            yield from _tried(("measures", i), lambda measure: parse_all(measure, k=1), text)
    if keys.main is not None and ":" not in keys.main:
        yield from _tried(("main",), parse, keys.main)
    if keys.match is not None and keys.match != "auto":
        yield from _tried(("match",), lambda text: MATCHERS.get(text.partition(":")[0]), keys.match)
