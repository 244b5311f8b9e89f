"""What the keys about answers mean, checked before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from karat.core.errors import UsageError
from karat.experiment.spec._answers import AnswerKeys, ModelKeys, chat_settings, model_keys
from karat.experiment.spec._errors import Mistake
from karat.experiment.spec._model import SpecKeys
from karat.experiment.spec._yaml import Place

Tried = Callable[[Place, Callable[[Any], object], Any], Iterator[Mistake]]
CALL, HTTP, CHAT = "call", "http", "chat"
MODEL_NEEDED = "and none is named. Add `model: NAME`, with base_url where it is not OpenAI's, or give --model."


def check_answers(keys: SpecKeys, tried: Tried, names: Callable[[], list[str]]) -> Iterator[Mistake]:
    """Mistakes in answer, model, judge and their budget; `names` gives those of the listed systems."""
    if keys.answer is not None:
        yield from _answer(keys, keys.answer, tried, names)
    yield from _judges(keys, tried)
    for place, value in (("model", keys.model), ("judge_model", keys.judge_model)):
        if isinstance(value, ModelKeys):
            yield from _model((place,), value, tried)
    budget = keys.budgets.max_cost_usd
    for place, value in (("model", keys.model), ("judge_model", keys.judge_model)):
        if budget is not None and value is not None:
            model = model_keys(value)
            if model.price_in_usd is None or model.price_out_usd is None:
                yield (place,), "has no prices, so max_cost_usd could not be kept. Add price_in_usd and price_out_usd."


def _answer(keys: SpecKeys, answer: AnswerKeys, tried: Tried, names: Callable[[], list[str]]) -> Iterator[Mistake]:
    from karat.experiment.spec._checks import endpoint

    kind, _, target = answer.by.partition(":")
    if kind == CALL:
        if not all(target.partition(":")):
            yield ("answer", "by"), "names no function. Write call:MODULE:FUNCTION."
    elif kind == HTTP:
        if answer.http is None and not target:
            yield ("answer", "by"), "names no endpoint. Add http: with its url, body and answer."
        elif answer.http is not None:
            yield from endpoint(("answer", "http"), answer.http, answers=True)
    else:
        yield from tried(("answer", "by"), _registered, answer.by)
    idle = {
        "threshold": kind != "extractive",
        "prompt": kind != CHAT,
        "http": kind != HTTP,
        "timeout_seconds": kind not in (CALL, HTTP),
        "jobs": kind not in (CALL, HTTP),
    }
    for name, idles in idle.items():
        if idles and getattr(answer, name) is not None:
            yield ("answer", name), f"has no effect with {kind}. Remove it."
    if kind == CHAT and keys.model is None:
        yield ("answer", "by"), f"chat asks a model, {MODEL_NEEDED}"
    for i, name in enumerate(answer.systems or ()):
        if keys.sweep is None and name not in names():
            yield ("answer", "systems", i), f"no system is called {name!r}. There are {', '.join(names())}."


def _registered(name: str) -> None:
    from karat.answer import ANSWERERS
    from karat.core.errors import did_you_mean

    if name not in ANSWERERS:
        known = [*ANSWERERS.keys(), "call:MODULE:FUNCTION", HTTP]
        raise UsageError(f"no answerer is called {name!r}.{did_you_mean(name, known)} There are {', '.join(known)}.")


def _judges(keys: SpecKeys, tried: Tried) -> Iterator[Mistake]:
    from karat.core.language import parse_all

    for name in ("judge", "measures"):
        for i, text in enumerate(getattr(keys, name) or ()):
            if ":" in text:
                continue
            found = list(tried((name, i), lambda measure: parse_all(measure, k=1), text)) if name == "judge" else []
            yield from found
            try:
                measures = parse_all(text, k=1)
            except UsageError:
                continue
            asks = [m for m in measures if "chat" in m.needs]
            if name == "judge" and not any("chat" in m.spec.needs for m in measures):
                yield (name, i), f"{text} asks no language model. List it under measures."
            elif asks and keys.model is None and keys.judge_model is None:
                remedy = f"Or write {asks[0].spec.name}(by=heuristic), which asks none and is labelled so."
                yield (name, i), f"{asks[0].name} asks a language model, {MODEL_NEEDED} {remedy}"
            if any("cross_encoder" in m.needs for m in measures) and keys.cross_encoder is None:
                yield (name, i), "needs a model. Add cross_encoder: FOLDER."


def _model(place: Place, model: ModelKeys, tried: Tried) -> Iterator[Mistake]:
    from karat.experiment.spec._checks import IN_CLEAR, SECRET, address

    if model.base_url is not None:
        yield from address((*place, "base_url"), model.base_url)
    secret = [name for name, value in model.extra.items() if SECRET.search(name) and isinstance(value, str)]
    for name in secret:
        yield (*place, "extra", name), IN_CLEAR
    if not secret:
        yield from tried(place, chat_settings, model.model_copy(update={"base_url": None}))
