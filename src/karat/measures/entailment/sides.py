"""The texts of a pair as its claims are made from them, and what each relation holds its claims against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from karat.core.claims import PremiseKind, Relation, Side, cited_sets
from karat.core.text import drop_blocks, open_blocks, sentences, tokenise
from karat.core.text.citations import cited_sentences, spoken, without_citations
from karat.core.text.refusals import declines
from karat.measures.entailment.judging import ClaimPremise, Origin, StoredSide, side_of, split_key

if TYPE_CHECKING:
    from karat.core.answered import AnswerTable


@dataclass(frozen=True)
class WantedVerdict:
    """A claim of a pair by its side and number from 1, and the premise it is held against for a relation."""

    relation: Relation
    number: int
    kind: PremiseKind
    passages: tuple[int, ...] = ()
    within: int = 0  # of a sentence of a passage: which

    @property
    def side(self) -> Side:
        return side_of(self.relation)

    @property
    def place(self) -> tuple[Side, int, PremiseKind, tuple[int, ...]]:
        return self.side, self.number, self.kind, self.passages


@dataclass(frozen=True)
class PairTexts:
    """What there is of a pair of system and question."""

    _: KW_ONLY
    question: str
    answer: str  # without thoughts
    references: tuple[str, ...]  # distinct, each with words
    contexts: tuple[str, ...] | None
    context_ids: tuple[str, ...] = ()
    nuggets: tuple[tuple[str, bool], ...] | None

    @classmethod
    def of(cls, answered: AnswerTable, pair: int) -> PairTexts:
        return cls(
            question=answered.texts[pair],
            answer=drop_blocks(answered.answers[pair] or "").strip(),
            references=tuple(text for text in dict.fromkeys(answered.references[pair]) if tokenise(text)),
            contexts=answered.contexts[pair],
            context_ids=answered.ids_of(pair),
            nuggets=tuple((n.text, n.vital) for n in answered.nuggets[pair]) if answered.nuggets else None,
        )

    @property
    def reference(self) -> str:
        """The first reference with words; nothing where there is none."""
        return self.references[0] if self.references else ""

    def split_key(self, side: Side, origin: Origin) -> str:
        """The key of the claims of a side as somebody splits it."""
        return split_key(self.question, self.to_split(side), origin)

    def to_split(self, side: Side) -> str:
        """The text that a judge splits into the claims of a side; nothing where that claims nothing."""
        text = self.answer if side == "answer" else self.reference
        uncited = without_citations(text)
        silent = not any(map(str.isalnum, uncited)) or (side == "answer" and declines(uncited))
        return "" if silent else text

    def claims(self, side: Side) -> StoredSide | None:
        """The claims of a side that nobody needs to split; None where they are not known at all."""
        if side == "sentence":
            answer_sentences = cited_sentences(self.answer, self.context_ids)
            return StoredSide.of(
                tuple(text for text, _ in answer_sentences), cites=tuple(cited for _, cited in answer_sentences)
            )
        if side == "nugget":
            nuggets = self.nuggets
            return None if nuggets is None else StoredSide.of(
                tuple(text for text, _ in nuggets), vital=tuple(vital for _, vital in nuggets)
            )  # fmt: skip
        if self.contexts is None:
            return None
        parts = [
            (" ".join(text.split()), number)
            for number, passage in enumerate(self.contexts, 1)
            for text in sentences(open_blocks(passage))
            if any(map(str.isalnum, text))
        ]
        return StoredSide.of(tuple(text for text, _ in parts), cites=tuple((number,) for _, number in parts))

    def premise(self, wanted: WantedVerdict) -> ClaimPremise:
        """The texts that a claim is held against."""
        if wanted.kind == "question":
            return ClaimPremise((self.question,))
        if wanted.kind in ("answer", "reference"):
            text = self.answer if wanted.kind == "answer" else self.reference
            return ClaimPremise((spoken(text).strip(),), self.question)
        assert self.contexts is not None
        return ClaimPremise(tuple(self.contexts[number - 1] for number in wanted.passages))

    def wanted(self, relation: Relation, cites: Sequence[tuple[int, ...]]) -> Iterator[WantedVerdict]:
        """Every verdict that a relation needs on the claims of its side, which cite these passages."""
        by, is_context = relation.partition(" by ")[2], side_of(relation) == "context"
        here = tuple(range(1, len(self.contexts or ()) + 1))
        for number, cited in enumerate(cites, 1):
            if by == "reference":
                if self.references:
                    yield WantedVerdict(relation, number, "reference")
            elif by in ("answer", "question"):
                kind: PremiseKind = "answer" if by == "answer" else "question"
                yield WantedVerdict(relation, number, kind, within=cited[0] if cited and is_context else 0)
            elif by == "passage":
                yield from (WantedVerdict(relation, number, "passage", (one,)) for one in here)
            else:
                sets = cited_sets(cited, len(here)) if by == "cited" else [here]
                for members in filter(None, sets):
                    yield WantedVerdict(relation, number, "passage" if len(members) == 1 else "passages", members)
