"""Generate: questions about the chunks of an index, by a chat model or without one, each through the same filters.

A slot is one question that is wanted, of one kind. All open slots are asked for in one round; where a draft is
rejected, the slot gets the next chunk of the reserve in the next round, until it is filled or has been tried often
enough. What comes of
it depends on the replies and the seed alone, never on which reply came first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.core.progress import Progress
from karat.core.text.languages import guess_language
from karat.core.text.refusals import declines
from karat.results.drafts import Draft, Fragment, Generated, Rejected, Sampled
from karat.testset._kind import KINDS, Kind, Setting
from karat.testset._questions import QuestionIds, QuotePages, question_of
from karat.testset.once import once
from karat.testset.sample import LEAST_TOKENS, sample, sections_of

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc
    from karat.core.models import ChatModel, Models
    from karat.core.types import Question
    from karat.models.structured import Structured
    from karat.retrieve.engines.bm25 import BM25Engine
    from karat.retrieve.engines.dense import DenseEngine
    from karat.testset.check import DraftVerdict, Surroundings
    from karat.testset.mix import Mix
    from karat.testset.related import Related

TRIES = 4  # drafts asked for one slot, the first included


@dataclass
class QuestionSlot:
    """A question that is wanted: its kind, its number among those of the kind, and the chunks it is asked about."""

    kind: Kind
    number: int
    rows: tuple[int, ...] = ()
    tries: int = 0
    draft: Draft | None = None


@dataclass(frozen=True, kw_only=True)
class GenerationSettings:
    """Questions about `samples` chunks, one of each kind about each (`each`, offline), and how they are chosen."""

    samples: int
    kinds: Sequence[str]
    offline: bool = False
    each: int = 1
    seed: int = 0
    mix: Mix | None = None
    least_tokens: int = LEAST_TOKENS
    wanted_docs: Collection[str] | None = None
    weights: Mapping[int, float] | None = None  # how likely each row is drawn

    def __post_init__(self) -> None:
        if self.each < 1 or (self.each > 1 and not self.offline):
            raise UsageError(
                f"--each {self.each}: a model writes one question of each kind about a chunk; give more --samples."
            )


def generate(
    chunks: Chunks,
    settings: GenerationSettings,
    models: Models,
    *,
    docs: Sequence[Doc] | None = None,
    before: Sequence[Question] = (),
    asked: Mapping[str, Collection[int]] | None = None,
    index_bm25: BM25Engine | None = None,
    index_dense: DenseEngine | None = None,
    say: Progress = lambda what, done, total: None,
) -> Generated:
    """The questions that are wanted, as far as they pass the filters.

    `before` are questions that exist: none is repeated, and ids go on from theirs; `asked` are the rows that each
    kind is asked about already. `docs` tell sections and the pages of quotes. Drafts are searched for by the engines
    of the index that are given (see `Surroundings`). Every draft that was tried is either a question or among the
    rejected.
    """
    from karat.testset.check import Surroundings

    say("choosing chunks", 0, 1)
    sampled = sample(
        chunks, settings.samples, seed=settings.seed, least_tokens=settings.least_tokens,
        wanted_docs=settings.wanted_docs, weights=settings.weights, sections=sections_of(chunks, docs),
    )  # fmt: skip
    wanted, notes = _wanted(settings.kinds, settings.offline)
    surroundings = Surroundings(chunks, models, before, index_bm25=index_bm25, index_dense=index_dense)
    run = _Generation(chunks, settings, sampled, surroundings, say, asked or {})
    slots = run.offline(wanted) if settings.offline else run.by_model(wanted, models)
    ids = QuestionIds(one.id for one in before)
    drafts = {ids.next(slot.kind.name): slot.draft for slot in slots if slot.draft is not None}
    pages = QuotePages(docs, {one.chunk.doc for draft in drafts.values() for one in draft.fragments})
    questions = tuple(question_of(draft, id_, pages) for id_, draft in drafts.items())
    numbers = dict.fromkeys((one.name for one in wanted), settings.samples * settings.each)
    generated = Generated(
        questions=questions, rejected=tuple(run.rejected), sampled=sampled, wanted=numbers, drafts=drafts
    )
    return replace(generated, notes=(*notes, *shortages(generated, settings.samples, run.ended, run.known)))


def kinds_named(names: Sequence[str]) -> list[Kind]:
    """The kinds of these names, each once."""
    if not names:
        raise UsageError(f"no kind of question is named. There are {', '.join(KINDS.names())}.")
    return [KINDS.get(name) for name in dict.fromkeys(names)]


WORDS_OF_THE_SOURCE = (
    "Questions made offline repeat the words of their source, which favours BM25: do not choose between BM25 and dense "
    "by them."
)


def _wanted(names: Sequence[str], offline: bool) -> tuple[list[Kind], list[str]]:
    """The kinds to make, and a sentence on those that cannot be made without a model."""
    wanted = kinds_named(names)
    if not offline:
        return wanted, []
    from karat.testset.offline import OFFLINE_KINDS

    able = [kind for kind in wanted if kind.name in OFFLINE_KINDS]
    left = [kind.name for kind in wanted if kind.name not in OFFLINE_KINDS]
    if not able:
        raise UsageError(
            f"{', '.join(left)}: made by a chat model only. Name one with --model, or ask for kinds that need none: "
            f"--kinds {','.join(OFFLINE_KINDS)}."
        )
    notes = [WORDS_OF_THE_SOURCE]
    if not left:
        return able, notes
    return able, [*notes, f"Left out, since only a chat model makes them: {', '.join(left)}. Name one with --model."]


@dataclass
class _Generation:
    """What one generation holds while it goes on."""

    chunks: Chunks
    settings: GenerationSettings
    sampled: Sampled
    surroundings: Surroundings
    say: Progress
    asked: Mapping[str, Collection[int]]
    rejected: list[Rejected] = field(default_factory=list)
    accepted: list[Draft] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)  # kinds that no chunk is left for
    known: Counter[str] = field(default_factory=Counter)  # chunks left out since the kind asks about them already

    def by_model(self, kinds: Sequence[Kind], models: Models) -> list[QuestionSlot]:
        """Slots filled by a chat model, in rounds."""
        chat = models.chat_for("karat testset make")
        supplies = {kind.name: self._supply(kind) for kind in kinds}
        slots = [QuestionSlot(kind, number) for kind in kinds for number in range(self.settings.samples)]
        open_slots = [slot for slot in slots if self._next(slot, supplies)]
        while open_slots:
            outcomes = self._ask(chat, open_slots)
            verdicts = iter(self._judge([one for one in outcomes if isinstance(one, Draft)]))
            still_open = []
            for slot, outcome in zip(open_slots, outcomes, strict=True):
                slot.tries += 1
                rejected: Rejected | None
                if isinstance(outcome, Rejected):
                    rejected = outcome
                else:
                    verdict = next(verdicts)
                    rejected = verdict.rejected
                    slot.draft = verdict.draft if rejected is None else None
                if rejected is None:
                    continue
                self.rejected.append(rejected)
                if rejected.reason != "model_failed" and slot.tries < TRIES and self._next(slot, supplies):
                    still_open.append(slot)
            open_slots = still_open
        return slots

    def offline(self, kinds: Sequence[Kind]) -> list[QuestionSlot]:
        """Slots filled by grammar, up to `each` from a chunk, in the order in which it makes them."""
        from karat.testset.offline import LANGUAGE

        rows = (*self.sampled.rows, *self.sampled.reserve)
        if rows and not any(self._fragment(row).language == LANGUAGE for row in rows):
            raise UsageError(
                f"no chunk is in English (of {len(rows):,} that can be asked about), and without a model karat asks in "
                "English only. Name a chat model with --model (model=)."
            )
        count = self.settings.samples * self.settings.each
        slots = [QuestionSlot(kind, number) for kind in kinds for number in range(count)]
        drafts = {kind.name: self._drafts(kind) for kind in kinds}
        for done, slot in enumerate(slots):
            self.say("writing questions", done, len(slots))
            slot.draft = next(drafts[slot.kind.name], None)
        return slots

    def _drafts(self, kind: Kind) -> Iterator[Draft]:
        """The drafts of a kind that pass, chunk by chunk."""
        from karat.testset.offline import LANGUAGE, offline_drafts

        for (row,) in self._supply(kind):
            fragment = self._fragment(row)
            drafts = offline_drafts(fragment, [kind.name])
            if fragment.language != LANGUAGE:
                why = "without a model karat asks in English only; a chat model asks in other languages"
                self.rejected.append(Rejected("other_language", why, kind.name, rows=(row,)))
            elif not drafts:
                why = "no pattern finds a sentence in the chunk to make such a question of"
                self.rejected.append(Rejected("nothing_to_ask", why, kind.name, rows=(row,)))
            yield from islice(self._passing(drafts), self.settings.each)

    def _passing(self, drafts: Sequence[Draft]) -> Iterator[Draft]:
        for draft in drafts:
            (verdict,) = self._judge([draft])
            if verdict.rejected is None:
                yield verdict.draft
            else:
                self.rejected.append(verdict.rejected)

    def _judge(self, drafts: Sequence[Draft]) -> list[DraftVerdict]:
        """Each draft in turn against all accepted before it."""
        from karat.testset.check import judge_drafts

        verdicts = judge_drafts(drafts, self.surroundings, self.accepted)
        self.accepted += [verdict.draft for verdict in verdicts if verdict.rejected is None]
        return verdicts

    def _ask(self, chat: ChatModel, slots: Sequence[QuestionSlot]) -> list[Draft | Rejected]:
        """For each slot, in order, the draft that the model wrote, or the reason why it wrote none."""
        from karat.models.structured import ask_structured

        settings = [self._setting(slot) for slot in slots]
        prompts = [slot.kind.prompt(setting) for slot, setting in zip(slots, settings, strict=True)]
        replies = ask_structured(chat, prompts, [slot.kind.schema for slot in slots])
        return [_outcome(*one, chat.label) for one in zip(slots, settings, replies, strict=True)]

    def _supply(self, kind: Kind) -> Iterator[tuple[int, ...]]:
        """The chunks that a kind can be asked about, one after the other; each pair of chunks once."""
        pairs: set[frozenset[int]] = set()
        for row in (*self.sampled.rows, *self.sampled.reserve):
            if row in self.asked.get(kind.name, ()):
                self.known[kind.name] += 1
                continue
            if kind.pieces == 1:
                yield (row,)
                continue
            partners = self._related.partners(row)
            other = next((one for one in partners if frozenset((row, one)) not in pairs), None)
            if other is None:
                why = "no other chunk is related to it"
                self.rejected.append(Rejected("no_related_chunk", why, kind.name, rows=(row,)))
                continue
            pairs.add(frozenset((row, other)))
            yield (row, other)
        self.ended.add(kind.name)

    @cached_property
    def _related(self) -> Related:
        from karat.testset.related import Related

        unfit = {one.row for one in self.sampled.left_out if one.reason not in ("not_drawn", "covered")}
        usable = [row for row in range(len(self.chunks)) if row not in unfit]
        return Related(self.chunks, usable, self.surroundings.dense)

    def _next(self, slot: QuestionSlot, supplies: Mapping[str, Iterator[tuple[int, ...]]]) -> bool:
        """Give a slot the next chunks of its kind; False where there are none left."""
        slot.rows = next(supplies[slot.kind.name], ())
        return bool(slot.rows)

    @once
    def _fragment(self, row: int) -> Fragment:
        chunk = self.chunks[row]
        return Fragment(row, chunk, guess_language(chunk.text) or "")

    def _setting(self, slot: QuestionSlot) -> Setting:
        fragments = tuple(self._fragment(row) for row in slot.rows)
        drawn: tuple[dict[str, str], tuple[str, ...]] = ({}, ())
        if self.settings.mix is not None:
            drawn = self.settings.mix.draw(slot.number, seed=self.settings.seed, salt=slot.kind.name)
        return Setting(fragments, fragments[0].language, *drawn)


def _outcome(slot: QuestionSlot, setting: Setting, reply: Structured[Any], model: str) -> Draft | Rejected:
    if reply.value is None:
        return Rejected(_reason(reply), reply.error or "the model said nothing", slot.kind.name, rows=slot.rows)
    draft = slot.kind.draft(reply.value, setting, model)
    if not draft.text:
        return Rejected("declined", "the model found nothing worth such a question", slot.kind.name, rows=slot.rows)
    if declines(draft.text):
        return Rejected(
            reason="refused",
            detail="the model refused in place of asking",
            kind=slot.kind.name,
            rows=slot.rows,
            draft=draft,
        )
    return draft


def _reason(reply: Structured[Any]) -> str:
    """What went wrong, in a word: the call, its length, or what was said."""
    if not reply.said or reply.said[-1].error is not None or reply.said[-1].text is None:
        return "model_failed"
    if reply.said[-1].cut:
        return "cut_off"
    return "refused" if reply.raw and declines(reply.raw[-1]) else "unreadable"


def shortages(
    generated: Generated, samples: int, ended: Collection[str] = (), known: Mapping[str, int] = {}
) -> list[str]:
    """In words, of which kinds there are fewer questions than wanted, and why.

    `ended` are the kinds that no chunk is left for, and `known` how many chunks each of them asks about already.
    """
    notes = []
    sampled = generated.sampled
    if len(sampled.rows) < samples:
        out = Counter(one.reason for one in sampled.left_out if one.reason != "not_drawn")
        left_out = ", ".join(f"{reason} {count:,}" for reason, count in sorted(out.items()))
        notes.append(
            f"{len(sampled.rows):,} chunks can be asked about, where {samples:,} were wanted"
            + (f"; left out: {left_out}." if left_out else ".")
        )
    accepted = Counter(one.kind for one in generated.questions)
    for kind, number in generated.wanted.items():
        if accepted[kind] < number:
            reasons = Counter(one.reason for one in generated.rejected if one.kind == kind)
            counts = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
            why = [f"{sum(reasons.values()):,} drafts were rejected ({counts})"] if counts else []
            if kind in ended:
                asked = f" ({known[kind]:,} have a question of this kind already)" if known.get(kind) else ""
                why.append(f"no chunk was left{asked}")
            missing = number - accepted[kind]
            notes.append(
                f"{kind}: {accepted[kind]:,} of {number:,} questions. {missing:,} "
                f"{'place was' if missing == 1 else 'places were'} not filled: {', and '.join(why)}."
            )
    return notes
