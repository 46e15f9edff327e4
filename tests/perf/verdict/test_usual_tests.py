"""The usual tests are the textbook's, and alarm in most suites in which nothing changed."""

import numpy as np
import pytest
from scipy import stats

from decider.perf.verdict.simulation import Task
from decider.perf.verdict.usual_tests import mann_whitney, usual_tests_alarm


def test_the_ranks_are_those_of_the_textbook():
    runs = next(Task(suites=2, cells=3, seed=1).batches())
    found = mann_whitney(runs)
    for suite, cell in np.ndindex(2, 3):
        expected = stats.mannwhitneyu(
            runs.base[suite, :20, cell].ravel(),
            runs.head[suite, :20, cell].ravel(),
            method="asymptotic",
            use_continuity=False,
        )
        assert found[suite, cell] == pytest.approx(expected.pvalue)


def test_a_suite_alarms_where_any_cell_does():
    runs = next(Task(suites=25, cells=5, seed=3).batches())
    by_t, by_ranks = usual_tests_alarm(runs)
    t = stats.ttest_1samp(runs.log_ratios[:, :20], 0, axis=1).pvalue < 0.01
    assert by_t == t.any(axis=1).sum()
    assert by_ranks == (mann_whitney(runs) < 0.01).any(axis=1).sum()


def test_they_alarm_in_most_unchanged_suites_of_a_hundred_cells():
    task = Task(suites=50, cells=100, seed=1)
    by_t, by_ranks = np.sum([usual_tests_alarm(runs) for runs in task.batches()], axis=0)
    assert by_t > 20
    assert by_ranks > 40
