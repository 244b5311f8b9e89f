"""Clean tables of twelve shapes raise no alarm, and one with a figure moved does."""

import json

import clean_tables
import pytest

from karat.experiment.verify import verify


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(n, marks=pytest.mark.slow) for n in range(20, 204))])
def test_a_clean_table_raises_no_alarm(tmp_path, seed):
    shape = clean_tables.SHAPES[seed % len(clean_tables.SHAPES)]
    (name, content), options = shape(clean_tables.Drawn(seed))
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = verify(path, **options)
    assert not found.broken, [f for f in found.figures if f.broken]
    assert found.figures
    if shape is not clean_tables.unknown_cut:
        assert found.count("ok") > found.count("unchecked"), found.of("unchecked")[:3]


@pytest.mark.parametrize("seed", range(10, 204, 24))
def test_the_same_table_with_one_figure_moved_does(tmp_path, seed):
    (_, content), _ = clean_tables.rows_and_aggregate(clean_tables.Drawn(seed))
    document = json.loads(content)
    row = next(iter(document["aggregate"].values()))
    name = next(n for n, value in row.items() if value < 0.9)
    row[name] = round(row[name] + 0.0537, 4)
    (tmp_path / "t.json").write_text(json.dumps(document))
    assert {f.name for f in verify(tmp_path / "t.json").of("mismatch")} == {name}
