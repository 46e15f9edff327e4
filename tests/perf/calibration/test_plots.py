"""The charts: one page that asks nobody for anything, and a picture."""

import re

import pytest

from decider.grid import CPU_GRID, Shape
from decider.perf.calibration.calibration import calibrate
from decider.perf.calibration.measurement import measurement
from decider.perf.calibration.plots import write_plots
from decider.perf.calibration.queues import queues_of_mixes
from tests.perf.calibration.measurements import noisy, on_a_line


@pytest.fixture(scope="module")
def plots(tmp_path_factory):
    calibration = calibrate(noisy(), queues_of_mixes(["short"], 3, 1024), current=0)
    page, picture = write_plots(calibration, tmp_path_factory.mktemp("plots") / "new")
    return calibration, page.read_text(), picture.read_text()


def test_the_page_loads_nothing(plots):
    _, page, _ = plots
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)
    assert not re.search(r"<img[^>]*src=.http", page)
    assert 'id="vis"' in page


def test_every_chart_is_there(plots):
    calibration, page, picture = plots
    for part in (
        "Cells and the line",
        "Error of the line by cell",
        "What plans of the ladder cost",
    ):
        assert part in page
        assert part in picture
    assert f"derived, {calibration.derived}" in page


def test_a_calibration_without_a_decision_has_two_charts(tmp_path):
    lengths = [Shape(1, t) for t in range(64, 3000, 64)]
    page, _ = write_plots(calibrate(on_a_line(667, lengths), []), tmp_path)
    assert "Error of the line by cell" in page.read_text()
    assert "What plans of" not in page.read_text()


def test_a_refused_measurement_draws_nothing(tmp_path):
    refused = calibrate(on_a_line(667, complete=False), [])
    with pytest.raises(ValueError, match="nothing to draw"):
        write_plots(refused, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_endless_interval_is_drawn(tmp_path):
    refused = calibrate(on_a_line(0, grid=CPU_GRID), [])
    assert refused.refusals
    assert len(write_plots(refused, tmp_path)) == 2


def test_names_from_outside_end_no_script(tmp_path):
    hostile = "</script><script>alert(1)</script>"
    cells = {cell.shape: cell.runs[0] for cell in noisy().cells}
    named = measurement(cells, "test", grid=CPU_GRID, environment={"machine": hostile})
    page, picture = write_plots(calibrate(named, []), tmp_path)
    assert "<script>alert" not in page.read_text()
    assert "<script>alert" not in picture.read_text()
