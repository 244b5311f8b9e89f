"""Sentences and exit codes of the errors a user can meet."""

import pytest

from karat.core.errors import InputError, KaratError, NoOverlapError, UsageError, did_you_mean


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "no gold"),
        ({"place": "qa.jsonl"}, "qa.jsonl: no gold"),
        ({"place": "qa.jsonl", "row": 14}, "qa.jsonl line 14: no gold"),
        ({"place": "qa.csv", "row": 2, "unit": "record"}, "qa.csv record 2: no gold"),
        ({"place": "qa.jsonl", "row": 14, "field": "gold"}, 'qa.jsonl line 14 field "gold": no gold'),
        ({"row": 14}, "line 14: no gold"),
        ({"field": "gold"}, 'field "gold": no gold'),
        ({"place": "a", "remedy": "Add it."}, "a: no gold. Add it."),
    ],
)
def test_an_input_error_says_where_what_and_how(given, sentence):
    error = InputError("no gold", **given)
    assert str(error) == sentence
    assert (error.place, error.row, error.field) == (given.get("place"), given.get("row"), given.get("field"))


def test_a_full_stop_is_not_doubled():
    assert str(InputError("no gold.", remedy="Add it.")) == "no gold. Add it."


def test_exit_codes():
    assert {e: e.exit_code for e in (KaratError, UsageError, InputError, NoOverlapError)} == {
        KaratError: 2,
        UsageError: 2,
        InputError: 2,
        NoOverlapError: 3,
    }
    assert all(issubclass(e, KaratError) for e in (UsageError, InputError, NoOverlapError))


def test_the_nearest_name_or_nothing():
    assert did_you_mean("RECAL", ["Recall", "MRR"]) == " Did you mean Recall?"
    assert did_you_mean("zzz", ["Recall", "MRR"]) == ""
    assert did_you_mean("x", []) == ""
