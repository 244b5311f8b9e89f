import pytest

from karat.core.errors import UsageError
from karat.experiment.sweep.grid import Grid


def names(grid, length=5):
    return [point.name for point in grid.points(length)[0]]


def test_a_range_has_both_ends_and_no_drift():
    assert Grid.of(alpha="0:1:0.1").alpha == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    assert [f"{a}" for a in Grid.of(alpha="0:1:0.1").alpha][3] == "0.3"
    assert Grid.of(k="3,5:7,10:20:5").k == (3, 5, 6, 7, 10, 15, 20)
    assert Grid.of(alpha=[0.25, 0.5], k=7).alpha == (0.25, 0.5)


def test_the_default_grid_is_eleven_alphas_and_five_cut_offs():
    grid = Grid.of()
    assert grid == Grid()
    assert names(grid) == ["bm25", *(f"hybrid alpha=0.{i}" for i in range(1, 10)), "dense"]
    assert grid.k == (3, 5, 7, 10, 15)
    assert grid.notes == ()


def test_a_range_whose_steps_miss_its_end_says_where_it_ends():
    grid = Grid.of(alpha="0:1:0.3")
    assert grid.alpha == (0, 0.3, 0.6, 0.9)
    assert grid.notes == ("alpha: 0:1:0.3 ends at 0.9, as its steps do not reach 1.",)


def test_what_is_given_twice_is_swept_once_and_said():
    grid = Grid.of(alpha="0.5,0:1:0.5", k="5,5", fusion="rrf,rrf")
    assert grid.alpha == (0.5, 0, 1)
    assert grid.k == (5,)
    assert [note.partition(":")[0] for note in grid.notes] == ["alpha", "k", "fusion"]
    assert grid.notes[0] == "alpha: 0.5 was given more than once and is swept once."


def test_settings_multiply_only_the_fusions_that_have_them():
    grid = Grid.of(alpha="0,0.5,1", normalise="max,zscore", fusion="weighted,rrf,isr", rrf_k="20,60")
    assert names(grid) == [
        "bm25", "hybrid alpha=0.5", "dense", "hybrid alpha=0.5 zscore", "rrf rrf_k=20", "rrf rrf_k=60", "isr",
    ]  # fmt: skip


def test_one_leg_alone_is_the_end_of_the_sweep_over_alpha_and_stands_once():
    points, _ = Grid.of(alpha="0,1", depth="50,100", normalise="minmax,zscore,none", engines="dense").points(5)
    assert [(p.name, p.system.engine, p.alpha) for p in points] == [("bm25", "bm25", 0.0), ("dense", "dense", 1.0)]
    assert points[1].configuration().settings == {"engine": "dense", "alpha": 1.0}
    assert points[1].configuration().alpha == 1.0


def test_depths_are_in_the_name_where_there_are_several():
    grid = Grid.of(alpha="0.5", fusion="weighted,rrf", depth="50,100")
    assert names(grid) == [
        "hybrid alpha=0.5 depth=50", "hybrid alpha=0.5 depth=100", "rrf depth=50", "rrf depth=100"
    ]  # fmt: skip


def test_a_leg_gives_at_least_what_a_list_needs():
    points, notes = Grid.of(alpha="0.5", depth="5,10,20").points(10)
    assert [p.system.depth for p in points] == [10, 20]
    assert notes == ("depth 5: lists are 10 long, so each engine gives 10 hits; all are fused.",)


def test_a_configuration_holds_only_what_it_has():
    points, _ = Grid.of(alpha="0.5", fusion="weighted,rrf").points(5)
    weighted, rrf = (point.configuration("tokens:100:20", "wordllama").settings for point in points)
    assert weighted == {
        "engine": "hybrid", "legs": ["dense", "bm25"], "fusion": "weighted", "depth": 100, "normalise": "max",
        "alpha": 0.5, "chunk": "tokens:100:20", "embedder": "wordllama",
    }  # fmt: skip
    assert "alpha" not in rrf
    assert rrf["rrf_k"] == 60


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"alpha": "0:1.1:0.1"}, r"alpha=1.1 is not between 0 \(sparse only\) and 1 \(dense only\)"),
        ({"alpha": "-0.1"}, "alpha=-0.1 is not between"),
        ({"alpha": "1:0:0.1"}, "alpha: the range '1:0:0.1' runs backwards"),
        ({"alpha": "0:1:0"}, "the step of '0:1:0' must be above 0"),
        ({"alpha": "0:1:-0.1"}, "must be above 0"),
        ({"alpha": ""}, "alpha: an empty value"),
        ({"alpha": "0,,1"}, "alpha: an empty value"),
        ({"alpha": "0::1"}, "'0::1' is no range. Write start:end:step, for example 0:1:0.1"),
        ({"alpha": "0:1:0.1:2"}, "is no range"),
        ({"alpha": "half"}, "alpha: 'half' is no number"),
        ({"alpha": "nan"}, "alpha: 'nan' is no number"),
        ({"alpha": []}, "alpha: nothing to sweep"),
        ({"alpha": "0:1:0.00001"}, "more than 100,000 values"),
        ({"k": "0,5"}, "k=0: a cut-off is a whole number of 1 or more"),
        ({"k": "2.5"}, "k=2.5 is not a whole number"),
        ({"depth": "0"}, "depth=0: what each engine gives is a whole number of 1 or more"),
        ({"fusion": "rff"}, "Did you mean rrf"),
        ({"fusion": ""}, "fusion: an empty name"),
        ({"normalise": "minmaxx"}, "normalise='minmaxx' is unknown. Did you mean minmax"),
        ({"fusion": "rrf", "rrf_k": "-1"}, "k=-1.0 is not a number of 0 or more"),
        ({"legs": "dense"}, "a hybrid fuses two engines or more"),
        ({"legs": "dense,bm25,other"}, "alpha weighs two legs"),
        ({"alpha": "0:1:0.00002", "depth": "50,100,200"}, "the grid has 149,999 configurations, more than the 100,000"),
    ],
)
def test_what_cannot_be_swept_is_refused_with_a_reason(given, says):
    with pytest.raises(UsageError, match=says):
        Grid.of(**given)


def test_a_grid_made_by_hand_is_checked_too():
    with pytest.raises(UsageError, match="between 0"):
        Grid(alpha=(2.0,))
    with pytest.raises(UsageError, match="neither a fusion nor an engine"):
        Grid(fusion=())
