"""Scores: a value with status ok, or none with a reason."""

import numpy as np

from karat.core.language import parse
from karat.core.scores import Floor, Scores, Status


def test_a_value_is_there_only_with_status_ok():
    scores = Scores(
        ("s",),
        ("a", "b", "c"),
        (parse("MRR"),),
        values=np.array([[[0.5], [np.nan], [0.25]]]),
        status=np.array([[[Status.ok], [Status.undefined], [Status.failed]]], np.uint8),
        reasons={(0, 1, 0): "no relevant gold"},
    )
    assert [scores.value(0, q, 0) for q in range(3)] == [0.5, None, None]
    assert type(scores.value(0, 0, 0)) is float
    assert [scores.reason(0, q, 0) for q in range(3)] == [None, "no relevant gold", None]


def test_the_names_of_the_statuses_are_those_of_the_files():
    assert [s.name for s in Status] == ["ok", "undefined", "failed"]


def some(systems, measures, start):
    shape = (len(systems), 2, len(measures))
    values = start + np.arange(np.prod(shape), dtype=float).reshape(shape)
    status = np.zeros(shape, np.uint8)
    status[0, 1, 0] = Status.failed
    return Scores(
        systems,
        ("p", "q"),
        tuple(map(parse, measures)),
        values=np.where(status, np.nan, values),
        status=status,
        reasons={(0, 1, 0): f"why {start}"},
        details={(0, 0, 0): {"of": start}},
        floors={(0, 0): Floor(start)},
        lists_end={systems[0]: int(start)},
    )


def test_systems_stand_one_after_the_other():
    joined = Scores.concat([some(("a", "b"), ["MRR", "AP"], 10), some(("c",), ["MRR", "AP"], 20)])
    assert (joined.systems, joined.values.shape, joined.values[2, 0, 1]) == (("a", "b", "c"), (3, 2, 2), 21)
    assert joined.reasons == {(0, 1, 0): "why 10", (2, 1, 0): "why 20"}
    assert joined.details == {(0, 0, 0): {"of": 10}, (2, 0, 0): {"of": 20}}
    assert joined.floors == {(0, 0): Floor(10), (2, 0): Floor(20)}
    assert joined.lists_end == {"a": 10, "c": 20}


def test_measures_stand_one_after_the_other():
    joined = Scores.concat([some(("a", "b"), ["MRR"], 10), some(("a", "b"), ["AP"], 20)], axis="measures")
    assert ([m.name for m in joined.measures], joined.values.shape) == (["MRR", "MAP"], (2, 2, 2))
    assert joined.reasons == {(0, 1, 0): "why 10", (0, 1, 1): "why 20"}
    assert joined.floors == {(0, 0): Floor(10), (0, 1): Floor(20)}


def test_a_selection_keeps_what_belongs_to_it():
    whole = Scores.concat([some(("a", "b"), ["MRR", "AP"], 10), some(("c",), ["MRR", "AP"], 20)])
    part = whole.select(systems=[2, 1], measures=[1, 0])
    assert (part.systems, [m.name for m in part.measures]) == (("c", "b"), ["MAP", "MRR"])
    assert part.values[0, 0].tolist() == [21, 20]
    assert part.reasons == {(0, 1, 1): "why 20"}
    assert part.details == {(0, 0, 1): {"of": 20}}
    assert (part.floors, part.lists_end) == ({(0, 1): Floor(20)}, {"c": 20})


def test_without_values_everything_has_the_reason():
    none = Scores.without_values(["a"], ["p", "q"], [parse("MRR")], "not judged")
    assert [(none.value(0, q, 0), none.reason(0, q, 0)) for q in range(2)] == [(None, "not judged")] * 2
