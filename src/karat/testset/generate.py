"""Generate: questions about the chunks of an index, by a chat model or without one, each through the same filters.

A place is one chunk and one kind. All open places are asked in one round; where a draft is rejected, the next chunk of
the reserve takes its place in the next round, until the place is filled or has been tried often enough. What comes of
it depends on the replies and the seed alone, never on which reply came first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.text.languages import guess_language
from karat.results.drafts import Draft, Fragment, Generated, Rejected, Sampled
from karat.testset._kind import KINDS, Kind, Setting
from karat.testset._questions import Numbers, Papers, question_of
from karat.testset.sample import LEAST_TOKENS, sample
from karat.testset.sections import sections_of

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc
    from karat.core.means import Means
    from karat.core.types import Question
    from karat.testset.check import Surroundings
    from karat.testset.mix import Mix
    from karat.testset.related import Related

TRIES = 4  # drafts asked for one place, the first included
Say = Callable[[str, int, int], None]


@dataclass
class Place:
    """A question that is wanted: its kind, its number among those of the kind, and the chunks it is asked about."""

    kind: Kind
    number: int
    rows: tuple[int, ...] = ()
    tries: int = 0
    draft: Draft | None = None


def generate(
    chunks: Chunks,
    *,
    samples: int,
    kinds: Sequence[str],
    means: Means,
    offline: bool = False,
    seed: int = 0,
    before: Sequence[Question] = (),
    weights: Mapping[int, float] | None = None,
    mix: Mix | None = None,
    say: Say = lambda what, done, total: None,
    docs: Iterable[Doc] | None = None,
    least_tokens: int = LEAST_TOKENS,
    wanted_docs: Collection[str] | None = None,
    asked: Mapping[str, Collection[int]] | None = None,
    each: int = 1,
) -> Generated:
    """Questions about `samples` chunks, one of each kind about each (`each`, offline), as far as they pass the filters.

    `before` are questions that exist: none is repeated, and ids go on from theirs; `asked` are the rows that each
    kind is asked about already. `docs` tell sections and the pages of quotes. Every draft that was tried is either a
    question or among the rejected.
    """
    from karat.testset.check import Surroundings

    if each < 1 or (each > 1 and not offline):
        raise UsageError(f"--each {each}: a model writes one question of each kind about a chunk; give more --samples.")
    docs = None if docs is None else list(docs)
    sections = sections_of(chunks, docs)
    say("choosing chunks", 0, 1)
    sampled = sample(
        chunks, samples, seed=seed, least_tokens=least_tokens, wanted_docs=wanted_docs, weights=weights,
        sections=sections,
    )  # fmt: skip
    surroundings = Surroundings(chunks, means, seed, before)
    wanted, notes = _wanted(kinds, offline)
    work = _Work(
        chunks, sampled, surroundings, mix, seed, say, sections, {k: frozenset(v) for k, v in (asked or {}).items()}
    )
    places = work.offline(wanted, samples, each) if offline else work.by_model(wanted, samples, means)
    numbers, papers = Numbers(one.id for one in before), Papers(docs)
    questions: list[Question] = []
    drafts: dict[str, Draft] = {}
    for place in places:
        if place.draft is not None:
            question = question_of(place.draft, numbers.next(place.kind.name), papers)
            questions.append(question)
            drafts[question.id] = place.draft
    made = Generated(
        tuple(questions),
        tuple(work.rejected),
        sampled,
        dict.fromkeys((one.name for one in wanted), samples * each),
        drafts,
    )
    short = shortages(made, samples, work.ended, work.known)
    return Generated(made.questions, made.rejected, sampled, made.wanted, drafts, (*notes, *short))


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
class _Work:
    """What one generation holds while it goes on."""

    chunks: Chunks
    sampled: Sampled
    surroundings: Surroundings
    mix: Mix | None
    seed: int
    say: Say
    sections: list[str | None]
    asked: Mapping[str, frozenset[int]]
    rejected: list[Rejected] = field(default_factory=list)
    accepted: list[Draft] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)  # kinds that no chunk is left for
    known: Counter[str] = field(default_factory=Counter)  # chunks left out since the kind asks about them already
    _fragments: dict[int, Fragment] = field(default_factory=dict)

    def by_model(self, kinds: Sequence[Kind], samples: int, means: Means) -> list[Place]:
        """Places filled by a chat model, in rounds."""
        from karat.testset._asking import ask_round

        chat = means.chat_for("karat generate")
        supplies = {kind.name: self._supply(kind) for kind in kinds}
        places = [Place(kind, number) for kind in kinds for number in range(samples)]
        open_ = [place for place in places if self._next(place, supplies)]
        while open_:
            outcomes = ask_round(chat, open_, self._setting)
            drafts = [one for one in outcomes if isinstance(one, Draft)]
            verdicts = iter(self._judged(drafts))
            still = []
            for place, outcome in zip(open_, outcomes, strict=True):
                place.tries += 1
                rejected = outcome if isinstance(outcome, Rejected) else self._settle(place, next(verdicts))
                if rejected is None:
                    continue
                self.rejected.append(rejected)
                if rejected.reason != "model_failed" and place.tries < TRIES and self._next(place, supplies):
                    still.append(place)
            open_ = still
        return places

    def offline(self, kinds: Sequence[Kind], samples: int, each: int) -> list[Place]:
        """Places filled by grammar, up to `each` from a chunk, in the order in which it makes them."""
        from karat.testset.offline import LANGUAGE

        rows = (*self.sampled.rows, *self.sampled.reserve)
        if rows and not any(self._fragment(row).language == LANGUAGE for row in rows):
            raise UsageError(
                f"no chunk is in English (of {len(rows):,} that can be asked about), and without a model karat asks in "
                "English only. Name a chat model with --model (model=)."
            )
        places = [Place(kind, number) for kind in kinds for number in range(samples * each)]
        drafts = {kind.name: self._drafts(kind, each) for kind in kinds}
        for done, place in enumerate(places):
            self.say("writing questions", done, len(places))
            place.draft = next(drafts[place.kind.name], None)
        return places

    def _drafts(self, kind: Kind, each: int) -> Iterator[Draft]:
        """The drafts of a kind that pass, chunk by chunk."""
        from karat.testset.offline import LANGUAGE, offline_drafts

        for (row,) in self._supply(kind):
            fragment = self._fragment(row)
            made = offline_drafts(fragment, [kind.name])
            if fragment.language != LANGUAGE:
                told = "without a model karat asks in English only; a chat model asks in other languages"
                self.rejected.append(Rejected("other_language", told, kind.name, (row,)))
            elif not made:
                told = "no pattern finds a sentence in the chunk to make such a question of"
                self.rejected.append(Rejected("nothing_to_ask", told, kind.name, (row,)))
            taken = 0
            for draft in made:
                if taken == each:
                    break
                ((judged, rejected),) = self._judged([draft])
                if rejected is not None:
                    self.rejected.append(rejected)
                    continue
                taken += 1
                yield judged

    def _judged(self, drafts: Sequence[Draft]) -> list[tuple[Draft, Rejected | None]]:
        """Each draft in turn against all accepted before it."""
        from karat.testset.check import judge_drafts

        found = []
        for verdict in judge_drafts(drafts, self.surroundings, self.accepted):
            if verdict.rejected is None:
                self.accepted.append(verdict.draft)
            found.append((verdict.draft, verdict.rejected))
        return found

    def _settle(self, place: Place, judged: tuple[Draft, Rejected | None]) -> Rejected | None:
        draft, rejected = judged
        if rejected is None:
            place.draft = draft
        return rejected

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
            others = (one.row for one in self._related.partners(row))
            other = next((one for one in others if frozenset((row, one)) not in pairs), None)
            if other is None:
                told = "no other chunk is related to it"
                self.rejected.append(Rejected("no_related_chunk", told, kind.name, (row,)))
                continue
            pairs.add(frozenset((row, other)))
            yield (row, other)
        self.ended.add(kind.name)

    @cached_property
    def _related(self) -> Related:
        from karat.testset.related import Related

        unfit = {one.row for one in self.sampled.left_out if one.reason not in ("not_drawn", "covered")}
        usable = [row for row in range(len(self.chunks)) if row not in unfit]
        return Related(self.chunks, usable, self.surroundings.vectors, self.sections)

    def _next(self, place: Place, supplies: Mapping[str, Iterator[tuple[int, ...]]]) -> bool:
        """Give a place the next chunks of its kind; False where there are none left."""
        place.rows = next(supplies[place.kind.name], ())
        return bool(place.rows)

    def _fragment(self, row: int) -> Fragment:
        if row not in self._fragments:
            chunk = self.chunks[row]
            self._fragments[row] = Fragment(row, chunk, guess_language(chunk.text) or "")
        return self._fragments[row]

    def _setting(self, place: Place) -> Setting:
        fragments = tuple(self._fragment(row) for row in place.rows)
        drawn: tuple[dict[str, str], tuple[str, ...]] = ({}, ())
        if self.mix is not None:
            drawn = self.mix.draw(place.number, seed=self.seed, salt=place.kind.name)
        return Setting(fragments, fragments[0].language, *drawn)


def shortages(made: Generated, samples: int, ended: Collection[str] = (), known: Mapping[str, int] = {}) -> list[str]:
    """In words, of which kinds there are fewer questions than wanted, and why.

    `ended` are the kinds that no chunk is left for, and `known` how many chunks each of them asks about already.
    """
    found = []
    sampled = made.sampled
    if len(sampled.rows) < samples:
        out = Counter(one.reason for one in sampled.left_out if one.reason != "not_drawn")
        told = ", ".join(f"{reason} {count:,}" for reason, count in sorted(out.items()))
        found.append(
            f"{len(sampled.rows):,} chunks can be asked about, where {samples:,} were wanted"
            + (f"; left out: {told}." if told else ".")
        )
    accepted = Counter(one.kind for one in made.questions)
    for kind, number in made.wanted.items():
        if accepted[kind] < number:
            reasons = Counter(one.reason for one in made.rejected if one.kind == kind)
            told = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
            why = [f"{sum(reasons.values()):,} drafts were rejected ({told})"] if told else []
            if kind in ended:
                asked = f" ({known[kind]:,} have a question of this kind already)" if known.get(kind) else ""
                why.append(f"no chunk was left{asked}")
            missing = number - accepted[kind]
            found.append(
                f"{kind}: {accepted[kind]:,} of {number:,} questions. {missing:,} "
                f"{'place was' if missing == 1 else 'places were'} not filled: {', and '.join(why)}."
            )
    return found
