"""Traffic is counted at the measured shapes."""

from __future__ import annotations

import pytest

from decider.grid import Shape
from decider.perf.comparison.traffic import traffic

SHAPES = {"forward/1x64": Shape(1, 64), "forward/4x256": Shape(4, 256)}


def test_a_measured_shape_takes_its_own_forwards():
    found = traffic({"1x64": 3, "4x256": 2}, SHAPES)
    assert found is not None
    assert found.weights == {"forward/1x64": 3, "forward/4x256": 2}
    assert found.exact == 1


def test_other_forwards_count_by_tokens_at_the_nearest_shape():
    found = traffic({"1x64": 1, "2x256": 4}, SHAPES)
    assert found is not None
    assert found.weights["forward/4x256"] == pytest.approx(4 * 512 / 1024)
    assert found.exact == pytest.approx(64 / (64 + 4 * 512))
    assert "3% run on a measured shape" in found.description


def test_nothing_to_weigh_is_none():
    assert traffic({}, SHAPES) is None
    assert traffic({"1x64": 1}, {}) is None
