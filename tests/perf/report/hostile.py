"""A result of a stranger who wants the page to do something."""

from __future__ import annotations

from pathlib import Path

from tests.perf.report.results import COMMIT, OLDER, benchmark, sampled, write_results

ATTACKS = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<!--<script>",
    '"><img src=x onerror="window.hacked = 3">',
    "' onfocus='window.hacked = 4' autofocus='",
    "javascript:window.hacked=5",
    "{{ 6 * 7 }}{% raw %}",
    "`; window.hacked = 8; `",
    "]]><svg onload=window.hacked=9>",
    "\u2028window.hacked=10\u2029",
    "=HYPERLINK(1)\x00\ufffe",
)
EVERYTHING = " ".join(ATTACKS)


def write_hostile_results(folder: Path) -> None:
    """Two results with an attack in each field that comes from outside and is no hash."""
    names = (*ATTACKS, "plans.Plans.track_cost_over_per_bucket", "planner.Planning.time_plan")
    names += ("plans.Plans.track_overhead", "forward.Forward.track_seconds")
    parts = ("length_rounding", "co_batch_padding", "empty_rows")
    names += tuple(f"plans.Plans.track_{part}" for part in parts)
    for age, commit in enumerate((OLDER, COMMIT)):
        content = {
            name: benchmark(
                {"mix": [EVERYTHING], "rows": [8], "cost": ATTACKS, "batch": [1], "length": [64]},
                [sampled(0.5 + age) if name.startswith("pl") else 1.0 + age] * len(ATTACKS),
                EVERYTHING,
                version=EVERYTHING,
            )
            for name in names
        }
        content["footprint." + EVERYTHING] = benchmark({}, None, EVERYTHING)
        content["only " + ATTACKS[age]] = benchmark({EVERYTHING: [1]}, [1.0], "")
        write_results(
            folder,
            machine=EVERYTHING,
            commit=commit,
            committed_ms=1_000_000_000 * (1 + age),
            benchmarks=content,
            gpu=EVERYTHING,
            torch=f"{EVERYTHING} {age}",
            **{EVERYTHING: EVERYTHING + str(age)},
        )
