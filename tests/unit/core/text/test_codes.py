from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.core.text import NORMS, tokenise
from karat.core.text import codes as codes_module
from karat.core.text.codes import TokenIds, Vocabulary, first_alike, shared

TOKENS = st.text("abé\x00ि€", max_size=20) | st.sampled_from(["the", "a", "abcdefg", "abcdefgh", "abcdefghi"])
LONG = st.integers(1, 80).map("x".__mul__)
TEXTS = st.lists(st.lists(TOKENS | LONG, max_size=8).map(" ".join), max_size=8)


def same_tokens(coded: TokenIds, texts: list[str], norm) -> None:
    """Numbers agree exactly where tokens do."""
    tokens = [tokenise(text, norm) for text in texts]
    assert [len(coded[i]) for i in range(len(coded))] == [len(t) for t in tokens]
    flat = [t for text in tokens for t in text]
    seen = dict(zip(flat, coded.codes.tolist(), strict=True))
    assert [seen[t] for t in flat] == coded.codes.tolist()
    assert len(set(seen.values())) == len(seen)


@given(TEXTS, st.sampled_from(NORMS))
def test_numbers_stand_for_tokens(texts, norm):
    same_tokens(Vocabulary(norm).encode(texts), texts, norm)


@given(TEXTS, TEXTS)
def test_a_vocabulary_keeps_its_numbers(first, second):
    vocabulary = Vocabulary("squad")
    one, two = vocabulary.encode(first), vocabulary.encode(second)
    both = TokenIds(
        np.concatenate((one.codes, two.codes)), np.concatenate((one.offsets, two.offsets[1:] + len(one.codes)))
    )
    same_tokens(both, first + second, "squad")


def test_large_input_is_numbered_in_chunks(monkeypatch):
    monkeypatch.setattr(codes_module, "_CHUNK_BYTES", 40)
    monkeypatch.setattr(codes_module, "_CHUNK_TOKENS", 7)
    texts = ["", *[" ".join(f"w{i * j % 11}" for j in range(i)) for i in range(20)], ""]
    vocabulary = Vocabulary("words")
    coded = vocabulary.encode(texts)
    same_tokens(coded, texts, "words")
    back = coded.take(np.arange(len(texts))[::-1])
    common, _, _ = shared(coded, back, len(vocabulary))
    bags = [Counter(text.split()) for text in texts]
    assert common.tolist() == [(a & b).total() for a, b in zip(bags, reversed(bags), strict=True)]


@given(st.lists(st.tuples(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5))), max_size=6))
def test_shared_counts_as_multisets_and_as_sets(pairs):
    left, right = (as_coded([pair[side] for pair in pairs]) for side in (0, 1))
    for size in (6, 2**61):
        common, ours, theirs = shared(left, right, size)
        assert common.tolist() == [(Counter(a) & Counter(b)).total() for a, b in pairs]
        assert list(zip(ours.tolist(), theirs.tolist(), strict=True)) == [(len(a), len(b)) for a, b in pairs]
        common, ours, theirs = shared(left, right, size, distinct=True)
        assert common.tolist() == [len(set(a) & set(b)) for a, b in pairs]
        assert list(zip(ours.tolist(), theirs.tolist(), strict=True)) == [(len(set(a)), len(set(b))) for a, b in pairs]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40))
def test_first_alike_groups_equal_keys(keys):
    key, more = (np.array([k[i] for k in keys], np.uint64) for i in (0, 1))
    assert groups(first_alike(key, more)) == groups_of(keys)
    assert groups(first_alike(key)) == groups_of([k for k, _ in keys])


def test_keys_that_always_meet_in_one_slot_are_sorted_apart(monkeypatch):
    monkeypatch.setattr(codes_module, "_MULTIPLIERS", (0, 0))
    keys = [(i % 7, i % 3) for i in range(50)]
    key, more = (np.array([k[i] for k in keys], np.uint64) for i in (0, 1))
    assert groups(first_alike(key, more)) == groups_of(keys)
    assert groups(first_alike(key)) == groups_of([k for k, _ in keys])


def test_bigrams():
    vocabulary = Vocabulary("plain")
    coded = vocabulary.encode(["a b c", "d", "", "b c b"])
    a, b, c = coded[0].tolist()
    size = len(vocabulary)
    bigrams = coded.bigrams(size)
    found = [[divmod(code, size) for code in bigrams[i].tolist()] for i in range(4)]
    assert found == [[(a, b), (b, c)], [], [], [(b, c), (c, b)]]


def test_known_numbers():
    vocabulary = Vocabulary("squad")
    vocabulary.encode(["the river bank"])
    assert len(vocabulary.known(["bank", "river", "money"])) == 2


def as_coded(lists: list[list[int]]) -> TokenIds:
    flat = np.array([n for numbers in lists for n in numbers], np.int64)
    return TokenIds(flat, np.concatenate(([0], np.cumsum([len(n) for n in lists], dtype=np.int64))).astype(np.int64))


def groups(first) -> set[frozenset[int]]:
    members: dict[int, set[int]] = {}
    for i, f in enumerate(first.tolist()):
        members.setdefault(f, set()).add(i)
    assert all(f in group for f, group in members.items())
    return {frozenset(group) for group in members.values()}


def groups_of(keys) -> set[frozenset[int]]:
    members: dict[object, set[int]] = {}
    for i, key in enumerate(keys):
        members.setdefault(key, set()).add(i)
    return {frozenset(group) for group in members.values()}
