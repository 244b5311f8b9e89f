"""malformed: questions that are empty, one word, too long, or no question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.core.text.words import plural
from karat.results.checkup import Finding
from karat.testset.audit._lexicon import words_of
from karat.testset.audit._view import View
from karat.testset.audit._words import about, percent
from karat.testset.audit.check import Check

LONG = 80  # words: a situation told in four sentences has fewer
_KEYWORDS = 0.5  # share of texts that ask nothing from which they are queries of a search box, and meant so
_ASKS = re.compile(
    r"[?？؟]|\b(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|may|must|should"
    r"|shall|will|would|has|have|had|name|list|describe|explain|compare|give|state|define|summari[sz]e|find|identify"
    r"|tell|show|calculate|discuss|outline|provide|write"
    r"|кто|кого|кому|кем|что|чего|чему|чем|как\w{0,4}|каков\w*|когда|где|куда|откуда|почему|зачем|отчего|сколько|чей|чья"
    r"|чьё|чьи|котор\w+|ли|можно|нужно|надо|назов\w+|перечисл\w+|опиш\w+|объясн\w+|сравн\w+|укаж\w+|расскаж\w+|дайте"
    r"|wer|was|wann|wo|warum|wie|welche\w?|wieviel|nenne\w?|erkläre\w?|qui|que|quoi|quand|où|pourquoi|comment|quel\w*"
    r"|combien|est-ce|quién|qué|cuándo|dónde|cómo|cuál\w*|cuánt\w+|क्या|कौन|कब|कहाँ|कैसे|क्यों|कितन\w*|किस\w*)\b",
    re.IGNORECASE,
)


def _find(view: View) -> Iterator[Finding]:
    total = len(view.questions)
    words = [words_of(question.text) for question in view.questions]
    pairs = list(zip(view.questions, words, strict=True))
    empty = [(q, "") for q, said in pairs if not said]
    if empty:
        yield about(
            "malformed", "broken", empty, total, "is empty", "are empty", "Nothing can be found for an empty question.",
            "Write them, or take them out. Of a qrels file alone, give the topics with it.",
        )  # fmt: skip
    single = [(q, "one word") for q, said in pairs if len(said) == 1]
    if single:
        yield about(
            "malformed", "warning", single, total, "is a single word", "are a single word",
            "A word asks nothing that could be answered.", "Say what is asked about it.",
        )  # fmt: skip
    long = [(q, f"{len(said)} words") for q, said in pairs if len(said) > LONG]
    if long:
        yield about(
            "malformed", "warning", long, total, f"has more than {LONG} words", f"have more than {LONG} words",
            "Nobody types that; often a passage or an instruction was left in.", "Shorten them to what is asked.",
        )  # fmt: skip
    bare = [(q, "") for q, said in pairs if len(said) > 1 and not _ASKS.search(q.text)]
    if bare and len(bare) > _KEYWORDS * total:
        yield Finding(
            "malformed",
            "info",
            f"{plural(len(bare), 'question')} of {total:,} ask nothing: they read like queries of a search box",
            f"{percent(len(bare) / total)} have no question mark and no word that asks. That is fine for retrieval; "
            "answers to them are hard to judge.",
            {"questions": len(bare), "looked_at": total, "share": len(bare) / total},
        )
    elif bare:
        yield about(
            "malformed", "warning", bare, total, "asks nothing", "ask nothing",
            "They have no question mark and no word that asks, unlike the others.", "Make questions of them.",
        )  # fmt: skip


check = Check("malformed", "questions that are empty, one word, too long, or no question", _find, 10)
