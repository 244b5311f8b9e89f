"""Labels of a front: where they stand."""

import pytest

from karat.report.charts.pareto import _meet, _placed
from karat.results.pareto import ParetoPoint


@pytest.mark.parametrize("many", [2, 12, 55])
def test_labels_of_a_front_cover_neither_each_other_nor_a_point(many):
    points = [
        ParetoPoint(
            system=f"system {i}", value=0.3 + 0.01 * (i % 12), low=0.2, high=0.6, cost=1 + i // 4, on_front=i % 3 == 0
        )
        for i in range(many)
    ]
    placed = _placed(points, {p.system: p.system for p in points}, [0.5, 20], [0.15, 0.65], False)
    assert len(placed) == many if many < 13 else len(placed) > 12
    boxes = [box for _, box in placed]
    assert not any(_meet(one, other) for i, one in enumerate(boxes) for other in boxes[:i])
