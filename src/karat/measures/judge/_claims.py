"""Claims: a text split into what it says, and each claim held against other texts. Two steps, each its own call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.core.lazy import Lazy
from karat.core.text import tokenise
from karat.core.text.words import plural
from karat.measures.judge._prompts import split
from karat.measures.judge._runner import Sample

if TYPE_CHECKING:
    from karat.core.models import Prompt
    from karat.measures.judge._runner import JudgedAnswer, JudgeModel, Requests
    from karat.models.structured import Structured


@dataclass(frozen=True)
class CheckedClaims:
    """The claims of a text, each with its verdict in plain values, or why there are none. No claims: it makes none."""

    claims: tuple[dict[str, Any], ...] = ()
    error: str | None = None
    replies: tuple[Structured[Any], ...] = ()

    def share(self, verdict: str) -> float:
        """Of the claims, those with this verdict."""
        return [claim["verdict"] for claim in self.claims].count(verdict) / len(self.claims)

    def round(self, verdict: str, value: float | None, no_claims: str, **shown: Any) -> Sample:
        """Its score, with the verdicts counted and why the first claim without this verdict has none."""
        if self.error is not None or not self.claims:
            return Sample(error=self.error, undefined=None if self.error else no_claims, replies=self.replies)
        counts = sorted(Counter(claim["verdict"] for claim in self.claims).items())
        listed = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts)
        first = next((claim for claim in self.claims if claim["verdict"] != verdict and claim["reason"]), None)
        reason = f"{plural(len(self.claims), 'claim')}: {listed}." + (f" {first['reason']}" if first else "")
        value = self.share(verdict) if value is None else value
        return Sample(value, shown={"reason": reason, "claims": list(self.claims), **shown}, replies=self.replies)


def check_claims(
    model: JudgeModel,
    asked: Requests,
    schema: type[Any],
    prompt: Callable[[JudgedAnswer, tuple[str, ...], int], Prompt],
    contexts: Callable[[JudgedAnswer], int] | None = None,
) -> list[CheckedClaims]:
    """Split each item into its claims, then ask for a verdict on each. `contexts` says how many a case has."""
    from karat.measures.judge._schemas import Claims

    def to_split(number: int) -> Prompt:
        case, text, sample = asked[number]
        return split(case.asked, text, model.purpose("claims"), sample)

    splits = model.ask(Lazy(len(asked), to_split), Claims, step="claims")
    checked = [CheckedClaims(error=reply.error, replies=(reply,)) for reply in splits]
    claims = [() if reply.value is None else distinct_claims(reply.value.claims) for reply in splits]
    claiming = [i for i, some in enumerate(claims) if some]
    replies = model.ask(
        Lazy(len(claiming), lambda at: prompt(asked[i := claiming[at]][0], claims[i], asked[i][2])),
        schema,
        [Complete(len(claims[i]), contexts(asked[i][0]) if contexts else None) for i in claiming],
        step="verdicts",
    )
    for i, reply in zip(claiming, replies, strict=True):
        verdicts: tuple[dict[str, Any], ...] = ()
        if reply.value is not None:
            by_number = sorted(reply.value.verdicts, key=lambda one: one.claim)
            verdicts = tuple({**one.model_dump(), "claim": claims[i][one.claim - 1]} for one in by_number)
        checked[i] = CheckedClaims(verdicts, reply.error, (splits[i], reply))
    return checked


@dataclass(frozen=True)
class Complete:
    """Whether a reply holds one verdict for each claim and cites contexts that are there."""

    claims: int
    contexts: int | None

    def __call__(self, reply: Any) -> str | None:
        numbers = [one.claim for one in reply.verdicts]
        if sorted(numbers) != list(range(1, self.claims + 1)):
            return f"verdicts on the claims {numbers} where each of 1 to {self.claims} needs exactly one"
        for one in reply.verdicts if self.contexts is not None else ():
            beyond = [number for number in one.contexts if number > (self.contexts or 0)]
            if beyond:
                return f"claim {one.claim} cites context {beyond[0]}, and there are {self.contexts}"
            if one.verdict != "not_found" and not one.contexts:
                return f"claim {one.claim} is {one.verdict} and cites no context"
        return None


def distinct_claims(claims: Sequence[str]) -> tuple[str, ...]:
    """Each claim once, as its words go: saying a thing twice is not saying more."""
    by_words = {" ".join(tokenise(claim)): claim for claim in reversed(claims)}
    return tuple(claim for words, claim in reversed(by_words.items()) if words)
