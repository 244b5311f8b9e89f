"""Not a question: empty, one word, a cut sentence, asking nothing, or with numbering, labels and quotes around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from karat.core.text.detect import nonsense
from karat.core.text.words import excerpt, percent, plural
from karat.testset.check._check import CheckContext, Draft, Finding, Surroundings, about_questions, check, draft_filter
from karat.testset.lexicon import asking_word, one_line, words_of

LONG = 80  # words: a situation told in four sentences has fewer
KEYWORDS = 0.5  # share of texts that ask nothing from which they are queries of a search box, and meant so
UNUSABLE = 0.2
"""Share of nonsense from which a test set is unusable: differences between systems are smaller than that."""
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

_LABEL = r"(?:questions?|query|q|вопросы?|в|frage|pregunta|prueba|प्रश्न)"
_KIND = r"(?:literal|paraphrased?|scenario|comparative|multi[-_ ]hop|inferential|парафраз\w*|сценарий|буквальн\w+)"
_OPENING = (
    r"(?:here(?:'s| is| are)|sure[,!]|certainly[,!]|of course[,!]|вот (?:ваш\w* )?вопрос|конечно[,!]|пожалуйста[,:])"
)
_WRITTEN = {
    "numbering": r"\s*(?:[(\[]\s*)?(?:\d{1,3}|[a-zа-я]|[ivx]{1,4})\s*[)\]]\s*\S|\s*\d{1,3}\s*[.:]\s+\D|\s*[№#]\s*\d+\b",
    "a list mark": r"\s*[-–—*•·]\s+\S",
    "a label": rf"\W*+{_LABEL}\s*+(?:№|#|no\.?|nr\.?)?\s*+\d*+\s*+[:.)\]–—-]++\s*+\S|\W*+{_LABEL}\s*+(?:№|#)?\s*+\d++\b"
    rf"|\W*+{_KIND}(?: question)?\W*[:–—]\s|\W*+(?:answer|a|example|output|ответ|пример)\s*+(?:№?\s*+\d++)?\s*+:\s",
    "an announcement": rf"\W*{_OPENING}[^?]{{0,80}}[:!\n]",
    "the answer after it": r"\S.*(?:\b(?:answer|ответ|antwort|réponse|respuesta)\b\s*\W{0,3}:|\bA:)\s*\S",
    "marks": r"\s*(?:\*\*|__|`|#{1,6}\s|>\s)|.*\*\*\s*$|.*```",
    "a field of JSON": r"\s*+[{\[]?\s*+\"\w++\"\s*+:",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE | re.DOTALL) for name, pattern in _WRITTEN.items()}
_QUOTES = (('"', '"'), ("'", "'"), ("«", "»"), ("“", "”"), ("„", "“"), ("‘", "’"), ("`", "`"))

FEWEST, MOST, LONGEST = 3, 60, 400  # words, words, characters of a draft
_MARKUP = re.compile(
    r"```|\*\*|\b__\w+__\b|^#{1,6}\s|</?\w+>|\\n|\\u[0-9a-f]{4}|[{}]|\"\s*:\s*\"|\[[^\[\]]*+\]\([^()]*+\)"
)
_PLACEHOLDER = re.compile(
    r"\[[\w ]*+\]|<[^<>]*+>|\.\.\.\s*\?|…\s*\?"
    r"|\b(?:lorem ipsum|xxx+|todo|tbd|foo bar|your question|the question here"
    r"|insert \w+|n/a)\b|\bваш вопрос\b",
    re.IGNORECASE,
)
_CLOZE = "___"
_CHATTER = re.compile(
    r"^\s*(?:sure|certainly|of course|here (?:is|are)|here's|okay|as an ai|конечно|вот|разумеется)\b"
    r"[^?]*[,!:.]",
    re.IGNORECASE,
)
# What steers a terminal, or turns a line round.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|these|of) )*"
    r"(?:previous|prior|above|earlier|preceding) (?:\w+ )?(?:instructions?|prompts?|rules|orders|messages?)\b"
    r"|\b(?:(?:про)?игнорируй|забудь)(?:те)? (?:все )?(?:предыдущие|прошлые|прежние) (?:инструкции|указания|правила)",
    re.IGNORECASE,
)
_ASKS_SOMEHOW = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|has|have|had|name|list|describe"
    r"|explain|tell|give|compare|верно|правда|можно|нужно|надо|есть|назовите|перечислите|опишите|объясните|сравните)\b"
    r"|\bли\b",
    re.IGNORECASE,
)


@check(20, needs_index=False)
def malformed(context: CheckContext) -> Iterator[Finding]:
    """Questions that are empty, one word, too long, or no question."""
    total = len(context.questions)
    sized = [(question, len(words_of(question.text))) for question in context.questions]
    yield from about_questions(
        "malformed", "broken", [(q, "") for q, size in sized if not size], total, ("is empty", "are empty"),
        "Nothing can be found for an empty question.",
        "Write them, or take them out. Of a qrels file alone, give the topics with it.",
    )  # fmt: skip
    yield from about_questions(
        "malformed", "warning", [(q, "one word") for q, size in sized if size == 1], total,
        ("is a single word", "are a single word"), "A word asks nothing that could be answered.",
        "Say what is asked about it.",
    )  # fmt: skip
    yield from about_questions(
        "malformed", "warning", [(q, f"{size} words") for q, size in sized if size > LONG], total,
        (f"has more than {LONG} words", f"have more than {LONG} words"),
        "Nobody types that; often a passage or an instruction was left in.", "Shorten them to what is asked.",
    )  # fmt: skip
    bare = [(q, "") for q, size in sized if size > 1 and not _ASKS.search(q.text)]
    if len(bare) > KEYWORDS * total:
        share = len(bare) / total
        yield Finding(
            check="malformed",
            severity="info",
            title=f"{plural(len(bare), 'question')} of {total:,} ask nothing: they read like queries of a search box",
            text=f"{percent(share, 0)} have no question mark and no word that asks. That is fine for retrieval; "
            "answers to them are hard to judge.",
            numbers={"questions": len(bare), "looked_at": total, "share": share},
        )
        return
    yield from about_questions(
        "malformed", "warning", bare, total, ("is not a question", "are not questions"),
        "They have no question mark and no word that asks, unlike the others.", "Make questions of them.", "item",
    )  # fmt: skip


@check(21, "nonsense", needs_index=False)
def nonsense_questions(context: CheckContext) -> Iterator[Finding]:
    """Questions that are cut sentences, or have a blank over a list number."""
    total = len(context.questions)
    faulty = [(question, why) for question in context.questions if (why := nonsense(question.text)) is not None]
    findings = about_questions(
        "nonsense", "warning", faulty, total,
        (
            "is a cut sentence or has a blank over a list number",
            "are cut sentences or have a blank over a list number",
        ),
        "Nobody could answer them, and whatever is found for them says nothing about retrieval.",
        "Take them out, or write them anew.",
    )  # fmt: skip
    for finding in findings:
        title = f"this test set is unusable: {len(faulty):,} of {plural(total, 'question')} are nonsense"
        unusable = len(faulty) >= UNUSABLE * total
        yield replace(finding, severity="broken", title=title) if unusable else finding


@check(40, needs_index=False)
def leftovers(context: CheckContext) -> Iterable[Finding]:
    """Numbering, labels and quotes left around a question."""
    return about_questions(
        "leftovers", "warning",
        [(q, leftover) for q in context.questions if (leftover := leftover_of(q.text)) is not None],
        len(context.questions),
        ('keeps list numbering such as "1)", a label or quotes', 'keep list numbering such as "1)", labels or quotes'),
        "Engines search for it as well, and readers take the test set for careless.",
        "Take off what stands before and after the question.",
    )  # fmt: skip


def leftover_of(text: str) -> str | None:
    """What was left around a question, or None.

    >>> leftover_of("1) Who winters?"), leftover_of("Вопрос 3: Кто зимует?"), leftover_of("Who winters?")
    ('numbering', 'a label', None)
    """
    if _is_quoted(text.strip()):
        return "quotes around it"
    return next((name for name, pattern in _PATTERNS.items() if pattern.match(text)), None)


def _is_quoted(text: str) -> bool:
    """Whether quotes open before the first word and close only after the last."""
    for opened, closed in _QUOTES:
        inside = text[1:-1]
        if len(text) < 3 or text[0] != opened or text[-1] != closed:
            continue
        if opened == closed:
            return opened not in inside
        depth = 0
        for character in inside:
            depth += (character == opened) - (character == closed)
            if depth < 0:
                return False
        return depth == 0
    return False


@draft_filter(10)
def not_a_question(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """No question, a cut one, or one with numbering, labels, markup or placeholders in it."""
    text = one_line(draft.text)
    words = text.split()
    if not any(character.isalpha() for character in text):
        return "It is empty." if not text else f'It has no words: "{excerpt(text, 80)}".'
    if _UNSEEN.search(draft.text):
        return "It holds characters that steer a terminal or turn a line round."
    if orders := _ORDERS.search(text):
        return f'It gives orders to a model: "{orders[0]}".'
    if leftover := leftover_of(draft.text):
        return f"It has {leftover}."
    if markup := _MARKUP.search(draft.text):
        return f'It holds markup: "{markup[0]}".'
    placeholder = None if _CLOZE in text else _PLACEHOLDER.search(draft.text)
    if placeholder:
        return f'It holds a placeholder: "{placeholder[0]}".'
    if _CHATTER.search(text):
        return f'It begins with chatter: "{excerpt(text, 40)}".'
    if why := nonsense(text):
        return f'{why.capitalize()}: "{excerpt(text, 80)}".'
    if len(words) < FEWEST:
        return f"It has {len(words)} words, fewer than {FEWEST}."
    if len(words) > MOST or len(text) > LONGEST:
        return f"It has {len(words)} words and {len(text)} characters, more than {MOST} or {LONGEST}."
    ends = text.rstrip("\"'»”)").endswith(("?", "？", "؟"))
    if not ends and _CLOZE not in text and not asking_word(text) and not _ASKS_SOMEHOW.search(text):
        return f'It asks nothing: "{excerpt(text, 80)}".'
    return None
