"""Dialects: what other systems mean by the same names, reproduced, with what each meaning can hide."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from karat.core.errors import UsageError, did_you_mean
from karat.core.judged import Repeats
from karat.core.language import parse
from karat.core.measure import Measure
from karat.core.models import Need
from karat.core.text import Norm

Missing = Literal["zero", "skip"]
STEPS = ("Steps", "UnionRecall", "RecallGain", "RepeatedCalls", "UselessCalls", "TokensToGold")
_CUTS = "{1,3,5,10,20}"
MAIN_CUT = 5


@dataclass(frozen=True)
class Dialect:
    """Another system's way to count. `{K}` in a measure stands for the cut-offs; the first measure is the main one."""

    name: str
    about: str
    match: str = "auto"
    repeats: Repeats = "once"
    ranking: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    cuts: str = _CUTS
    by_model: Mapping[str, Need] = field(default_factory=dict)  # further measures of answers, and the model each asks
    names: Mapping[str, str] = field(default_factory=dict)  # its bare names, in lower case, and what karat calls them
    norm: Norm | None = None  # of every measure that has one and names no other
    no_gold_is_zero: bool = False
    any_file: bool = False  # a page number means that page of any file
    missing: Missing | None = None  # what a question without an answer counts; None: skip
    by_score: bool = False  # lists with scores are ordered by them, as trec_eval does
    meanings: Mapping[str, str] = field(default_factory=dict)  # what a measure's name means there, where not the same
    differs: tuple[str, ...] = ()  # printed once: what is different and what that can hide
    bands: tuple[str, ...] = ()  # measures whose means its document puts into words: Excellent, Good ...
    has_targets: bool = False  # its document says what F1@5, Hit@5 and MRR should reach
    has_error_classes: bool = False  # its document sorts questions into classes of errors

    def measures(
        self,
        *,
        rankings: bool,
        answers: bool,
        references: bool,
        contexts: bool,
        nuggets: bool = False,
        steps: bool = False,
        k: int | None = None,
        tried: Collection[int] = (),
        able: Collection[Need] = (),
    ) -> list[str]:
        """What to compute when the user names no measures, by what results and test set hold.

        `tried` are several k that the systems were tried with, cut-offs besides the usual ones; `able` are the kinds of
        model that there are.
        """
        several = dict.fromkeys((*self.cuts.strip("{}").split(","), *map(str, sorted(tried))))
        cuts = str(k) if k is not None else ",".join(several) if len(several) == 1 else f"{{{','.join(several)}}}"
        chosen = [m.replace("{K}", cuts) for m in self.ranking] if rankings else []
        chosen += self.of_steps if rankings and steps else ()
        if answers:
            held = {"contexts": contexts, "nuggets": nuggets, "references": references}
            chosen += [name for name in self.answers if held[_compared_with(parse(name))]]
            chosen += [m for m, need in self.by_model.items() if need in able and (references or need == "chat")]
        return chosen

    @property
    def of_steps(self) -> tuple[str, ...]:
        """Measures of steps, where they are known and no document says what to compute."""
        return STEPS if self.ranking is _RANKING else ()

    def main(self, cut: int | str) -> str:
        """The measure that decides where none is named: Recall, or what somebody else's document names first."""
        first = "Recall@{K}" if self.ranking is _RANKING else self.ranking[0]
        return first.replace("{K}", str(cut))

    def left_out(self, able: Collection[Need]) -> list[str]:
        """Measures of the original that ask a model which is not there."""
        return [name for name, need in self.by_model.items() if need not in able]

    def counts_missing(self, asked: Missing | None) -> bool:
        """Whether a missing answer counts as 0: as asked for, else as this dialect has it."""
        return (asked or self.missing or "skip") == "zero"

    def meant(self, measure: Measure, norm: Norm | None = None, rel: int = 1) -> Measure:
        """What this dialect's users mean by a measure, however they spell it; parameters they give stand.

        `norm` is the normaliser of the test set's form, where the dialect has none; `rel` the grade from which a unit
        is relevant.
        """
        if measure.spec.name in self.meanings:
            meaning = parse(self.meanings[measure.spec.name])
            given = {**dict(meaning.given), **dict(measure.given)}
            measure = Measure(meaning.spec, measure.k, tokens=measure.tokens, given=tuple(given.items()))
        norm = self.norm or norm
        measure = measure if norm is None else measure.with_norm(norm)
        return measure if rel == 1 else measure.with_rel(rel)


def _compared_with(measure: Measure) -> str:
    """What a measure of answers compares them with; the claims table knows its passages itself."""
    sides = {relation.partition(" by ")[0] for relation in measure.relations}
    if "nugget" in sides:
        return "nuggets"
    return "contexts" if measure.spec.needs_contexts and sides.isdisjoint(("answer", "reference")) else "references"


_SUPPORT = ("SupportCoverage", "SupportDensity", "HallucinationRate", "UnsupportedTrigrams", "NumberSupport")
_RANKING = ("Precision@{K}", "Recall@{K}", "F1@{K}", "Hit@{K}", "MRR", "MRR@{K}", "nDCG@{K}", "MAP")
_ALCE_RECALL = "CitationRecall(by=alce, most=3, past=void)"
_ALCE_PRECISION = "CitationPrecision(by=alce, most=3, past=void, empty=zero)"
_ZERO = "A question without relevant gold scores 0 and counts in the mean; by default karat leaves it out and says so."

_RAGCHECKER = {
    "precision": "ClaimPrecision(empty=zero)",
    "recall": "ClaimRecall(empty=zero)",
    "f1": "ClaimF1(empty=zero)",
    "claim_recall": "ContextClaimRecall(empty=zero)",
    "context_precision": "ContextClaimPrecision(empty=zero)",
    "context_utilization": "ContextUtilisation(empty=zero)",
    "noise_sensitivity_in_relevant": "NoiseSensitivity(in=relevant, empty=zero)",
    "noise_sensitivity_in_irrelevant": "NoiseSensitivity(in=irrelevant, empty=zero)",
    "hallucination": "ClaimHallucination(empty=zero)",
    "self_knowledge": "SelfKnowledge(empty=zero)",
    "faithfulness": "Faithfulness(by=claims, empty=zero)",
}

DIALECTS: dict[str, Dialect] = {
    d.name: d
    for d in (
        Dialect(
            "karat",
            "karat's own: units counted once, questions without gold left out aloud",
            ranking=_RANKING,
            answers=("EM", "TokenF1", "ROUGE-L", *_SUPPORT),
        ),
        Dialect(
            "squad",
            "the SQuAD v1.1 script: paragraphs as documents, EM and token F1",
            match="doc",
            ranking=_RANKING,
            answers=("EM", "TokenF1"),
            norm="squad",
            missing="zero",
            differs=(
                "Only ASCII punctuation is deleted, so an answer in typographic quotes is no exact match; citation "
                "marks and <think> blocks are words.",
                "A question without an answer in the results scores 0 and counts in the mean.",
            ),
        ),
        Dialect(
            "trec",
            "trec_eval: documents, ordered by score",
            match="exact",
            ranking=_RANKING,
            no_gold_is_zero=True,
            by_score=True,
            differs=(
                "Hits are ordered by score (compared as float32, ties by id descending), whatever order they stand in.",
                _ZERO,
            ),
        ),
        Dialect(
            "hybrid-rag",
            "the hybrid-rag document: pages of the web, MRR and Recall@10, answer F1 on sets of words",
            match="url",
            ranking=("MRR", "Recall@10"),
            answers=("TokenF1(bag=set, norm=hybrid-rag)",),
            meanings={"TokenF1": "TokenF1(bag=set, norm=hybrid-rag)"},
            no_gold_is_zero=True,
            bands=("MRR", "Recall", "TokenF1"),
            has_error_classes=True,
            differs=(
                "The unit is the page a chunk comes from: finding any chunk of the right page counts as finding it.",
                "Answer F1 compares sets of words, so saying a word twice costs nothing.",
                _ZERO,
            ),
        ),
        Dialect(
            "liverag",
            "LiveRAG's context evaluator: documents by <urn:uuid:...>, no cut-off",
            match="uuid",
            repeats="count",
            ranking=(
                "Recall",
                "Precision",
                "F1",
                "nDCG(ideal=retrieved)@10",
                "Retrieved",
                "Gold",
                "Correct",
                "AnyGold",
                "AllGold",
            ),
            meanings={"nDCG": "nDCG(ideal=retrieved)"},
            by_model={"Relevance": "chat", "Faithfulness(scale=liverag)": "chat"},
            differs=(
                "Recall, Precision and F1 have no cut-off: a longer list can only raise Recall.",
                "nDCG@10 compares with the best order of what was retrieved and credits each chunk of a gold document: "
                "it is 1 for a list that finds one gold document of two and ranks it first.",
            ),
        ),
        Dialect(
            "rag-benchmark",
            "the rag-benchmark document: chunks, Recall@k in the sense of a hit rate",
            match="exact",
            ranking=("Hit@{K}", "MRR@{K}", "nDCG@{K}"),
            answers=("TokenF1(bag=set, norm=rag-benchmark)",),
            by_model={"SemanticSimilarity(prefix=passage, norm=rag-benchmark)": "embedder"},
            no_gold_is_zero=True,
            bands=("SemanticSimilarity",),
            meanings={
                "Recall": "Hit",
                "TokenF1": "TokenF1(bag=set, norm=rag-benchmark)",
                "SemanticSimilarity": "SemanticSimilarity(prefix=passage, norm=rag-benchmark)",
            },
            differs=(
                "Recall@k here is the share of questions with at least one hit; it is printed under its name in karat, "
                "Hit@k, and hides how much of the gold was missed.",
                "Token F1 compares sets of words, so saying a word twice costs nothing.",
                'SemanticSimilarity puts "passage: " before both texts, which lifts it with any embedder: read it '
                "against its floor.",
                _ZERO,
            ),
        ),
        Dialect(
            "momento",
            "the momento document: the full suite, nDCG on relevant or not",
            ranking=(
                "Precision@{K}",
                "Recall@{K}",
                "MRR",
                "MRR@{K}",
                "nDCG(gain=binary)@{K}",
                "MAP",
                "AQWV(beta=40, fa=retrieved)",
            ),
            answers=(
                "EM",
                "TokenF1",
                "ROUGE-L",
                "AnswerRelevance",
                "SupportCoverage",
                "SupportDensity",
                "HallucinationRate",
            ),
            norm="squad",
            meanings={"nDCG": "nDCG(gain=binary)", "AQWV": "AQWV(fa=retrieved)"},
            by_model={"SemanticSimilarity": "embedder", "CrossEncoder": "cross_encoder"},
            differs=(
                "nDCG takes every relevant document as equally relevant, whatever its grade.",
                "AQWV's false alarms are a share of what was retrieved, as its document says (its code divides by the "
                "collection): one wrong hit in ten costs 4.",
            ),
        ),
        Dialect(
            "ragchecker",
            "RAGChecker: claims of answer and reference, and which passages entail them",
            ranking=_RANKING,
            answers=tuple(_RAGCHECKER.values()),
            names=_RAGCHECKER,
            meanings={
                "Faithfulness": _RAGCHECKER["faithfulness"],
                **{
                    name: f"{name}(empty=zero)"
                    for name in (
                        "ClaimPrecision",
                        "ClaimRecall",
                        "ClaimF1",
                        "ContextClaimRecall",
                        "ContextClaimPrecision",
                        "ContextUtilisation",
                        "NoiseSensitivity",
                        "ClaimHallucination",
                        "SelfKnowledge",
                    )
                },
            },
            differs=(
                "Where there is nothing to divide by (an answer or a reference without claims, no passages) a score is "
                "0 and counts in the mean; by default karat leaves it out and says so.",
                "An answer without passages has a hallucination and a self-knowledge of 0, though nothing supports "
                "what it claims.",
                "Its precision, recall and f1 are those of claims: write Precision@5 for those of hits. Its "
                "claim_recall is that of the passages, ContextClaimRecall in karat.",
            ),
        ),
        Dialect(
            "healthcare",
            "the healthcare document: page numbers, six measures at K = 5",
            match="page",
            any_file=True,
            repeats="count",
            ranking=("F1@{K}", "Precision@{K}", "Recall@{K}", "MRR", "Hit@{K}", "nDCG@{K}"),
            cuts="5",
            no_gold_is_zero=True,
            has_targets=True,
            differs=(
                "Every chunk of a gold page counts for Precision and nDCG, so nDCG can pass 1; Recall counts it once.",
                _ZERO,
            ),
        ),
        Dialect(
            "crag",
            "the CRAG benchmark: a right answer 1, a missing one 0, a wrong one -1",
            ranking=_RANKING,
            answers=("CRAG(unanswerable=missing)", "EM"),
            by_model={"CRAG(by=model, unanswerable=missing)": "chat"},
            meanings={"CRAG": "CRAG(unanswerable=missing)"},
            missing="zero",
            differs=(
                "Declining a question that has no answer counts 0, as declining any other; by default karat counts it "
                "1: a system that rightly declines is not told from one that fails to answer.",
                "A question without an answer in the results scores 0 and counts in the mean.",
            ),
        ),
        Dialect(
            "alce",
            "ALCE's code: citations that entail the sentences they stand in",
            ranking=_RANKING,
            answers=(_ALCE_RECALL, _ALCE_PRECISION),
            meanings={"CitationRecall": _ALCE_RECALL, "CitationPrecision": _ALCE_PRECISION},
            differs=(
                "The first three citations of a sentence count. A sentence that cites past the last passage is not "
                "supported, and its citations are left out of the precision, which hides them.",
                "An answer that cites nothing has precision 0; by default karat leaves it out and says so.",
            ),
        ),
        Dialect(
            "trec-rag",
            "the TREC RAG track: nuggets that answers state, and support by the passages they cite",
            ranking=_RANKING,
            answers=(
                "NuggetRecall(over=vital, strict, empty=zero)",
                *(f"NuggetRecall(over={over}, empty=zero)" for over in ("vital", "all", "weighted")),
                "CitationPrecision(by=trec, most=1)",
                "CitationRecall(by=trec, most=1)",
            ),
            meanings={
                "NuggetRecall": "NuggetRecall(empty=zero)",
                "CitationPrecision": "CitationPrecision(by=trec, most=1)",
                "CitationRecall": "CitationRecall(by=trec, most=1)",
            },
            differs=(
                "A question without vital nuggets scores 0 over them; by default karat leaves it out and says so.",
                "Support is that of the first passage a sentence cites: what else it cites is not looked at.",
            ),
        ),
    )
}


def names_everywhere() -> dict[str, str]:
    """The bare names of all dialects: a text that is one of them may name a measure."""
    return {name: measure for dialect in DIALECTS.values() for name, measure in dialect.names.items()}


def main_cut(cuts: Collection[int]) -> int:
    """The cut-off that decides where none is named: 5 if it is one of them, else the smallest."""
    return MAIN_CUT if MAIN_CUT in cuts else min(cuts)


def dialect_named(name: str, *, bands: bool = False) -> Dialect:
    """The dialect of this name; with `bands`, the bands, targets and error classes of all dialects are shown in it."""
    key = name.strip().lower().replace("_", "-")
    if key not in DIALECTS:
        raise UsageError(f"unknown dialect {name!r}.{did_you_mean(key, DIALECTS)} There are {', '.join(DIALECTS)}.")
    dialect = DIALECTS[key]
    if not bands:
        return dialect
    every = tuple(measure for one in DIALECTS.values() for measure in one.bands)
    return replace(dialect, bands=every, has_targets=True, has_error_classes=True)
