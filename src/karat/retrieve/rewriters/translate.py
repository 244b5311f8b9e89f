"""Translate: the question in another language, by a chat model; it is searched beside the question as it stands.

`translate:ru` or `translate:Norwegian`. Both are searched, since names and numbers are often found untranslated, and a
corpus may hold both languages; the results are fused.
"""

from __future__ import annotations

import re
from typing import ClassVar, Self

from karat.core.errors import UsageError
from karat.core.models import ChatReply
from karat.core.text import NAMES
from karat.retrieve._by_chat import ChatRewriter, one_text
from karat.retrieve.rewrite import Texts

CODES = NAMES | {"it": "Italian", "pt": "Portuguese", "nl": "Dutch", "pl": "Polish", "uk": "Ukrainian", "tr": "Turkish"}
CODES |= {"zh": "Chinese", "ja": "Japanese", "ko": "Korean", "ar": "Arabic", "cs": "Czech", "sv": "Swedish"}
_NAME = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,3}")
_SYSTEM = """You translate questions for a search engine. Keep names, codes and numbers as they are. Write the
translation alone, on one line, with nothing before or after it. Do not answer the question. One that is
in that language already you give back as it is."""


class Translate(ChatRewriter):
    """Every question in one other language."""

    name: ClassVar[str] = "translate"
    system: ClassVar[str] = _SYSTEM

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        if not target:
            raise UsageError("translate needs a language. Write translate:en, or its name: translate:Norwegian.")
        if len(target) > 40 or not _NAME.fullmatch(target):
            raise UsageError(f"translate:{target[:60]}: no language. Write translate:en or translate:Norwegian.")
        return cls(f"Translate this question into {CODES.get(target.lower(), target)}.")

    def read(self, reply: ChatReply, text: str) -> list[str]:
        """The translation; half of one is none."""
        return [] if reply.cut else [one_text(text)]


rewriter = Translate
