"""Normalisers named after another tool against that tool's rules, written here once more from their description."""

import random
import re
import string
from collections import Counter

import pytest

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.text import tokenise
from karat.core.text.codes import Vocabulary
from karat.measures.dialects import DIALECTS

STRINGS = 20_000
PIECES = [
    "a", "an", "the", "The", "A.", "an-d", "aN", "THE", "paris", "Paris", "theatre", "U.S.", "10.5", "'tis", "i_j",
    "_a_", "Москва", "हिन्दी", "a\u0301", "the\u0947", "an\u0308", "A\u030a", "İ", "ΑΣ", "ẞ", "ﬁ", "ǅ", "K", "a·b",
    "the-an", "the–an", "a—the", "“the”", "«a»", "the's", "an’s", "a…", "€a", "a€", "5€a", "☂an", "a\u200bthe",
    "\u200ba", "a\u200d", "\ufeffthe", "a\u00a0the", "\u2003an\u2003", "\u3000", "\u2028", "\x1c", "\x85", "a\x00b",
    "\x7fthe", "٣", "७a", "a७", "½", "²", "a²", "ⅻ", "①the", "一a", "的", "한국", "\U0001d400", "\U0001f600a",
    "a\U0001f600", "<think>x</think>", "<source>the</source>", "[1]", "[1, 2]", "(source 2)", "ª", "º", "a‿b", "_",
    "__the__", "`a`", "~", "$5", "+a+", "\ud800", "", " ", "\t", "\n",
]  # fmt: skip


def words_of(text: str) -> list[str]:
    """Lower case; ASCII punctuation deleted; articles between word boundaries blanked; split at white space."""
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def f1_of(answer: list[str], reference: list[str]) -> float:
    common = sum((Counter(answer) & Counter(reference)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall)


def some_text(rng: random.Random) -> str:
    """Words that the rules treat in different ways, joined with and without spaces, or characters of any script."""
    if rng.random() < 0.3:
        planes = ((0, 0x80), (0x80, 0x3000), (0x3000, 0xD800), (0xE000, 0x20000), (0x300, 0x370))
        return "".join(chr(rng.randrange(*rng.choice(planes))) for _ in range(rng.randrange(12)))
    return "".join(rng.choice(PIECES) + rng.choice(("", " ", " ")) for _ in range(rng.randrange(9)))


def texts(seed: int = 11) -> list[str]:
    rng = random.Random(seed)
    return [some_text(rng) for _ in range(STRINGS)]


def answered_of(answers, references) -> AnswerTable:
    n = len(answers)
    ids = tuple(map(str, range(n)))
    return AnswerTable(
        ("s",), ids, texts=[""] * n, answers=answers, references=references, contexts=[None] * n, answerable=[True] * n
    )


def test_tokens_are_those_of_the_script():
    for text in texts():
        assert tokenise(text, "squad") == words_of(text), ascii(text)


def test_the_fast_path_finds_the_same_tokens():
    several = texts()
    vocabulary = Vocabulary("squad")
    coded = vocabulary.encode(several)
    words = vocabulary.words()
    for i, text in enumerate(several):
        assert [words[code] for code in coded[i].tolist()] == words_of(text), ascii(text)


@pytest.mark.parametrize("references_each", [1, 3])
def test_em_and_token_f1_are_those_of_the_script(references_each):
    rng = random.Random(5)
    pool = texts(12)
    answers, references = [], []
    for i in range(0, STRINGS - references_each, references_each + 1):
        several = tuple(pool[i + 1 : i + 1 + references_each])
        # every other answer is near a reference, so that words are shared
        answers.append(pool[i] if rng.random() < 0.5 else several[0].upper() + rng.choice((" the", ".", " x", "")))
        references.append(several)
    answered = answered_of(answers, references)
    exact, overlap = (parse(f"{name}(norm=squad)").of(answered) for name in ("EM", "TokenF1"))
    assert not exact.undefined
    assert not overlap.undefined
    for i, (answer, several) in enumerate(zip(answers, references, strict=True)):
        ours, theirs = words_of(answer), [words_of(text) for text in several]
        assert exact.values[i] == max(ours == reference for reference in theirs), ascii((answer, several))
        assert abs(overlap.values[i] - max(f1_of(ours, reference) for reference in theirs)) < 1e-12


def test_texts_that_the_rules_empty_are_compared_as_the_script_does():
    """Equal and so an exact match, but without a word in common; by default such a reference is no reference."""
    answered = answered_of(["the", "", "x"], [("a",)] * 3)
    assert parse("EM(norm=squad)").of(answered).values.tolist() == [1, 1, 0]
    assert parse("TokenF1(norm=squad)").of(answered).values.tolist() == [0, 0, 0]
    assert set(parse("EM").of(answered).undefined) == {0, 1, 2}


def test_marks_and_blocks_are_words_to_the_script():
    answered = answered_of(["Paris [1]", "<think>Lyon</think> Paris"], [("Paris",)] * 2)
    assert parse("EM(norm=squad)").of(answered).values.tolist() == [0, 0]
    assert parse("EM").of(answered).values.tolist() == [1, 1]


PATTERNS = {"hybrid-rag": r"[^\w\s]", "rag-benchmark": r"[^\w\s./:-]"}


def tool_words(text: str, tool: str) -> list[str]:
    return re.sub(PATTERNS[tool], "", text.lower()).split()


@pytest.mark.parametrize("tool", PATTERNS)
def test_tokens_are_those_of_the_tool(tool):
    for text in [*texts(3), "eth0_1 = 10.0.0.1/24 → हिन्दी café\u0301 №5"]:
        assert tokenise(text, tool) == tool_words(text, tool), ascii(text)


@pytest.mark.parametrize("tool", PATTERNS)
def test_answer_f1_is_that_of_the_tool(tool):
    (measure,) = DIALECTS[tool].answers
    pool, rng = texts(4)[:4000], random.Random(1)
    answers = pool[::2]
    beside = zip(answers, pool[1::2], strict=True)
    references = [text if rng.random() < 0.5 else f"{answer} {text}" for answer, text in beside]
    outcome = parse(measure).of(answered_of(answers, [(text,) for text in references]))
    assert not outcome.undefined
    for i, (answer, reference) in enumerate(zip(answers, references, strict=True)):
        ours, theirs = set(tool_words(answer, tool)), set(tool_words(reference, tool))
        common = len(ours & theirs)
        expected = 2 * common / (len(ours) + len(theirs)) if common else 0.0
        assert abs(outcome.values[i] - expected) < 1e-12, ascii((answer, reference))
