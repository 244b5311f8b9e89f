"""The setting that names a way of chunking."""

import types

import pytest

from karat.core.errors import UsageError
from karat.corpus import CHUNKERS, Chunking, Way


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("tokens:200:40", "tokens:200:40"),
        ("tokens", "tokens:200:40"),
        ("tokens:100", "tokens:100:20"),
        ("tokens:4", "tokens:4:0"),
        ("tokens:200:0", "tokens:200:0"),
        ("sentences:5:1", "sentences:5:1"),
        ("sentences", "sentences:5:1"),
        ("section", "section:400:80"),
        ("section:400", "section:400:80"),
        ("page", "page"),
        ("whole", "whole"),
        (" Tokens : 50 : 10 ", "tokens:50:10"),
    ],
)
def test_a_setting_is_read_and_printed_back_in_full(text, full):
    chunking = Chunking.parse(text)
    assert chunking.text == full
    assert Chunking.parse(full) == chunking


def test_the_default_is_200_tokens_of_which_40_are_repeated():
    assert Chunking() == Chunking("tokens", 200, 40)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tokns", "unknown chunker 'tokns'. Did you mean tokens?"),
        ("", "unknown chunker ''"),
        ("tokens:0", "size of chunking by tokens is 0"),
        ("tokens:10:10", r"overlap of chunking by tokens is 10. .* less than the size \(10\)"),
        ("tokens:10:-1", "'-1' in 'tokens:10:-1' is no whole number"),
        ("tokens:ten", "'ten' in 'tokens:ten' is no whole number"),
        ("tokens:", "'' in 'tokens:' is no whole number"),
        ("tokens:²", "is no whole number"),
        ("tokens:2.5", "is no whole number"),
        ("tokens:1:2:3", "a size and an overlap, no more"),
        ("page:3", "takes no size. Write 'page' alone"),
        ("whole:3", "takes no size"),
    ],
)
def test_what_cannot_be_is_said(text, sentence):
    with pytest.raises(UsageError, match=sentence):
        Chunking.parse(text)


@pytest.mark.parametrize("values", [{"size": True}, {"size": 2.0}, {"size": "9"}, {"size": 9, "overlap": 1.0}])
def test_values_from_json_are_checked_too(values):
    with pytest.raises(UsageError, match="whole number"):
        Chunking("tokens", **values)


def test_every_way_is_in_the_room_under_its_name():
    assert CHUNKERS.keys() == ["page", "section", "sentences", "tokens", "whole"]
    assert [way.name for way in CHUNKERS] == CHUNKERS.keys()
    assert all(way.summary for way in CHUNKERS)


def test_the_names_that_plug_ins_of_0_3_use_are_known():
    plugin = types.SimpleNamespace(way=Way("lines", "lines", lambda doc, size, overlap: []))
    assert CHUNKERS.find(plugin) is plugin.way
