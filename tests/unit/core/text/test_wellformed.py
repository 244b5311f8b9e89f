import pytest

from karat.core.text.wellformed import well_formed, well_formed_values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain", "plain"),
        ("naïve 🙂 \u2028", "naïve 🙂 \u2028"),
        ("a\ud83d b\udc00", "a\ufffd b\ufffd"),
        ("\ud83d\ude42", "\ufffd\ufffd"),  # two halves in Python are no pair
        ("a\0b", "a\ufffdb"),
        ("\0é", "\ufffdé"),
    ],
)
def test_what_is_no_character_is_replaced_and_all_else_stays(text, expected):
    assert well_formed(text) == expected
    assert well_formed(text).encode().decode() == expected


def test_texts_are_replaced_wherever_they_stand():
    value = {"a\ud800": ["\0", ("\udfff", 1)], 2: {"b": None, "c": 0.5}, "d": b"\0"}
    assert well_formed_values(value) == {"a\ufffd": ["\ufffd", ("\ufffd", 1)], 2: {"b": None, "c": 0.5}, "d": b"\0"}
