"""Claims: a text split into what it says, and each claim held against other texts. Two steps, each its own call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.core.text import tokenise

if TYPE_CHECKING:
    from karat.core.means import Prompt
    from karat.measures.judge._asking import Asking
    from karat.models.structured import Structured


@dataclass(frozen=True)
class Checked:
    """The claims of a text, each with its verdict in plain values, or why there are none. No claims: it makes none."""

    claims: tuple[dict[str, Any], ...] = ()
    error: str | None = None
    replies: tuple[Structured[Any], ...] = ()

    def share(self, verdict: str) -> float:
        """Of the claims, those with this verdict."""
        held = [claim for claim in self.claims if claim["verdict"] == verdict]
        return len(held) / len(self.claims)

    def reason(self, verdict: str) -> str:
        """The verdicts counted, and why the first claim without this verdict has none."""
        counts = dict[str, int]()
        for claim in self.claims:
            counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
        told = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in sorted(counts.items()))
        first = next((claim for claim in self.claims if claim["verdict"] != verdict and claim["reason"]), None)
        return f"{len(self.claims)} claims: {told}." + (f" {first['reason']}" if first else "")


def split_all(asking: Asking, prompts: Sequence[Prompt]) -> list[tuple[tuple[str, ...] | None, Structured[Any]]]:
    """The distinct claims of each text, None where the reply could not be used."""
    from karat.measures.judge._schemas import Claims

    replies = asking.ask(prompts, Claims, step="claims")
    return [(None if reply.value is None else _distinct(reply.value.claims), reply) for reply in replies]


def check_all(
    asking: Asking,
    splits: Sequence[tuple[tuple[str, ...] | None, Structured[Any]]],
    prompt: Callable[[int, tuple[str, ...]], Prompt],
    schema: type[Any],
    contexts: Callable[[int], int] | None = None,
) -> list[Checked]:
    """Verdicts on the claims of each split. `prompt` makes what is asked of it; `contexts` says how many there are."""
    made = [Checked(error=reply.error, replies=(reply,)) for _, reply in splits]
    asked = [(i, claims) for i, (claims, _) in enumerate(splits) if claims]
    checks = [_Complete(len(claims), contexts(i) if contexts else None) for i, claims in asked]
    replies = asking.ask([prompt(i, claims) for i, claims in asked], schema, checks, step="verdicts")
    for (i, claims), reply in zip(asked, replies, strict=True):
        found: tuple[dict[str, Any], ...] = ()
        if reply.value is not None:
            by_number = sorted(reply.value.verdicts, key=lambda one: one.claim)
            found = tuple({**one.model_dump(), "claim": claims[one.claim - 1]} for one in by_number)
        made[i] = Checked(found, reply.error, (splits[i][1], reply))
    return made


@dataclass(frozen=True)
class _Complete:
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


def _distinct(claims: Sequence[str]) -> tuple[str, ...]:
    """Each claim once, as its words go: saying a thing twice is not saying more."""
    by_words = {" ".join(tokenise(claim)): claim for claim in reversed(claims)}
    return tuple(claim for words, claim in reversed(by_words.items()) if words)
