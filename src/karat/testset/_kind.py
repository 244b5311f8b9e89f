"""Kinds: ways to ask about fragments. What a chat model is told for each, and the draft that its reply makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from karat.core.models import Prompt
from karat.core.registry import Registry, instance_of
from karat.core.text import NAMES
from karat.results.drafts import Draft, Fragment

if TYPE_CHECKING:
    from pydantic import BaseModel

_ROLE = (
    "You write questions for a test of document search. People who never saw the fragments below will read your "
    "question alone, so it has to make sense on its own: name what it is about, and never mention a fragment, a "
    "passage, a text, a document or an author."
)
_QUOTE = "Copy the passage that holds the answer word for word, a sentence or two, without changing a letter."
_REPLY = {
    1: '{"question": "...", "answer": "...", "quote": "..."}',
    2: '{"question": "...", "answer": "...", "quote_1": "from fragment 1", "quote_2": "from fragment 2"}',
}
_ONLY_QUESTION = '{"question": "..."}'


@dataclass(frozen=True)
class Setting:
    """What one question is to be asked about: fragments, the language it is written in, and its categories.

    `mix` has for each categorisation (`phrasing`) the category that was drawn, and `manner` what the model is told of
    each.
    """

    fragments: tuple[Fragment, ...]
    language: str
    mix: Mapping[str, str] = field(default_factory=dict)
    manner: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of question: over how many fragments (`pieces`), whether it has an answer, and what the model is told.

    `version` is raised whenever the words of the prompt change: it is part of every question's source. An
    `adversarial` kind is made to mislead. `tags` are joined to every question of the kind.
    """

    name: str
    summary: str
    task: str
    pieces: int = 1
    answerable: bool = True
    adversarial: bool = False
    version: int = 1
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """How a question of the kind was made."""
        return f"{self.name}/{self.version}"

    @property
    def schema(self) -> type[BaseModel]:
        """What the model's reply has to fit."""
        from karat.testset._reply import OneFragment, OnlyQuestion, TwoFragments

        if not self.answerable:
            return OnlyQuestion
        return OneFragment if self.pieces == 1 else TwoFragments

    def prompt(self, setting: Setting) -> Prompt:
        """What the model is asked, the fragments between fences."""
        from karat.models.fences import RULE, fenced

        several = len(setting.fragments) > 1
        parts = [
            (f"fragment {number}" if several else "fragment", _shown(one))
            for number, one in enumerate(setting.fragments, 1)
        ]
        language = NAMES.get(setting.language)
        tongue = f"in {language}" if language else "in the language of the fragment"
        lines = [self.task, *setting.manner, f"Write the question{' and the answer' * self.answerable} {tongue}."]
        if self.answerable:
            lines += ["Answer in as few words as are complete, from what is written and nothing else.", _QUOTE]
        reply = _REPLY[self.pieces] if self.answerable else _ONLY_QUESTION
        rules = "\n".join(f"- {line}" for line in lines)
        user = (
            f"{fenced(parts, salt=self.source).text}\n\n{rules}\n"
            f'- If nothing there is worth such a question, say {{"question": ""{_blank(self)}}}.\n\n'
            f"Reply with one JSON object and nothing else: {reply}"
        )
        return Prompt(user, f"{_ROLE} {RULE}", json=True, purpose=f"generate {self.name}")

    def draft(self, reply: Any, setting: Setting, model: str | None = None) -> Draft:
        """The draft that a reply makes: labels and numbering gone, quotes as they stand in the fragments."""
        from karat.testset._reply import clean, quotes_of, standing

        fragments = setting.fragments
        quotes: tuple[str, ...] = ()
        if self.answerable:
            copied = quotes_of(reply)
            quotes = tuple(standing(quote, one.chunk.text) for quote, one in zip(copied, fragments, strict=True))
        return Draft(
            text=clean(reply.question),
            kind=self.name,
            fragments=fragments,
            answer=(clean(reply.answer, numbered=False) or None) if self.answerable else None,
            quotes=quotes,
            language=setting.language,
            answerable=self.answerable,
            tags={**self.tags, **({"adversarial": "yes"} if self.adversarial else {}), **setting.mix},
            source=self.source,
            model=model,
        )


def _blank(kind: Kind) -> str:
    if not kind.answerable:
        return ""
    return ', "answer": "", "quote": ""' if kind.pieces == 1 else ', "answer": "", "quote_1": "", "quote_2": ""'


def _shown(fragment: Fragment) -> str:
    """A fragment as the model reads it, under the title of its document where that is not in it."""
    title = (fragment.chunk.title or "").strip()
    text = fragment.chunk.text
    return text if not title or text.lstrip("# \n").startswith(title) else f"[{title}]\n{text}"


KINDS = Registry("kind", ("karat.testset.kinds",), "karat.kinds", instance_of(Kind, "kind"))
