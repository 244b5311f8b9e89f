"""JSON paths: what they find, and what they say where they do not fit."""

import pytest

from karat.core.errors import UsageError
from karat.systems.outside._json_path import JsonPath, NothingThere

REPLY = {"hits": [{"id": "a", "m": {"p q": 1}}, {"id": "b", "m": {"p q": 2}}], "answer": "x", "none": [], "n": None}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.hits[*].id", ["a", "b"]),
        ("hits[*].id", ["a", "b"]),
        ("$.hits[*].m['p q']", [1, 2]),
        ('$["hits"][0]["id"]', ["a"]),
        ("$.hits[-1].id", ["b"]),
        ("$.answer", ["x"]),
        ("$", [REPLY]),
        ("$.none[*].id", []),
        ("$.n", [None]),
    ],
)
def test_what_is_found(path, found):
    assert JsonPath.parse(path).find(REPLY) == found


def test_lists_in_lists_are_laid_out():
    assert JsonPath.parse("$[*][*].x").find([[{"x": 1}], [], [{"x": 2}, {"x": 3}]]) == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("$.results[*].id", "the path $.results[*].id does not fit: $ is an object with hits, answer, none, n"),
        ("$.hits.id", "$.hits is a list of 2"),
        ("$.hits[2].id", "$.hits is a list of 2"),
        ("$.hits[*].ident", "$.hits[*] is an object with id, m"),
        ("$.answer[*]", "$.answer is a text"),
        ("$.n.x", "$.n is null"),
    ],
)
def test_a_path_that_does_not_fit_says_where(path, said):
    with pytest.raises(NothingThere) as caught:
        JsonPath.parse(path).find(REPLY)
    assert said in str(caught.value)


@pytest.mark.parametrize("path", ["$..id", "$.hits[", "$.hits[a]", "$.hits[1:2]", "$.*", "$.hits[?(@.x)]", "$. a"])
def test_a_path_that_cannot_be_read(path):
    with pytest.raises(UsageError, match="cannot read the path"):
        JsonPath.parse(path)
