import json
import os

import numpy as np
import pytest

from karat.core.errors import InputError, KaratError
from karat.models import EmbedderSettings, Known, embed_all, text_digest


class Counting:
    """An embedder of two numbers that remembers what it was asked for, and fails at a text `FAIL`."""

    settings = EmbedderSettings("counting")
    batch = 2

    def __init__(self, fingerprint="counting 1", size=2):
        self.fingerprint, self.size, self.asked = fingerprint, size, []

    def embed(self, texts, role):
        assert role == "passage"
        if "FAIL" in texts:
            raise KaratError("the endpoint is down.")
        self.asked.append(list(texts))
        rows = np.zeros((len(texts), self.size), np.float32)
        for row, text in zip(rows, texts, strict=True):
            angle = sum(map(ord, text))
            row[:2] = (np.cos(angle), np.sin(angle)) if text != "nothing" else 0
        return rows


def expected(text):
    angle = sum(map(ord, text))
    return pytest.approx([np.cos(angle), np.sin(angle)], abs=1e-6)


def vectors_of(made, texts):
    return {text: made.vectors[row].tolist() for text, row in zip(texts, made.rows, strict=True) if row >= 0}


def test_each_distinct_text_is_embedded_once_and_blank_ones_never():
    embedder, texts = Counting(), ["b", "a", "", "b", "c", " \n", "a"]
    made = embed_all(embedder, texts)
    assert embedder.asked == [["b", "a"], ["c"]]
    assert made.rows.tolist() == [0, 1, -1, 0, 2, -1, 1]
    assert [bytes(digest) for digest in made.digests] == [text_digest(text) for text in "bac"]
    assert {text: expected(text) == vector for text, vector in vectors_of(made, texts).items()} == dict.fromkeys(
        "bac", True
    )


def test_a_text_the_model_makes_zeros_of_has_no_vector():
    made = embed_all(Counting(), ["a", "nothing", "b", "nothing"])
    assert made.rows.tolist() == [0, -1, 1, -1]
    assert made.vectors.shape == (2, 2)
    assert len(made.digests) == 2


def test_nothing_to_embed():
    for texts in ([], ["", " "]):
        made = embed_all(Counting(), texts)
        assert (made.vectors.shape, made.digests.shape, made.rows.tolist()) == ((0, 0), (0, 16), [-1] * len(texts))


def test_known_vectors_are_taken_over_for_the_same_fingerprint_only():
    before = embed_all(Counting(), ["a", "b", "c"])
    embedder = Counting()
    made = embed_all(embedder, ["c", "d", "a"], [Known("counting 1", before.digests, before.vectors)])
    assert embedder.asked == [["d"]]
    assert made.reused == 2
    assert np.array_equal(made.vectors[0], before.vectors[2])
    assert made.vectors[1].tolist() == expected("d")
    embedder = Counting("counting 2")
    assert embed_all(embedder, ["a"], [Known("counting 1", before.digests, before.vectors)]).reused == 0
    assert embedder.asked == [["a"]]


def test_a_failure_tells_what_is_kept_and_the_next_attempt_goes_on(tmp_path):
    journal, texts = tmp_path / "made" / "journal", ["a", "b", "c", "d", "FAIL"]
    with pytest.raises(KaratError, match=r"the endpoint is down. 4 of 5 texts were embedded before. They are kept"):
        embed_all(Counting(), texts, journal=journal)
    embedder = Counting()
    made = embed_all(embedder, ["a", "b", "c", "d", "e"], journal=journal)
    assert embedder.asked == [["e"]]
    assert made.reused == 4
    assert vectors_of(made, list("abcde"))["c"] == expected("c")
    embedder = Counting()
    assert embed_all(embedder, ["e", "a"], journal=journal).reused == 2
    assert embedder.asked == []


def test_a_failure_without_a_journal_says_so():
    with pytest.raises(KaratError, match=r"2 of 3 texts were embedded before. They are not kept."):
        embed_all(Counting(), ["a", "b", "FAIL"])
    with pytest.raises(KaratError, match=r"down. Nothing was embedded."):
        embed_all(Counting(), ["FAIL"])


def test_a_torn_tail_is_cut_off(tmp_path):
    journal = tmp_path / "journal"
    embed_all(Counting(), ["a", "b", "c"], journal=journal)
    whole = journal.stat().st_size
    for lost in (1, 23):
        os.truncate(journal, whole - lost)
        embedder = Counting()
        made = embed_all(embedder, ["a", "b", "c"], journal=journal)
        assert embedder.asked == [["c"]]
        assert journal.stat().st_size == whole
        assert made.vectors[2].tolist() == expected("c")


@pytest.mark.slow
def test_no_bit_of_a_journal_changes_a_vector(tmp_path):
    journal = tmp_path / "journal"
    sound = embed_all(Counting(), ["a", "b", "c"], journal=journal).vectors.tolist()
    data = journal.read_bytes()
    assert journal.stat().st_mode & 0o777 == 0o600
    for place in range(len(data)):
        for bit in range(8):
            journal.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
            made = embed_all(Counting(), ["a", "b", "c"], journal=journal)
            assert made.vectors.tolist() == sound


@pytest.mark.parametrize("content", [b"", b"\n", b"no journal at all", b'{"kind": "karat vectors 1"}\n', b"[" * 99999])
def test_what_is_no_journal_of_this_embedder_is_replaced(tmp_path, content):
    journal = tmp_path / "journal"
    journal.write_bytes(content)
    assert embed_all(Counting(), ["a"], journal=journal).reused == 0
    embedder = Counting()
    assert embed_all(embedder, ["a"], journal=journal).reused == 1


def test_a_journal_of_another_fingerprint_is_replaced(tmp_path):
    journal = tmp_path / "journal"
    embed_all(Counting(), ["a"], journal=journal)
    embedder = Counting("counting 2")
    embed_all(embedder, ["a"], journal=journal)
    assert embedder.asked == [["a"]]
    assert json.loads(journal.read_bytes().split(b"\n")[0])["fingerprint"] == "counting 2"


def test_vectors_of_another_size_than_before_are_refused(tmp_path):
    before = embed_all(Counting(), ["a"])
    with pytest.raises(KaratError, match="vectors of 2 and of 3 numbers, now and before"):
        embed_all(Counting(size=3), ["a", "b"], [Known("counting 1", before.digests, before.vectors)])


def test_a_journal_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be "):
        embed_all(Counting(), ["a"], journal=tmp_path / "file" / "journal")


def test_progress_is_told_for_every_batch():
    told = []
    embed_all(Counting(), ["a", "b", "c"], progress=lambda *step: told.append(step))
    assert told == [("embedding", 2, 3), ("embedding", 3, 3)]


def test_texts_are_known_by_their_whole_digests():
    rng = np.random.default_rng(4)
    stored = rng.integers(0, 256, (500, 16), np.uint8)
    wanted = np.concatenate((stored[[400, 7, 7, 33]], rng.integers(0, 256, (5, 16), np.uint8)))[[4, 0, 1, 5, 3]]
    wanted[3, :8] = stored[10, :8]  # the first half of a digest alone
    places, numbers = Known("f", stored, stored).places(wanted)
    assert dict(zip(places.tolist(), numbers.tolist(), strict=True)) == {7: 2, 33: 4, 400: 1}
    assert len(Known("f", stored, stored).places(wanted[:0])[0]) == 0
    assert len(Known("f", stored[:0], stored[:0]).places(wanted)[0]) == 0
