"""Models from plain settings: which embedder, cross-encoder and chat model measures and answerers may ask.

Nothing is loaded, opened or asked before a measure calls for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from karat.core.errors import UsageError
from karat.core.models import ChatReply, EmbeddingModel, Models, Need, PairScorer, PassageAnswerer, Prompt
from karat.experiment.claims import ClaimMaker, ClaimSource, ClaimsValue
from karat.experiment.settings import settings_of
from karat.measures.entailment import MODEL
from karat.models import EmbedderSettings, embedder_named
from karat.pool import BlockPool
from karat.results.evaluation import Note

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from karat.core.measure import Measure
    from karat.models.chat import Calls, Chat, ChatSettings, ChatSpending, CostEstimate
    from karat.systems.index import Index

CALLS, BLOCKS, WORDLLAMA = "calls.sqlite", "blocks", "wordllama"
_OF_CHAT = ("price_in", "price_out", "batch", "price_batch", "max_cost", "max_calls", "per_minute", "calls")
_HOW: dict[Need, tuple[str, str]] = {
    "chat": ("a chat model", "Name one with --model (chat=), and its endpoint with --base-url"),
    "cross_encoder": ("a cross-encoder", "Name the folder of one with --cross-encoder (cross_encoder=)"),
    "embedder": ("an embedder", "Name one with --embedder (embedder=)"),
}


@dataclass(frozen=True, kw_only=True)
class ChatOptions:
    """A chat model as a command line or a notebook names it; None: not given.

    `base_url` and `key_env` (the environment variable that holds the key) are of the endpoint, for an embedder that
    asks one too. Prices are in USD for a million tokens, `max_cost` in USD. `batch` asks by the batch endpoints of the
    server, at `price_batch` of the prices; False asks what is in a batch under way a second time. `jobs` calls run at
    a time, `per_minute` may begin in a minute; `repeat` is how often a judge is asked the same; `calls` is the file
    that keeps every call, so that none is paid for twice. `announce` is called with an estimate before the first call.
    """

    model: str | ChatSettings | None = None
    base_url: str | None = None
    key_env: str | None = None
    price_in: float | None = None
    price_out: float | None = None
    batch: bool | None = None
    price_batch: float | None = None
    max_cost: float | None = None
    max_calls: int | None = None
    jobs: int | None = None
    per_minute: int | None = None
    repeat: int | None = None
    calls: str | os.PathLike[str] | None = None
    announce: Callable[[str], None] | None = None

    @classmethod
    def of(cls, chat: ChatValue) -> ChatOptions:
        """From the name of a model, its settings, or a dict of what is said."""
        return settings_of(cls, chat)

    def values(self, *names: str) -> dict[str, Any]:
        """Those of these options that are given."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def settings(self) -> ChatSettings | None:
        """The model with its endpoint and prices; None where none is named, and then what is for one is refused."""
        if self.model is None:
            for name in self.values(*_OF_CHAT):
                raise UsageError(
                    f"--{name.replace('_', '-')} is for a chat model, and none is named. Add --model (chat=)."
                )
            return None
        if not isinstance(self.model, str):
            return self.model
        from karat.models.chat import ChatSettings

        prices = {f"{name}_usd": value for name, value in self.values("price_in", "price_out").items()}
        named = self.values("base_url", "key_env", "jobs", "per_minute", "batch", "price_batch")
        return ChatSettings(self.model, **named, **prices)


ChatValue = Union[str, Mapping[str, Any], "ChatSettings", ChatOptions, None]  # what `chat=` takes


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Which models may be asked, in plain values; never a key. All None: wordllama embeds, nothing else is there.

    `calls` is the file that keeps every call of the chat model; None keeps them until the models are closed. What
    `shared` knows, a file that several runs have in common, is not asked again. `announce` gets a sentence with the
    estimate before the first call that may cost something. `claims` says who judges claims, and
    where the table of them is kept.
    """

    embedder: EmbedderSettings | None = None
    cross_encoder: str | None = None
    claims: ClaimSource = field(default_factory=ClaimSource)
    chat: ChatSettings | None = None
    max_cost_usd: float | None = None
    max_calls: int | None = None
    calls: str | os.PathLike[str] | None = None
    repeat: int = 1
    shared: str | os.PathLike[str] | None = None
    announce: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        chat: ChatValue = None,
        *,
        embedder: str | EmbedderSettings | None = None,
        cross_encoder: str | os.PathLike[str] | None = None,
        claims: ClaimsValue = None,
    ) -> ModelSettings:
        """From what a command line or a notebook says; a limit that no model is there for is refused."""
        options = ChatOptions.of(chat)
        if isinstance(embedder, str):
            from karat.models import EmbedderSettings

            embedder = EmbedderSettings.parse(embedder, **options.values("base_url", "key_env"))
        if options.model is None and options.base_url not in (None, embedder.base_url if embedder else None):
            raise UsageError("--base-url is for a chat model, and none is named. Add --model (chat=).")
        repeat = 1 if options.repeat is None else options.repeat
        if repeat < 1:
            raise UsageError(f"repeat={repeat}: a judge is asked once or more.")
        return cls(
            embedder=embedder,
            cross_encoder=None if cross_encoder is None else os.fspath(cross_encoder),
            claims=ClaimSource.of(claims),
            chat=options.settings(),
            max_cost_usd=options.max_cost,
            max_calls=options.max_calls,
            calls=options.calls,
            repeat=repeat,
            announce=options.announce,
        )

    def within(self, folder: str | os.PathLike[str] | None) -> ModelSettings:
        """The same with calls kept in a folder, where a chat model is to be asked and nothing else was said."""
        if self.chat is None or self.calls is not None or folder is None:
            return self
        return replace(self, calls=Path(folder) / CALLS)


@dataclass
class ChatOnDemand:
    """A chat model that is opened at the first prompt, with its calls and its budget.

    `after` is one whose budget it shares, and which is asked nothing more once this one is.
    """

    settings: ModelSettings
    progress: Callable[[str, int, int], None] | None = None
    after: ChatOnDemand | None = None
    _chat: Chat | None = field(default=None, init=False, repr=False)
    _calls: Calls | None = field(default=None, init=False, repr=False)
    _folder: TemporaryDirectory[str] | None = field(default=None, init=False, repr=False)

    @property
    def label(self) -> str:
        """The model, as reports name it."""
        assert self.settings.chat is not None
        return str(self.settings.chat.label)

    @property
    def fingerprint(self) -> str:
        """Changes whenever replies may change."""
        assert self.settings.chat is not None
        return self.settings.chat.fingerprint

    def ask(self, prompts: Sequence[Prompt], said: Callable[[int, ChatReply], None] | None = None) -> list[ChatReply]:
        """What it says to each prompt, in their order."""
        return self._opened().ask(prompts, said)

    def estimate(self, prompts: Sequence[Prompt]) -> CostEstimate:
        """What asking these would take, before anything is asked."""
        return self._opened().estimate(prompts)

    @property
    def spent(self) -> ChatSpending | None:
        """What was asked and paid so far; None where nothing was."""
        return None if self._chat is None else self._chat.spent

    def close(self) -> None:
        """Close the connections and the calls; calls without a file of their own are gone then."""
        if self._chat is not None:
            self._chat.close()
        if self._calls is not None:
            self._calls.close()
            self._calls = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _opened(self) -> Chat:
        if self._calls is None:
            from karat.models.chat import Budget, Calls, Chat

            chosen = self.settings
            assert chosen.chat is not None
            place = chosen.calls
            if place is None and chosen.chat.batch:
                raise UsageError(
                    "a batch may take a day, and what was sent has to be kept until then: name a file for it with "
                    "--calls FILE (calls=)."
                )
            if place is None:
                from tempfile import TemporaryDirectory

                self._folder = TemporaryDirectory(prefix="karat-")
                place = Path(self._folder.name) / CALLS
            before = self.after._chat if self.after is not None else None
            calls, cost = (before.spent.calls, before.charged_usd) if before is not None else (0, 0.0)
            budget = Budget(
                max_cost_usd=None if chosen.max_cost_usd is None else max(0.0, chosen.max_cost_usd - cost),
                max_calls=None if chosen.max_calls is None else max(0, chosen.max_calls - calls),
            )
            self._calls = Calls(place, chosen.shared)
            self._chat = Chat(chosen.chat, self._calls, budget, self.progress, announce=chosen.announce)
        assert self._chat is not None
        return self._chat


def models_of(
    settings: ModelSettings | None = None,
    *,
    index: Index | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    pool: BlockPool | None = None,
) -> Models:
    """The models of settings. Where they name no embedder, an index's own is meant, else wordllama.

    What needs no endpoint is done by the `pool`, block by block; None: here.
    """
    from karat.experiment.blocks import BlockWork

    settings = settings or ModelSettings()
    embedder = settings.embedder or (index.embedder if index is not None else None)
    folder = settings.cross_encoder

    @cache
    def embeds() -> EmbeddingModel:
        from karat.models.hosts import permitted

        named = embedder or EmbedderSettings()
        return embedder_named(named if index is None or settings.embedder else permitted(named, str(index.path)))

    @cache
    def scores_pairs() -> PairScorer:
        from karat.models.cross_encoder import CrossEncoder

        assert folder is not None
        return CrossEncoder(folder)

    models = Models(
        chat=ChatOnDemand(settings, progress) if settings.chat is not None else None,
        embedder=embeds,
        cross_encoder=scores_pairs if folder is not None else None,
        embedder_label=WORDLLAMA if embedder is None else embedder.label,
        repeat=settings.repeat,
        answerer=passage_answerer,
        blocks=BlockWork.of(pool, embedder or EmbedderSettings()) if pool is not None else None,
        progress=progress,
    )
    return with_maker(models, settings)


def with_maker(models: Models, settings: ModelSettings) -> Models:
    """The same models with what makes claims tables by them; by the chat model where nobody else is named."""
    source = settings.claims
    if source.judge is None and models.chat is not None:
        source = replace(source, judge=MODEL)
    maker = ClaimMaker(source, models)
    return replace(models, claims=maker if maker.is_able else None)


def passage_answerer(name: str, models: Models) -> PassageAnswerer:
    """The answerer of a name, which reads one context."""
    from karat.answer import AnswererSettings, answerer_named

    return answerer_named(AnswererSettings(name, contexts=1), models)


def close(models: Models) -> None:
    """Let go of what models have opened."""
    if isinstance(models.chat, ChatOnDemand):
        models.chat.close()


def spent_by(models: Models) -> dict[str, Any] | None:
    """What the chat model was asked and what that cost, in plain values; None where it was asked nothing."""
    spent = models.chat.spent if isinstance(models.chat, ChatOnDemand) else None
    if models.chat is None or spent is None:
        return None
    return {"model": models.chat.label, **asdict(spent)}


def spent_notes(models: Models) -> list[Note]:
    """A sentence on what the chat model was asked and what that cost."""
    spent = models.chat.spent if isinstance(models.chat, ChatOnDemand) else None
    return [] if spent is None or models.chat is None else [Note("info", f"{models.chat.label}: {spent.sentence}.")]


def check_needs(measures: Sequence[Measure], models: Models) -> None:
    """Refuse a measure that asks a model which is not there, before anything is computed."""
    for measure in measures:
        if measure.relations and models.claims is None:
            raise UsageError(
                f"{measure.name} needs claims and their verdicts. Name a claims file with --claims (claims=), or who "
                "judges: --claims lexical, --claims nli:FOLDER, or --model NAME."
            )
        for need in measure.needs:
            if not models.has(need):
                what, how = _HOW[need]
                other = measure.without_chat if need == "chat" else None
                instead = f", or write {other}, which asks no model" if other else ""
                raise UsageError(f"{measure.name} needs {what}. {how}{instead}.")


def check_named(settings: ModelSettings, measures: Sequence[Measure]) -> None:
    """Refuse a model that no measure asks: it would change nothing."""
    asked = {need for measure in measures for need in measure.needs}
    of_claims = any(measure.relations for measure in measures)
    if of_claims and settings.claims.judge in (None, MODEL):
        asked.add("chat")
    if settings.claims and not of_claims:
        raise UsageError(
            "--claims would change nothing: none of the measures looks at claims. Name one that does, such as "
            "-m ClaimPrecision, or leave it out."
        )
    for need, option, example in (
        ("chat", "model", "Faithfulness"),
        ("cross_encoder", "cross-encoder", "CrossEncoder"),
        ("embedder", "embedder", "SemanticSimilarity"),
    ):
        if getattr(settings, need) is not None and need not in asked:
            raise UsageError(
                f"--{option} would change nothing: none of the measures asks for it. Name one that does, such as "
                f"-m {example}, or leave it out."
            )
