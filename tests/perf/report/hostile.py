"""Results and comparisons of a stranger who wants the page or the comment to do something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.perf.report import comparisons
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

MARKDOWN_ATTACKS = (
    "[x](https://evil.invalid)",
    "![x](https://evil.invalid/x.png)",
    "<https://evil.invalid> https://evil.invalid www.evil.invalid evil.invalid/a//b",
    "@octocat and @octo/team, mail@evil.invalid",
    "#123 octo/repo#1 GH-12 " + COMMIT + " deadbeef octo@deadbeef",
    "a | b \\| c \\\\| d",
    "`tick ``two ```three",
    "\n```\nfence\n```\n~~~\n",
    "</details><details open><summary>x</summary><img src=x onerror=alert(1)><!-- x",
    "\u202edesrever\u202c \u2066isolated\u2069 \u200b\u200d\ufeff\u00ad",
    "line\n# heading\r\n- list\n\n    code\n> quote\n| a |\n| --- |\n[x]: https://evil.invalid",
    "&lt;b&gt; &#64;octocat &commat;octocat",
    "**bold** __bold__ ~~struck~~ $`x`$ $$y$$ :tada: [^1] \\",
    "\x00\x07\x1b[31mred\x1b[0m",
    "1. one",
    "- dash",
    "+ plus",
    "   ",
    "\U0001f1e9" * 300,
)


def hostile_comparison(attack: str) -> dict[str, Any]:
    """A comparison with `attack` in every field that is free text."""
    text = attack[:2000]
    cells = [
        comparisons.cell("forward/8x256", "regressed", 0.05, id=text),
        comparisons.cell("forward/8x512", "regressed", 0.05, parameters={"batch": 8, "length": 64}),
        comparisons.cell(
            "plan/short/8/ladder",
            "improved",
            -0.05,
            parameters={"mix": text, "rows": text, "cost": text},
        ),
        comparisons.cell("control", "failed", benchmark=text, parameters={text: text}, reason=text),
        comparisons.cell(
            "forward/1x64",
            "not comparable",
            parameters={"batch": text, "length": text},
            reason=text,
        ),
    ]
    document = comparisons.comparison(cells)
    for field in ("made", "version", "command", "machine", "profile", "void"):
        document[field] = text
    for side in ("base", "head"):
        document[side] |= {"name": text, "subject": text, "date": text}
        document[side]["environment"] = {text: text, "cpu": text}
        document["cost_model"]["notes"] = [text]
    document["differs"] = [{"name": text, "base": text, "head": [text, {text: text}]}] * 6
    document["outcome"]["sentence"] = text
    document["summaries"][0] |= {"benchmark": text, "weights": text, "worst": text}
    document["exact"]["notes"] = [text]
    document["exact"]["changes"][0] |= {"figure": text, "queue": text}
    document["exact"]["totals"][0] |= {"figure": text, "group": text}
    for field in ("made", "machine", "profile", "command"):
        document["self_test"][field] = text
    document["self_test"]["smallest_visible"] = {text: 0.1}
    document["pairs"][0]["samples"][text] = document["pairs"][0]["samples"]["forward/8x512"]
    document["pairs"][0]["failures"] = [
        {"arm": "head", "cell": cell, "kind": "error", "message": text} for cell in (text, None)
    ]
    comparisons.check_comparison(document)
    return document


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
