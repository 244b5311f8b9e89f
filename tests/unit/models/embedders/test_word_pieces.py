"""Taking texts apart word by word makes the pieces, and the bytes, of taking them apart as a whole."""

import random
from itertools import pairwise

import numpy as np
import pytest

from karat.models import EmbedderSettings, embedder_named
from karat.models.embedders import wordllama
from karat.models.embedders.wordllama import WordPieces

NASTY = [
    "plain words, with punctuation; and (brackets) -- dashes... 'quotes' \"more\" don't can't",
    "  leading", "trailing ", "   three before and after   ", "two  spaces   three    four     five", " ", "a", "a b",
    "line\nbreaks\r\nand\ttabs \n at \t edges\n", "\n", "\tx", "no\u00a0break\u2003em\u200bzero\u3000ideographic",
    "▁ the mark itself ▁▁ and▁inside ▁ x▁", "▁", " ▁", "▁ ", "a ▁", "a▁ b",
    "Ночная вахта длится четыре часа.", "रात का पहरा चार घंटे का है।", "東京は日本の首都です。 大阪", "الليل طويل", "שלום",
    "e\u0301 composed é 👩‍👩‍👧‍👦 family 🏳️‍🌈 flags 🇩🇪 \U0010ffff \u0000 \u0001 \ufffe",
    "1 22 333 4444 1,234,567.89 -3.5e-10 0x1F 2026-11-16T13:45:11Z 192.168.0.1 €1.000,00",
    "x" * 5000, "ab" * 3000 + " tail", "word" * 700, "https://example.org/a/very/long/path?with=query&and=more#fragment",
    "<s> </s> <unk> marks", "glued<s>marks</s>", "almost <s < /s> <unk", "[INST] <0x0A> <|x|> ##ing",
    "camelCaseWords snake_case_words KEBAB-CASE def f(x): return x ** 2  # comment", "{'json': [1, 2, {\"a\": null}]}",
    "A" * 255, "é" * 300, "".join(map(chr, range(1, 256))), "".join(map(chr, range(0x2500, 0x2600))),
]  # fmt: skip


@pytest.fixture
def pieces():
    return WordPieces(wordllama._loaded(*wordllama._files())[1]._tokenizer)


def check(pieces, texts):
    whole = [ids.ids for ids in pieces._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    for text, ours, theirs in zip(texts, pieces.of_each(texts), whole, strict=True):
        assert list(ours) == list(theirs), text[:200]


def test_nasty_texts(pieces):
    texts = NASTY * 2
    assert len(texts) >= wordllama._FEW
    check(pieces, texts)
    check(pieces, [f"{a} {b}" for a, b in pairwise(texts)])
    check(pieces, [f"{a}{b}" for a, b in zip(texts, texts[7:], strict=False)])


@pytest.mark.parametrize("seed", range(4))
def test_random_texts(pieces, seed):
    rng = random.Random(seed)
    ranges = [(32, 127)] * 6 + [(0x20, 0x21)] * 3 + [(0x2581, 0x2582), (9, 14), (0xA0, 0x250), (0x400, 0x460)]
    ranges += [(0x900, 0x970), (0x4E00, 0x4F00), (0x1F600, 0x1F640), (0x300, 0x330)]
    texts = ["".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randrange(1, 120))) for _ in range(800)]
    check(pieces, texts)
    check(pieces, texts)  # every word known by now


def test_vectors_are_the_same_bytes(monkeypatch):
    embedder = embedder_named(EmbedderSettings())
    texts = [text for text in NASTY if text.strip()] * 2
    together = embedder.embed(texts, "passage")
    monkeypatch.setattr(wordllama, "_FEW", 10**9)
    assert together.tobytes() == embedder.embed(texts, "passage").tobytes()
    assert together.tobytes() == np.stack([embedder.embed([text], "passage")[0] for text in texts]).tobytes()


def test_memory_is_cleared_and_results_stay(pieces, monkeypatch):
    monkeypatch.setattr(wordllama, "_KEPT", 50)
    for start in range(3):
        check(pieces, [f"word{start}{i} and more words {i}" for i in range(40)])
        assert len(pieces._pieces) < 200


def test_a_word_is_taken_apart_once(pieces):
    asked = []
    tokenizer = pieces._tokenizer

    class Counting:
        def encode_batch_fast(self, texts, **more):
            asked.extend(texts)
            return tokenizer.encode_batch_fast(texts, **more)

    assert pieces._parted
    pieces._tokenizer = Counting()
    pieces.of_each(["night watch night"] * 40)
    pieces.of_each(["watch  the night"] * 40)
    assert sorted(asked) == ["night", "watch", "▁the"]


def test_a_tokenizer_whose_pieces_go_over_spaces_is_given_whole_texts(pieces):
    pieces._parted = False
    check(pieces, NASTY * 2)
    assert len(pieces._pieces) == 0
