"""The measure language: `nDCG@10`, `P(rel=2)@5`, `Recall@{1,3,5}`, `Recall@800t`, `my_file:my_function`.

Names are case-insensitive on input and canonical on output, so `str(parse(x))` parses to itself. What trec_eval,
pytrec_eval and the RAG tools write (`ndcg_cut_10`, `recall_at_5`, `P_10`, `hit_rate_at_k`) is understood.

A name is looked up among registered measures. Only where a command line, a karat.yaml or a Python call names it may
`my_file:my_function` be loaded (`load_code`): whatever a file says stays a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from karat.core.errors import UsageError, did_you_mean
from karat.core.loading import USER, load_named
from karat.core.measure import MEASURES, Measure, MeasureSpec, find_measure
from karat.core.registry import key_of

_SHAPE = re.compile(r"(?P<name>[^()@{}]++)(?:\((?P<params>[^()]*+)\))?+\s*+(?:@\s*+(?P<cut>[\w.+-]++))?+")
_SUFFIX = re.compile(r"(?P<name>.*?)[_-]?(?:at|cut)?[_-](?P<cut>\d+(?:\.\d+)?|k)", re.IGNORECASE)
_BRACES = re.compile(r"\{([^{}]*)\}")


def parse_all(
    texts: str | Iterable[str],
    *,
    k: int | None = None,
    meant: Callable[[Measure], Measure] | None = None,
    names: Mapping[str, str] | None = None,
    load_code: bool = False,
) -> tuple[Measure, ...]:
    """Measures of several texts, braces and commas expanded, each once, in order; `meant` says what each stands for.

    `names` and `load_code` are as in `parse`.

    >>> [str(m) for m in parse_all("Recall@{1,5}, rr")]
    ['Recall@1', 'Recall@5', 'MRR']
    """
    measures: dict[str, Measure] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        for one in expand(text):
            named = parse(one, k=k, names=names, load_code=load_code)
            measure = named if meant is None else meant(named)
            earlier = measures.setdefault(measure.name, measure)
            if _home(earlier) != _home(measure):
                raise UsageError(
                    f"two measures are called {measure.name!r}, one of {_home(earlier)} and one of {_home(measure)}. "
                    "Rename one of the functions."
                )
    if not measures:
        raise UsageError("no measure was named. `karat measures` lists them.")
    return tuple(measures.values())


def _home(measure: Measure) -> str:
    """The module that defines a measure."""
    return str(getattr(measure.spec.function, "__module__", "")).removeprefix(USER)


def expand(text: str) -> list[str]:
    """One text per measure: commas outside brackets separate, braces multiply."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    pending = [p.strip() for p in (*parts, text[start:]) if p.strip()]
    done: list[str] = []
    while pending:
        part = pending.pop(0)
        braces = _BRACES.search(part)
        if braces is None:
            done.append(part)
            continue
        options = [o.strip() for o in braces[1].split(",") if o.strip()]
        if not options or len(options) > 1000:
            raise UsageError(f"cannot read the measure {text!r}: nothing (or too much) stands between the braces.")
        pending[:0] = [part[: braces.start()] + o + part[braces.end() :] for o in options]
    return done


def parse(
    text: str, *, k: int | None = None, names: Mapping[str, str] | None = None, load_code: bool = False
) -> Measure:
    """The measure a text names. A literal k (`Recall@k`, `recall_at_k`) takes its value from `k`.

    `names` are another system's bare names, in lower case, and what karat calls them; they come before karat's own.
    `load_code` is for what the user typed: `module:function` is imported then, which runs its code. Without it such a
    name is unknown, whatever files lie around.

    >>> str(parse("ndcg_cut_10")), str(parse("p(REL=2)@5")), str(parse("Recall@800t"))
    ('nDCG@10', 'Precision(rel=2)@5', 'Recall@800t')
    """
    bare = text.strip()
    shape = _SHAPE.fullmatch((names or {}).get(bare.lower(), bare))
    if shape is None:
        raise UsageError(f"cannot read the measure {text!r}. Write it like nDCG@10, P(rel=2)@5 or Recall@800t.")
    spec, cut = _resolve(shape["name"].strip(), shape["cut"], load_code)
    params = shape["params"] or ""
    if spec.at is not None:
        given = _read_params(f"{params}, {spec.at}={cut}" if cut is not None else params, spec)
        if spec.at not in dict(given):
            raise UsageError(f"{spec.name} needs a {spec.at} behind an @, for example {spec.name}@0.1.")
        return Measure(spec, given=given)
    at, tokens = _read_cut(cut, text, spec, k)
    return Measure(spec, at, tokens=tokens, given=_read_params(params, spec))


def _resolve(name: str, cut: str | None, load_code: bool) -> tuple[MeasureSpec, str | None]:
    if ":" in name:
        if not load_code:
            raise UsageError(
                f"{name!r} is not a registered measure. A function of yours is loaded only where -m or karat.yaml "
                "names it."
            )
        return load(name), cut
    spec = _named(name)
    if spec is None and cut is None:
        suffix = _SUFFIX.fullmatch(name)
        spec = _named(suffix["name"]) if suffix and suffix["name"] else None
        if suffix and spec is not None:
            return spec, suffix["cut"]
    if spec is None:
        known = [n for s in MEASURES for n in (s.name, *s.aliases)]
        raise UsageError(f"unknown measure {name!r}.{did_you_mean(name, known)} `karat measures` lists all of them.")
    return spec, cut


def _named(name: str) -> MeasureSpec | None:
    if name in MEASURES:
        return MEASURES.get(name)
    return _by_name(tuple(MEASURES.keys())).get(key_of(name))


@lru_cache(1)
def _by_name(registered: tuple[str, ...]) -> dict[str, MeasureSpec]:
    """Every name that the registered measures go by; the first to have a name keeps it."""
    specs = [MEASURES.get(key) for key in reversed(registered)]
    return {key_of(name): spec for spec in specs for name in (spec.name, *spec.aliases)}


def _read_cut(cut: str | None, text: str, spec: MeasureSpec, k: int | None) -> tuple[int | None, int | None]:
    if cut is None:
        if spec.cut == "required":
            if k is None:
                raise UsageError(f"{spec.name} needs a cut, for example {spec.name}@10.")
            return k, None
        return None, None
    if spec.cut == "none":
        raise UsageError(f"{text!r}: {spec.name} takes no cut. Write {spec.name}.")
    if cut.lower() == "k":
        if k is None:
            raise UsageError(f"{text!r}: which k? Write a number, for example {spec.name}@10, or give -k 10.")
        return k, None
    number = re.fullmatch(r"(\d+)(t?)", cut, re.IGNORECASE)
    if number is None or not 0 < int(number[1]) < 2**31:
        raise UsageError(f"{text!r}: the cut {cut!r} is neither a rank (10) nor a number of tokens (800t), from 1 up.")
    return (None, int(number[1])) if number[2] else (int(number[1]), None)


def _read_params(text: str, spec: MeasureSpec) -> tuple[tuple[str, Any], ...]:
    given: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = (s.strip() for s in part.partition("="))
        param = spec.param(name)
        given[param.name] = param.read(value if equals else "true", spec.name)
    rel = given.get("rel") if spec.stage == "retrieval" else None
    if rel is not None and rel < 1:
        raise UsageError(f"{spec.name}: rel={rel} would call judged-irrelevant documents relevant. Use 1 or more.")
    return tuple(given.items())


def load(name: str) -> MeasureSpec:
    """A measure of the user's own: `module:function`, the module importable or a file in this folder.

    Importing a module runs its code: only name files you would run yourself.
    """
    function = load_named(name, "measure")
    spec = find_measure(function)
    if spec is None:
        raise UsageError(f"{name!r} is not a measure. See docs/extend/README.md.")
    clash = (
        spec.name
        if not spec.name.isascii() or key_of(spec.name) not in MEASURES
        else f"{name.partition(':')[0].removesuffix('.py')}:{spec.name}"
    )
    return replace(spec, name=clash)
