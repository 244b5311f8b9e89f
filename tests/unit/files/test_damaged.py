"""What a damaged file beside a test set, or a long cell, is told as."""

import json

import pytest

from karat.core.errors import InputError
from karat.files import frozen_beside, frozen_path, read_raw_table


@pytest.mark.parametrize("kinds", [[], "x", 1, True, {"a": 1e400}])
def test_a_frozen_file_with_other_counts_is_refused(tmp_path, kinds):
    path = tmp_path / "qa.jsonl"
    frozen_path(path).write_text(json.dumps({"version": "1", "digest": "d", "questions": 1, "kinds": kinds}))
    with pytest.raises(InputError, match="frozen as cannot be read"):
        frozen_beside(path)


def test_a_table_with_a_long_cell_is_read_as_it_is(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(f"system,{'x' * 200_000}\na,1\nb,2\n")
    assert len(read_raw_table(path).columns[1]) == 200_000
