"""An NLI model as judge of claims: does the premise entail the claim, contradict it, or neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER
from karat.core.text.words import plural
from karat.measures.entailment import NLI
from karat.measures.entailment.judging import BatchVerdicts, ClaimBatch, ClaimTask, SplitText, sentence_claims

if TYPE_CHECKING:
    from karat.models.nli import NliModel

_CODES = {"entailment": ENTAILED, "neutral": NEITHER, "contradiction": CONTRADICTED}


class NliJudge:
    """Claims are sentences; the model reads each with its premise, the passages of a set one after the other."""

    prompt = f"{NLI}/1"
    most = 1_000
    tasks: frozenset[ClaimTask] = frozenset(("entail", "support"))

    def __init__(self, model: NliModel, progress: Callable[[str, int, int], None] | None = None) -> None:
        self._model, self._progress = model, progress
        self.name = f"{NLI}:{model.folder.name} {model.digest}"
        self.cut = 0

    def split(self, texts: Sequence[tuple[str, str]]) -> list[SplitText]:
        """The sentences of each text."""
        return [SplitText(sentence_claims(text)) for _, text in texts]

    def judge(self, batches: Sequence[ClaimBatch]) -> list[BatchVerdicts]:
        """The likeliest class for each claim and its premise; an answer or a reference follows its question."""
        pairs = [
            ("\n".join((*filter(None, (batch.premise.question,)), *batch.premise.texts)), claim)
            for batch in batches
            for claim in batch.claims
        ]
        classes = self._model.classify(pairs, self._progress)
        self.cut += classes.cut
        verdicts = [
            (_CODES[label], f"{label} {share:.2f}") for label, share in zip(classes.labels, classes.shares, strict=True)
        ]
        ends = accumulate(len(batch.claims) for batch in batches)
        return [
            BatchVerdicts(tuple(verdicts[end - len(batch.claims) : end]))
            for batch, end in zip(batches, ends, strict=True)
        ]

    def notes(self) -> list[str]:
        """How many pairs were longer than what the model reads."""
        if not self.cut:
            return []
        return [
            f"{plural(self.cut, 'claim')} and premise were longer than the NLI model reads, which saw their beginning."
        ]
