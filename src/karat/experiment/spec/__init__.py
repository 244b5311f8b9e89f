"""Spec: karat.yaml read and checked: what an experiment compares, on what, and how."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from karat.answer import AnswererSettings
from karat.core.errors import InputError, KaratError, UsageError, did_you_mean
from karat.core.types import NO_VALUE
from karat.experiment.claims import ClaimSource, path_in_claims, rooted_claims
from karat.experiment.settings import Choices, MatchSettings
from karat.experiment.spec._answers import AnswerKeys, ModelKeys
from karat.experiment.spec._errors import mistakes_of, raise_mistakes
from karat.experiment.spec._model import SpecKeys, json_schema
from karat.experiment.spec._systems import BudgetKeys, Listed, leaves
from karat.experiment.spec._values import Mistake, Use, rooted
from karat.experiment.spec._yaml import Loaded, Place, load_yaml, loads_yaml
from karat.io.checksum import digest as digest_of
from karat.io.dataset_folder import source_exists
from karat.measures.dialects import dialect_named, main_cut
from karat.pool import PoolSettings
from karat.systems.environment import Environment, filled, lookup, variables

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.experiment.sweep.grid import Grid
    from karat.models import EmbedderSettings
    from karat.models.chat import ChatSettings

__all__ = [
    "AnswerKeys",
    "BudgetKeys",
    "Indexing",
    "Listed",
    "Spec",
    "SpecKeys",
    "Use",
    "chat_settings",
    "json_schema",
    "load_spec",
    "option_values",
    "spec_of",
]

FILE = "karat.yaml"
_AS_KEYS = {"model": "name", "price_in": "price_in_usd", "price_out": "price_out_usd"}
_NO_WORK = (
    "outputs", "runs_dir", "budgets", "timeout_seconds", "retries", "jobs", "per_minute", "price_in_usd",
    "price_out_usd", "batch", "price_batch", "gate", "pool",
)  # fmt: skip


@dataclass(frozen=True)
class Indexing:
    """One way of making an index of the corpus."""

    chunk: str
    embedder: EmbedderSettings | None  # None: by the language of the documents


@dataclass(frozen=True)
class Spec:
    """An experiment. `keys` are what is written, `${NAME}` included; `resolved()` puts the environment in.

    Endpoints keep their templates even then: what is secret in them is read when they are asked.
    """

    keys: SpecKeys
    folder: Path
    written: Loaded = field(repr=False)
    template: SpecKeys | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Spec({self.keys.name!r}, {len(self.keys.systems)} systems)"

    def plain(self) -> dict[str, Any]:
        """Every key in plain values (JSON), as written: templates in place of what the environment holds."""
        return (self.template or self.keys).model_dump(mode="json")

    @cached_property
    def digest(self) -> str:
        """sha256 of the plain values in canonical JSON: the same for the same work, however it is laid out.

        What it may cost, how fast it is asked, what is written and what a gate asks of it do not count: a run that
        ended for want of them is resumed with more.
        """
        plain = {name: value for name, value in self.plain().items() if name not in _NO_WORK}
        for name in {"model", "judge_model"} & set(plain):
            plain[name] = {key: value for key, value in plain[name].items() if key not in _NO_WORK}
        return digest_of(plain)

    def resolved(self, environment: Environment | None = None) -> Spec:
        """The same with the environment put in and everything checked that depends on it; paths must lead somewhere."""
        if self.template is not None:
            return self
        written = self.written.values
        mistakes: list[Mistake] = []
        for place, value in leaves(written):
            for name in variables(value):
                try:
                    lookup(name, environment)
                except UsageError as problem:
                    mistakes.append((place, str(problem)))
        raise_mistakes(self.written, mistakes)
        spec = replace(self, keys=self._filled(environment), template=self.keys)
        raise_mistakes(self.written, spec._astray())
        return spec

    def _filled(self, environment: Environment | None) -> SpecKeys:
        """The keys with the environment put in, but for endpoints, and checked again; its values are not told."""
        from karat.models.hosts import Blot

        written = self.written.values
        values = filled(written, environment)
        if values == written:
            return self.keys
        answer = (written.get("answer"), values.get("answer"))
        for before, after in (answer, *zip(written.get("systems", ()), values.get("systems", ()), strict=True)):
            if isinstance(before, dict) and "http" in before:
                after["http"] = before["http"]
        try:
            return _validated(replace(self.written, values=values))
        except KaratError as problem:
            raise InputError(Blot(variables(written), environment)(str(problem))) from None

    def path(self, text: str) -> Path:
        """A path of the file, from the folder the file stands in."""
        return rooted(self.folder, text)

    def _astray(self) -> list[Mistake]:
        """Paths that lead nowhere."""
        keys = self.keys
        prompt = keys.answer.prompt if keys.answer is not None else None
        named: dict[Place, str | None] = {
            ("testset",): keys.testset,
            **{("corpus", i): text for i, text in enumerate(keys.corpus or ())},
            ("index",): keys.index,
            ("cross_encoder",): keys.cross_encoder,
            **{("claims", i): path_in_claims(text) for i, text in enumerate(keys.claims or ())},
            ("answer", "prompt"): prompt,
            **{("systems", i, "results"): getattr(one, "results", None) for i, one in enumerate(keys.systems)},
        }
        mistakes: list[Mistake] = []
        for place, text in named.items():
            if text is not None and not source_exists(path := self.path(text)):
                beside = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
                near = did_you_mean(path.name, beside)
                counted = f"Paths count from the folder of {self.written.place}."
                mistakes.append((place, f"{text!r} does not exist.{near} {counted}"))
        return mistakes

    def systems(self) -> tuple[Listed, ...]:
        """Every system that is listed, in order; those of the sweep are `grid`."""
        return tuple(entry.listed(self.keys.budgets, self.folder) for entry in self.keys.systems)

    @cached_property
    def grid(self) -> Grid | None:
        """The systems of the sweep, without indexes, which are `indexings`."""
        return None if self.keys.sweep is None else self.keys.sweep.grid(self.cutoffs)

    @cached_property
    def indexings(self) -> tuple[Indexing, ...]:
        """Every index to make of the corpus: each chunking with each embedder; none where an index is given."""
        keys = self.keys
        if keys.corpus is None:
            return ()
        return tuple(
            Indexing(chunk, None if embedder is None else embedder.settings(lambda text: str(self.path(text))))
            for chunk in keys.chunk
            for embedder in keys.embedder or (None,)
        )

    @cached_property
    def cutoffs(self) -> tuple[int, ...]:
        """Cut-offs in ascending order: those of `k` and of the sweep, or else of the dialect."""
        cuts = {*(self.keys.k or ()), *(self.keys.sweep.cutoffs if self.keys.sweep is not None else ())}
        usual = (int(number) for number in re.findall(r"\d+", dialect_named(self.keys.dialect).cuts))
        return tuple(sorted(cuts or set(usual)))

    @cached_property
    def main(self) -> str:
        """The measure that systems are ranked by: as given, else the dialect's at one of the cut-offs."""
        from karat.core.language import parse

        if self.keys.main is not None:
            return parse(self.keys.main).name if ":" not in self.keys.main else self.keys.main
        return parse(dialect_named(self.keys.dialect).main(main_cut(self.cutoffs))).name

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures named, `@k` written out for every cut-off; none: what the dialect computes."""
        cuts = "{" + ",".join(map(str, self.cutoffs)) + "}"
        return tuple(re.sub(r"@\s*k(?!\w)", f"@{cuts}", text) for text in self.keys.measures or ())

    def choices(self) -> Choices:
        """How to score."""
        keys = self.keys
        matching = MatchSettings(
            match=keys.match, repeats=keys.repeats, rel=keys.rel, page_offset=keys.page_offset, pages=keys.pages,
            allow_zero_overlap=keys.allow_zero_overlap,
        )  # fmt: skip
        return Choices(
            measures=self.measures, dialect=keys.dialect, matching=matching, by=tuple(keys.by), columns=keys.map or {},
            seed=keys.seed, missing=keys.missing, bands=keys.bands,
        )  # fmt: skip

    @property
    def claims(self) -> ClaimSource:
        """Who judges claims, and the file that gives some."""
        return ClaimSource.of(rooted_claims(self.keys.claims or (), self.path))

    @property
    def answerer(self) -> AnswererSettings | None:
        """Who answers and how much is read; None: nobody. The prompt is read from its file."""
        answer = self.keys.answer
        if answer is None:
            return None
        prompt = None
        if answer.prompt is not None:
            try:
                prompt = self.path(answer.prompt).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as problem:
                raise InputError(f"the prompt cannot be read: {problem}", place=answer.prompt) from None
        return AnswererSettings(answer.by, answer.contexts, answer.context_tokens, answer.threshold, prompt)

    @property
    def answered_systems(self) -> tuple[str, ...] | None:
        """The systems that are answered for: those named, else those listed, else (None) all of the sweep."""
        answer = self.keys.answer
        if answer is not None and answer.systems is not None:
            return tuple(answer.systems)
        return tuple(one.name for one in self.systems()) or None

    @property
    def pool(self) -> PoolSettings:
        """Who does the work."""
        return PoolSettings() if self.keys.pool is None else self.keys.pool.settings

    def chat_settings(self, *, judge: bool = False) -> ChatSettings | None:
        """The chat model that answers and rewrites, or the one that judges; None: there is none."""
        value = (self.keys.judge_model if judge else None) or self.keys.model
        return None if value is None else value.settings()

    @property
    def uses(self) -> tuple[Use, ...]:
        """Code that it runs, models that it loads from folders and hosts that it asks, each with its place."""
        return tuple(self.keys.uses())

    def refuse_code(self) -> None:
        """Refuse what runs code, loads a model from a folder or asks a host, with its line."""
        raise_mistakes(self.written, [(use.place, f"{use.refused}, which --no-code refuses.") for use in self.uses])

    def changed(self, values: Mapping[str, Any]) -> Spec:
        """The same experiment with other values of some keys, checked as if they were written."""
        written = replace(self.written, values={**self.written.values, **values})
        return _spec(written, self.folder)

    def with_options(self, **options: Any) -> Spec:
        """The same with what a command line says in place of its keys; None says nothing."""
        return self.changed(option_values(self.written.values, **options))

    def select(self, testset: TestSet) -> TestSet:
        """The questions that `where` lets through."""
        where = self.keys.where
        if not where:
            return testset
        mistakes: list[Mistake] = []
        for name, wanted in where.items():
            if name not in testset.slices:
                have = ", ".join(testset.slices) or "neither kinds nor tags"
                near = did_you_mean(name, testset.slices)
                mistakes.append((("where", name), f"the questions have no such slice.{near} They have {have}."))
                continue
            values = {q.slice_value(name) or NO_VALUE for q in testset}
            for value in wanted:
                if value not in values:
                    near = did_you_mean(value, values) or f" There are {', '.join(sorted(values)[:8])}."
                    mistakes.append((("where", name), f"no question has the value {value!r}.{near}"))
        raise_mistakes(self.written, mistakes)
        selected = [q for q in testset if all((q.slice_value(n) or NO_VALUE) in values for n, values in where.items())]
        if not selected:
            raise_mistakes(self.written, [(("where",), "no question fits all of it. Ask for less.")])
        shown = ", ".join(f"{name}={'|'.join(values)}" for name, values in where.items())
        return testset.with_questions(selected, f"{testset.name} ({shown})")


def load_spec(path: str | os.PathLike[str] = FILE) -> Spec:
    """The experiment that a karat.yaml describes, checked; a mistake is told with its line."""
    file = Path(path)
    if file.is_dir():
        file = file / FILE
    return _spec(load_yaml(file), file.parent)


def spec_of(text: str, folder: str | os.PathLike[str] = ".", place: str = FILE) -> Spec:
    """The experiment that YAML text describes; its paths count from `folder`."""
    return _spec(loads_yaml(text, place), Path(folder))


def _spec(loaded: Loaded, folder: Path) -> Spec:
    return Spec(_validated(loaded), folder, loaded)


def _validated(loaded: Loaded) -> SpecKeys:
    if not isinstance(loaded.values, dict):
        what = "is empty" if loaded.values is None else "holds no keys"
        raise InputError(what, place=loaded.place, remedy="Write one with `karat init DOCS TESTSET`.")
    try:
        return SpecKeys.model_validate(loaded.values)
    except ValidationError as error:
        mistakes = list(mistakes_of(error, loaded.values))
    raise_mistakes(loaded, mistakes)
    raise AssertionError("mistakes were raised")


def chat_settings(value: str | Mapping[str, Any], place: str) -> ChatSettings:
    """A model of karat.yaml that stands in `place`, by its name alone or with more, as it is asked."""
    try:
        return ModelKeys.model_validate({"name": value} if isinstance(value, str) else value).settings()
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        key = ".".join(map(str, first["loc"])) or "it"
        raise InputError(f"names no chat model: {key}: {first['msg']}", place=place) from None


def option_values(
    written: Mapping[str, Any],
    *,
    answer: str | None = None,
    contexts: int | None = None,
    judge: str | None = None,
    claims: Sequence[str] | None = None,
    repeat: int | None = None,
    columns: Mapping[str, str] | None = None,
    matching: Mapping[str, Any] | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    processes: int | None = None,
    pool: Mapping[str, Any] | None = None,
    **model: Any,
) -> dict[str, Any]:
    """The keys that options change, each whole; what they leave open stays as written.

    `--answer none` takes the key out. `matching` are keys that say how hits and gold are matched.
    """
    values = _given(map=dict(columns) if columns else None, judge=[judge] if judge else None, judge_repeat=repeat)
    values |= _given(claims=list(claims) if claims else None)
    values |= _given(**(matching or {}))
    if answer == "none":
        values["answer"] = None
    elif answer is not None or contexts is not None:
        before = _mapping(written.get("answer"), "by")
        by = answer or before.get("by", "extractive")
        same = by == before.get("by", "extractive")
        values["answer"] = {**(before if same else {}), "by": by, **_given(contexts=contexts)}
    if named := _given(**{_AS_KEYS.get(name, name): value for name, value in model.items()}):
        before = _mapping(written.get("model"), "name")
        if "name" not in named and not before:
            option = next(name for name in model if model[name] is not None).replace("_", "-")
            raise UsageError(f"--{option} is for a chat model, and none is named. Add --model.")
        same = named.get("name") in (None, before.get("name"))
        values["model"] = {**(before if same else {}), **named}
    if workers := _given(jobs=processes, **(pool or {})):
        before = _mapping(written.get("pool"), "by")
        same = workers.get("by") in (None, before.get("by", "local"))
        values["pool"] = {**(before if same else {}), **workers}
    if limits := _given(max_cost_usd=max_cost, max_calls=max_calls):
        values["budgets"] = {**(written.get("budgets") or {}), **limits}
    return values


def _given(**options: Any) -> dict[str, Any]:
    """The options that say something."""
    return {name: value for name, value in options.items() if value is not None}


def _mapping(value: Any, name: str) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else _given(**{name: value})
