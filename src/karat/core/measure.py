"""What a measure is: a function with a declared range, direction and stage, and its uses at a cut with parameters.

A file that holds a measure imports all that it needs to declare one from here.
"""

from __future__ import annotations

import inspect
import keyword
import typing
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from types import ModuleType, SimpleNamespace
from typing import Any, Literal, TypeVar

import numpy as np

from karat.core.answered import AnswerTable
from karat.core.claims import Relation
from karat.core.errors import UsageError, did_you_mean
from karat.core.judged import Bools, Cut, Floats, Ints, Judged
from karat.core.models import Need
from karat.core.registry import Registry
from karat.core.scores import EMPTY_ANSWER, Floor, MeasureResult
from karat.core.text.normalise import Norm

__all__ = [
    "ANYTHING", "CONDENSED", "EMPTY_ANSWER", "MEASURES", "REL", "AnswerTable", "Bools", "Column", "Cut", "Floats",
    "Ints", "Judged", "Measure", "MeasureResult", "MeasureSpec", "Norm", "find_measure", "measure",
]  # fmt: skip

Column = Floats
F = TypeVar("F", bound=Callable[..., Any])
Stage = Literal["retrieval", "answer"]
Direction = Literal["higher", "lower", "none"]
Bounds = tuple[float, float]
ANYTHING: Bounds = (-np.inf, np.inf)
_CHAT = ("model", "chat")  # what `by` may say where a chat model is asked
ROW_INPUTS = ("answer", "question", "reference", "references", "contexts")


@dataclass(frozen=True)
class Param:
    """A keyword parameter of a measure: what may stand in `Name(param=value)`."""

    name: str
    default: Any
    choices: tuple[Any, ...] = ()
    type: type = float

    @property
    def keyword(self) -> str:
        """What the function calls it: `in_` for `in`, which Python keeps for itself."""
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name

    def read(self, text: str, measure: str) -> Any:
        """The value a user wrote, checked."""
        if self.choices:
            known = {str(choice).lower(): choice for choice in self.choices}
            if text.lower() in known:
                return known[text.lower()]
            raise UsageError(f"{measure}: {self.name}={text} is not one of {', '.join(map(str, self.choices))}.")
        try:
            if self.type is bool:
                return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
            if self.type is str:
                return text
            number = float(text)
            if not np.isfinite(number) or (self.type is int and number != int(number)):
                raise ValueError
            return int(number) if self.type is int else number
        except (KeyError, ValueError):
            kind = {int: "a whole number", float: "a number", bool: "true or false"}[self.type]
            raise UsageError(f"{measure}: {self.name}={text} is not {kind}.") from None


REL = Param("rel", None, type=int)
CONDENSED = Param("condensed", False, type=bool)


@dataclass(frozen=True)
class MeasureSpec:
    """A registered measure, before a cut and parameters are chosen."""

    name: str
    function: Callable[..., Column | MeasureResult]
    _: KW_ONLY
    stage: Stage = "retrieval"
    bounds: Bounds | Callable[..., Bounds] = (0.0, 1.0)
    direction: Direction = "higher"
    best_for: str = ""
    prefer: str = ""
    formula: str = ""  # in one line
    defined_by: str = ""  # whose definition it is
    aliases: tuple[str, ...] = ()
    cut: Literal["none", "optional", "required"] = "none"
    at: str | None = None  # the parameter that stands behind the @, of a measure without a cut: IPrec@0.1
    scale: Literal["linear", "log"] = "linear"  # on which its values are averaged: log gives the geometric mean
    params: tuple[Param, ...] = ()
    shown: tuple[str, ...] = ()
    follows_rel: bool = True  # whether --rel changes what it counts
    needs_gold: bool = True
    needs_steps: bool = False  # whether it is about the calls of a question one after the other
    needs_contexts: bool = False
    needs_reference: bool = False  # whether it is undefined without a reference answer
    needs_answer: bool = True  # of a measure of answers: whether it is undefined for a system that gives none
    floors: Callable[..., Mapping[int, Floor]] | None = None  # of answers and values, what chance gives each system
    needs: tuple[Need, ...] = ()  # models that it asks; a chat model only where a parameter `by` names one
    relations: tuple[Relation, ...] | Callable[..., tuple[Relation, ...]] = ()  # of the claims table, which it needs
    unit: Literal["", "count", "share"] = ""
    variants: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def notes(self) -> str:
        """The docstring below its first line."""
        return (inspect.getdoc(self.function) or "").partition("\n")[2].strip()

    @property
    def all_params(self) -> tuple[Param, ...]:
        """Its own parameters; ranking measures also take `rel` and `condensed`."""
        return (*self.params, REL, CONDENSED) if self.stage == "retrieval" else self.params

    def param(self, name: str) -> Param:
        """A parameter by name."""
        known = {p.name.lower(): p for p in self.all_params}
        if name.lower() not in known:
            offered = f"It takes {', '.join(known)}." if known else "It takes no parameters."
            raise UsageError(f"{self.name} has no parameter {name!r}.{did_you_mean(name, known)} {offered}")
        return known[name.lower()]


@dataclass(frozen=True)
class Measure:
    """A measure as asked for: `nDCG@10`, `P(rel=2)@5`, `Recall@800t`."""

    spec: MeasureSpec = field(compare=False)
    k: int | None = field(default=None, compare=False)
    _: KW_ONLY
    tokens: int | None = field(default=None, compare=False)
    given: tuple[tuple[str, Any], ...] = field(default=(), compare=False)
    name: str = field(init=False)  # the canonical spelling, which is also its identity

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self._spell())

    @cached_property
    def params(self) -> dict[str, Any]:
        """Every parameter with the value that the function will get."""
        chosen = dict(self.given)
        return {p.name: chosen.get(p.name, p.default) for p in self.spec.params}

    @property
    def keywords(self) -> dict[str, Any]:
        """The same as the function calls them."""
        return {p.keyword: self.params[p.name] for p in self.spec.params}

    @cached_property
    def rel(self) -> int | None:
        """The grade from which a unit is relevant, of a ranking measure that names one."""
        return dict(self.given).get("rel") if self.spec.stage == "retrieval" else None

    @property
    def needs(self) -> tuple[Need, ...]:
        """The models that it asks as it is used here: no chat model where `by` names something else."""
        by = self.params.get("by", "model")
        return tuple(need for need in self.spec.needs if need != "chat" or by in _CHAT)

    @property
    def without_chat(self) -> str | None:
        """The same measure by what asks no chat model, where there is such a thing: `Faithfulness(by=heuristic)`."""
        choices = (choice for p in self.spec.params if p.name == "by" for choice in p.choices)
        by = next((choice for choice in choices if choice not in _CHAT), None)
        return None if by is None else f"{self.spec.name}(by={by})"

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations of the claims table that it needs as it is used here."""
        relations = self.spec.relations
        return relations(**self.keywords) if callable(relations) else relations

    @property
    def is_mean(self) -> bool:
        """Whether its figure for a system is the arithmetic mean over questions, which paired tests compare."""
        return self.spec.scale == "linear"

    def require_mean(self, who: str) -> None:
        """Refuse a measure of which no arithmetic mean can be tested; `who` would test it ("gates test")."""
        if not self.is_mean:
            raise UsageError(f"{self.name} is a geometric mean over questions, and {who} arithmetic means. Name MAP.")

    def on_scale(self, values: Any) -> Any:
        """A value or an array of them on the scale on which they are averaged."""
        return values if self.is_mean else np.log(values)

    def off_scale(self, values: Any) -> Any:
        """An average on that scale, or an end of its interval, as a value again."""
        return values if self.is_mean else np.exp(values)

    def with_rel(self, rel: int) -> Measure:
        """The same measure at a relevance threshold, unless it names its own or does not depend on one."""
        spec = self.spec
        if spec.stage != "retrieval" or not spec.follows_rel or self.rel is not None or rel == 1:
            return self
        return replace(self, given=(*self.given, ("rel", rel)))

    def with_norm(self, norm: str) -> Measure:
        """The same measure under a normaliser, unless it names its own or has none."""
        if "norm" in dict(self.given) or all(param.name != "norm" for param in self.spec.params):
            return self
        return replace(self, given=(*self.given, ("norm", norm)))

    @cached_property
    def bounds(self) -> Bounds:
        """The least and greatest value this measure can take."""
        bounds = self.spec.bounds
        return bounds(**self.keywords) if callable(bounds) else bounds

    def floors(self, answered: AnswerTable, values: Floats) -> Mapping[int, Floor]:
        """What chance gives each system, by its number, beside these values; only some measures say that."""
        return {} if self.spec.floors is None else self.spec.floors(answered, values, **self.keywords)

    def _spell(self) -> str:
        given = dict(self.given)
        parts = []
        for param in self.spec.all_params:
            value = given.get(param.name, param.default)
            if param.name == self.spec.at:
                continue
            if (param.name in self.spec.shown and value is not None) or value != param.default:
                parts.append(param.name if value is True else f"{param.name}={spell(value)}")
        cut = f"@{self.k}" if self.k is not None else f"@{self.tokens}t" if self.tokens is not None else ""
        if self.spec.at is not None:
            cut = f"@{spell(self.params[self.spec.at])}"
        return f"{self.spec.name}{'(' + ', '.join(parts) + ')' if parts else ''}{cut}"

    def __str__(self) -> str:
        return self.name

    def of(self, data: Judged | AnswerTable) -> Column | MeasureResult:
        """One value per pair. Retrieval measures take a Judged, answer measures an AnswerTable."""
        if isinstance(data, AnswerTable):
            if self.tokens is not None:
                raise UsageError(f"{self.name}: {self.spec.name} is cut by rank. Write {self.spec.name}@5.")
            return self.spec.function(data, *(() if self.spec.cut == "none" else (self.k,)), **self.keywords)
        given = dict(self.given)
        view = data.at(rel=given.get("rel"), condensed=given.get("condensed", False))
        if self.spec.cut == "none":
            return self.spec.function(view, **self.keywords)
        k = self.k if self.tokens is None else view.within_tokens(self.tokens)
        return self.spec.function(view, k, **self.keywords)


def spell(value: Any) -> str:
    """A value as the language reads it back: 40, 0.8, and every digit of 0.123456789."""
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


@typing.overload
def measure(function: F, /) -> F: ...
@typing.overload
def measure(function: None = None, /, **declared: Any) -> Callable[[F], F]: ...
def measure(function: Any = None, /, **declared: Any) -> Any:
    """Declare a function to be a measure. The function itself is returned, unwrapped.

    The name defaults to the function's; `k` in its signature makes it cuttable; keyword-only parameters become
    `Name(param=value)`. Keywords: the fields of MeasureSpec.
    """
    if function is None:
        return lambda f: measure(f, **declared)
    function.__karat_measure__ = _describe(function, **declared)
    return function


def _describe(function: Callable[..., Any], **declared: Any) -> MeasureSpec:
    signature = inspect.signature(function)
    names = list(signature.parameters)
    if not names:
        raise UsageError(
            f"the measure {function.__name__} takes no arguments. Give it `judged`, `answered` or `answer`."
        )
    first = names[0]
    called: Callable[..., Any] = function
    if first == "judged":
        stage: Stage = "retrieval"
    elif first == "answered":
        stage = "answer"
    else:
        stage, called = "answer", _by_row(function, names)
    k = signature.parameters.get("k")
    cut = "none" if k is None else "required" if k.default is inspect.Parameter.empty else "optional"
    keywords = [p for p in signature.parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
    hints = _hints(function, keywords)
    params = tuple(_param(p, hints.get(p.name), function.__name__) for p in keywords)
    return MeasureSpec(
        name=declared.pop("name", function.__name__),
        function=called,
        stage=declared.pop("stage", stage),
        cut=declared.pop("cut", cut),
        params=params,
        **declared,
    )


def _hints(function: Callable[..., Any], keywords: list[inspect.Parameter]) -> dict[str, Any]:
    """Annotations of the keyword-only parameters; the others may name types imported for checking only."""
    noted = {p.name: p.annotation for p in keywords if p.annotation is not inspect.Parameter.empty}
    holder = SimpleNamespace(__annotations__=noted)
    return typing.get_type_hints(holder, globalns=getattr(function, "__globals__", {}))


def _param(parameter: inspect.Parameter, hint: Any, measure: str) -> Param:
    default, name = parameter.default, parameter.name
    name = name[:-1] if keyword.iskeyword(name.removesuffix("_")) else name
    if default is inspect.Parameter.empty:
        raise UsageError(f"the measure {measure} needs a default for its parameter {parameter.name!r}.")
    if typing.get_origin(hint) is Literal:
        return Param(name, default, choices=tuple(typing.get_args(hint)), type=str)
    options = [hint, *typing.get_args(hint)]
    for kind in (bool, int, float, str):
        if kind in options or (hint is None and type(default) is kind):
            return Param(name, default, type=kind)
    return Param(name, default, type=str)


def _by_row(function: Callable[..., Any], names: list[str]) -> Callable[..., MeasureResult]:
    """A function of one answer as a measure of all: an exception is a failed row, None an undefined one."""
    wanted = [n for n in names if n in ROW_INPUTS]
    parameters = inspect.signature(function).parameters
    strange = [n for n in names if n not in ROW_INPUTS and parameters[n].kind is not inspect.Parameter.KEYWORD_ONLY]
    if strange:
        raise UsageError(
            f"the measure {function.__name__} takes {strange[0]!r}, which karat cannot supply. "
            f"A measure takes `judged`, `answered`, or any of {', '.join(ROW_INPUTS)}; its own parameters follow a *."
        )

    def over_rows(answered: AnswerTable, **params: Any) -> MeasureResult:
        values = np.full(len(answered), np.nan)
        undefined: dict[int, str] = {}
        failed: dict[int, str] = {}
        for i in range(len(answered)):
            references = answered.references[i]
            if "reference" in wanted and not references:
                undefined[i] = "no reference answer"
                continue
            row: Mapping[str, Any] = {
                "answer": answered.answers[i] or "",
                "question": answered.texts[i],
                "references": references,
                "reference": references[0] if references else "",
                "contexts": answered.contexts[i] or (),
            }
            try:
                value = function(**{n: row[n] for n in wanted}, **params)
                if value is None:
                    undefined[i] = "the measure gave no value"
                else:
                    values[i] = float(value)
                    if not np.isfinite(values[i]):
                        failed[i] = f"the measure gave {value!r}"
            except (Exception, SystemExit) as error:  # the user's function: its failure is a failed row with its reason
                failed[i] = f"{type(error).__name__}: {error}"
        return MeasureResult(values, undefined, failed=failed)

    over_rows.__doc__, over_rows.__module__ = function.__doc__, function.__module__
    return over_rows


def find_measure(source: Any) -> MeasureSpec | None:
    """The measure that a module defines, or that a decorated or plain function is."""
    if isinstance(source, MeasureSpec):
        return source
    if isinstance(source, ModuleType):
        specs = [
            value.__karat_measure__
            for value in vars(source).values()
            if hasattr(value, "__karat_measure__") and getattr(value, "__module__", None) == source.__name__
        ]
        return specs[0] if len(specs) == 1 else None
    spec = getattr(source, "__karat_measure__", None)
    if spec is None and callable(source):
        spec = _describe(source, bounds=ANYTHING, direction="none")
    return spec if isinstance(spec, MeasureSpec) else None


MEASURES: Registry[MeasureSpec] = Registry(
    "measure",
    tuple(f"karat.measures.{kind}" for kind in ("ranking", "steps", "answer", "claims", "judge")),
    "karat.measures",
    find_measure,
)
