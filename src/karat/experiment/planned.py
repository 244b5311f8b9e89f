"""Planned: how often a run would ask chat models, and what that would cost, told before anything is run.

The prompts are made by what makes them in a run, from the real questions and from texts that stand in for hits and
answers, which nobody knows yet: as long as a chunk and as an answer usually are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from karat.core.asked import AnswerRequest, Context
from karat.core.models import ChatReply, Models, Prompt
from karat.core.text.words import money, plural
from karat.experiment.claims import ClaimMaker, ClaimsValue, with_claims
from karat.experiment.finished import FinishedRun, folder_of
from karat.experiment.models import ChatValue, check_needs, passage_answerer
from karat.experiment.spec_systems import SpecSystems
from karat.measures.compute import compute
from karat.measures.entailment import MODEL
from karat.measures.entailment.chat import ChatJudge
from karat.measures.entailment.judging import ClaimJudge, SplitText, sentence_claims
from karat.systems.settings import CHAT, SystemSettings

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.types import Question
    from karat.experiment.spec import Spec
    from karat.experiment.store import RunFolder
    from karat.models.chat import ChatSettings, CostEstimate

_CHUNK_WORDS = 200  # of a chunk whose size is not set
_SENTENCE_WORDS = 20
_ANSWER_WORDS = 40


@dataclass(frozen=True)
class PlannedRun:
    """What a run would ask, by purpose, at most: systems that find the same are answered once."""

    questions: int
    systems: tuple[str, ...]
    estimates: dict[str, CostEstimate]
    max_calls: int | None
    max_cost_usd: float | None
    claim_pairs: int | None = None  # of a claim and a premise, to be judged

    @property
    def calls(self) -> int:
        """Calls of all purposes."""
        return sum(one.calls for one in self.estimates.values())

    @property
    def cost_usd(self) -> float | None:
        """The most that all can cost; None where a price is unknown."""
        costs = [one.cost_usd for one in self.estimates.values()]
        return None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)

    def plain(self) -> dict[str, object]:
        """As JSON values."""
        parts = [
            {
                "purpose": purpose, "model": one.model, "calls": one.calls, "prompt_tokens": one.prompt_tokens,
                "completion_tokens_most": one.completion_tokens_most, "cost_usd_most": one.cost_usd,
            }
            for purpose, one in self.estimates.items()
        ]  # fmt: skip
        return {
            "questions": self.questions, "systems": list(self.systems), "calls": self.calls,
            "prompt_tokens": sum(one.prompt_tokens for one in self.estimates.values()),
            "completion_tokens_most": sum(one.completion_tokens_most for one in self.estimates.values()),
            "cost_usd_most": self.cost_usd, "max_calls": self.max_calls, "max_cost_usd": self.max_cost_usd,
            "purposes": parts, **({} if self.claim_pairs is None else {"claim_pairs": self.claim_pairs}),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """For a person who is about to pay."""
        whole = f"{plural(self.questions, 'question')}, {plural(len(self.systems), 'system')}; nothing was run."
        if self.claim_pairs is not None:
            whole += f" {plural(self.claim_pairs, 'pair')} of claim and premise to judge, if claims are sentences."
        if not self.estimates:
            return [whole, "No chat model is asked: 0 calls, 0 tokens, 0.00 USD."]
        lines = [whole, *(f"{purpose}: {one.sentence}" for purpose, one in self.estimates.items())]
        plain = self.plain()
        cost = "cost unknown" if self.cost_usd is None else f"about {money(self.cost_usd)} at most"
        lines.append(
            f"In all at most {plural(self.calls, 'call')}: about {plain['prompt_tokens']:,} tokens to read, at most "
            f"{plain['completion_tokens_most']:,} to write; {cost}. Replies that are known already cost nothing; a "
            "judge's reply that cannot be used is asked for once more."
        )
        if self.max_calls is not None and self.calls > self.max_calls:
            lines.append(f"The budget ends it after {plural(self.max_calls, 'call')}.")
        if self.max_cost_usd is not None and self.cost_usd is not None and self.cost_usd > self.max_cost_usd:
            lines.append(f"The budget ends it before it costs more than {money(self.max_cost_usd)}.")
        return lines


@dataclass
class _CountingChat:
    """Notes what a chat model would be asked, each prompt once, and replies with what stands in."""

    settings: ChatSettings
    prompts: dict[str, Prompt] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.settings.label

    @property
    def fingerprint(self) -> str:
        return self.settings.fingerprint

    def ask(self, prompts: Sequence[Prompt], said: Callable[[int, ChatReply], None] | None = None) -> list[ChatReply]:
        reply = ChatReply(json.dumps({"claims": [_words(_ANSWER_WORDS)]}))
        for number, prompt in enumerate(prompts):
            if not prompt.turns:  # else it asks again for a reply that cannot be used, as no reply here can
                self.prompts[self.settings.key_of(prompt)] = prompt
            if said is not None:
                said(number, reply)
        return [reply] * len(prompts)

    def estimates(self) -> Iterator[tuple[str, CostEstimate]]:
        from karat.models.chat import estimate

        for purpose in dict.fromkeys(prompt.purpose for prompt in self.prompts.values()):
            asked = [prompt for prompt in self.prompts.values() if prompt.purpose == purpose]
            yield purpose, estimate(self.settings, asked, 0)


def planned_run(spec: str | os.PathLike[str] | Spec, testset: str | os.PathLike[str] | None = None) -> PlannedRun:
    """What the run of a karat.yaml would ask chat models. Nothing is asked, indexed, searched or written."""
    from karat.core.language import parse_all
    from karat.experiment._limited import answered_ids
    from karat.experiment.run import questions_of
    from karat.experiment.spec.draft import spec_for

    spec = spec_for(spec, testset).resolved()
    questions, _ = questions_of(spec)
    work = SpecSystems(spec, questions, ())
    systems = list(_systems(spec, work))
    chat, judge = spec.chat_settings(), spec.chat_settings(judge=True)
    counting = _CountingChat(chat) if chat is not None else None
    judging = counting if judge == chat else _CountingChat(judge) if judge is not None else None
    answer, words = spec.keys.answer, _chunk_words(spec)
    if counting is not None:
        _search([one for _, one in systems if one is not None], [q.text for q in questions], words, counting)
    limit = answer.limit if answer is not None else None
    chosen = set(questions.ids if limit is None else answered_ids(questions, limit, spec.keys.seed))
    asked = [q for q in questions if q.id in chosen]
    wanted = spec.answered_systems
    names = [name for name, _ in systems if wanted is None or name.partition(" [")[0] in wanted]
    if counting is not None and spec.answerer is not None and spec.answerer.name == "chat":
        from karat.answer import answerer_named

        answerer = answerer_named(spec.answerer, Models(chat=counting))
        contexts = spec.answerer.contexts
        answerer.answer(
            [AnswerRequest(q.id, q.text, _contexts(name, q, contexts, words)) for name in names for q in asked],
            lambda one, reply: None,
        )
    if judging is not None and answer is not None:
        plan = replace(work.plan, answers=True, able=("chat",))
        measures = parse_all(plan.measures, k=plan.choices.k, load_code=True)
        models = Models(chat=judging, repeat=spec.keys.judge_repeat, answerer=passage_answerer)
        if spec.claims.judge in (None, MODEL):
            models = replace(models, claims=_PlannedClaims(replace(spec.claims, judge=MODEL, files=()), models))
        _judge(measures, names, asked, answer.contexts, words, models)
    estimates = dict(pair for one in (counting, judging) if one is not None for pair in one.estimates())
    budgets = spec.keys.budgets
    shown = tuple(name for name, _ in systems)
    return PlannedRun(len(questions), shown, estimates, budgets.max_calls, budgets.max_cost_usd)


def _systems(spec: Spec, work: SpecSystems) -> Iterator[tuple[str, SystemSettings | None]]:
    """The systems of a run by name, with the settings of karat's own, once for each index."""
    from karat.systems.source import ResultsFile

    labels = [f" [{i.chunk}, {i.embedder.label if i.embedder else 'default'}]" for i in spec.indexings]
    own = [(configuration.name, settings) for configuration, settings in work.over_index()]
    yield from (
        (f"{name}{label}", settings) for label in (labels if len(labels) > 1 else [""]) for name, settings in own
    )
    for one in spec.systems():
        if isinstance(one.source, ResultsFile):
            named, _ = one.source.read(one.configuration, spec.keys.map)
            yield from ((shown.name, None) for shown, _ in named)
        elif not isinstance(one.source, SystemSettings):
            yield one.name, None
        elif one.source.has_store:
            yield one.name, one.source


def _search(systems: Sequence[SystemSettings], questions: Sequence[str], words: int, chat: _CountingChat) -> None:
    """Ask what rewriting and reranking by a chat model would."""
    from karat.models.chat_reranker import ChatReranker
    from karat.retrieve.rewrite import needs_of, rewrite_all, rewriter_named

    for number, settings in enumerate(systems):
        by_chat = [rewriter_named(text, tuple) for text in settings.rewrite if "chat" in needs_of(text)]
        rewrite_all(by_chat, questions, Models(chat=chat))
        if settings.rerank == CHAT:
            passages = [_words(words, f"{number} {place}") for place in range(settings.rerank_depth)]
            ChatReranker(chat).score_lists([(question, passages) for question in questions])


def _judge(
    measures: Sequence[Measure], systems: Sequence[str], questions: Sequence[Question], contexts: int, words: int,
    models: Models,
) -> None:  # fmt: skip
    """Ask what judges would of answers to these questions."""
    from karat.core.answered import AnswerTable

    pairs = [(name, question) for name in systems for question in questions]
    asking = [measure for measure in measures if "chat" in measure.needs]
    if not pairs:
        return
    ids = tuple(q.id for q in questions)
    answered = AnswerTable(
        tuple(systems),
        ids,
        texts=[q.text for _, q in pairs],
        answers=[_words(_ANSWER_WORDS, f"{name} {q.id}") for name, q in pairs],
        references=[q.answers for _, q in pairs],
        contexts=[tuple(one.text for one in _contexts(name, q, contexts, words)) for name, q in pairs],
        answerable=[q.answerable for _, q in pairs],
        models=models,
    )
    with_claims(answered, measures)
    compute(asking, list(systems), list(ids), answered=answered)


class _PlannedChat(ChatJudge):
    """Asks what a chat model would be asked of claims, which are the sentences of a text here."""

    def split(self, texts: Sequence[tuple[str, str]]) -> list[SplitText]:
        super().split(texts)
        return [SplitText(sentence_claims(text)) for _, text in texts]


class _PlannedClaims(ClaimMaker):
    """Makes tables of which nothing is kept."""

    keeps = False

    def make_judge(self) -> ClaimJudge | None:
        return _PlannedChat(self._models) if self.source.judge == MODEL else super().make_judge()


def planned_judging(
    run: FinishedRun | RunFolder | str | os.PathLike[str],
    measures: str | Iterable[str],
    *,
    chat: ChatValue = None,
    systems: str | Iterable[str] = (),
    claims: ClaimsValue = None,
    runs_dir: str | os.PathLike[str] = "runs",
) -> PlannedRun:
    """What judging the answers of a run would ask a chat model. Nothing is asked, judged or written."""
    from karat.experiment._answered import answered_of
    from karat.experiment.judge import answers_to_judge, judging, measures_to_judge
    from karat.experiment.settings import texts_of
    from karat.results.serial import load_study

    folder = folder_of(run, runs_dir)
    wanted, settings = measures_to_judge(measures), judging(folder, chat, claims)
    testset = load_study(folder.path).evaluation.testset
    runs = answers_to_judge(folder, texts_of(systems))
    counting = _CountingChat(settings.chat) if settings.chat is not None else None
    models = Models(chat=counting, repeat=settings.repeat, answerer=passage_answerer)
    judge = settings.claims.judge or (MODEL if counting is not None else None)
    maker = _PlannedClaims(replace(settings.claims, judge=judge), models)
    models = replace(models, claims=maker if maker.is_able else None)
    asking = [measure for measure in wanted if "chat" in measure.needs]
    check_needs([*asking, *(measure for measure in wanted if measure.relations)], models)
    maker.prepare([one.name for one in answers_to_judge(folder, ())], testset.ids)
    answered = with_claims(answered_of(testset, runs, models), wanted)
    compute(asking, [one.name for one in runs], testset.ids, answered=answered)
    return PlannedRun(
        len(testset), tuple(one.name for one in runs), dict(counting.estimates()) if counting is not None else {},
        settings.max_calls, settings.max_cost_usd,
        sum(filled.judged for filled in maker.fillings) if maker.fillings else None,
    )  # fmt: skip


def _contexts(system: str, question: Question, contexts: int, words: int) -> tuple[Context, ...]:
    """Texts that stand in for what a system will find, other ones for each."""
    names = (f"{system} {question.id} {place}" for place in range(contexts))
    return tuple(Context(name, _words(words, name)) for name in names)


def _words(count: int, first: str = "") -> str:
    return f"{first} {'words ' * count}".strip()


def _chunk_words(spec: Spec) -> int:
    """How many words a chunk holds, about: as the index says, or as documents are to be cut."""
    from karat.corpus import CHUNKERS, Chunking
    from karat.systems.index import Index

    if spec.keys.index is not None:
        corpus = Index.open(spec.path(spec.keys.index)).about["corpus"]
        return max(1, int(corpus["tokens"]) // max(1, int(corpus["chunks"])))
    sizes = []
    for way in spec.indexings:
        chunking = Chunking.parse(way.chunk)
        unit = {"tokens": 1, "sentences": _SENTENCE_WORDS}.get(CHUNKERS.get(chunking.by).unit or "")
        sizes.append(chunking.size * unit if chunking.size is not None and unit is not None else _CHUNK_WORDS)
    return max(sizes, default=_CHUNK_WORDS)
