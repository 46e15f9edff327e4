"""Every `DECIDER_*` variable of the server, its default and its meaning, in one place.

The table that `decider serve --help` prints and docs/SERVING.md holds is made from it. This file
opens nothing: it knows no engine, no costs and no server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from decider.batching import DEFAULT_MERGE_OVERHEAD_TOKENS
from decider.grid import (
    BATCH_VARIABLE,
    BUDGET_VARIABLE,
    CPU_GRID,
    LENGTH_VARIABLE,
    BucketGrid,
)

PREFIX = "DECIDER_"

CPU_MERGE_OVERHEAD_TOKENS = 128
"""The overhead, in token-units, that the CPU default plans with: a round number from the flat part
of what `decider calibrate` says constants cost on a CPU; docs/SERVING.md has the figures."""


class SettingLine(NamedTuple):
    """One line of the table: the variable, its flag, its default in words and its meaning."""

    variable: str
    flag: str
    default: str
    meaning: str


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
Count = Annotated[int, Field(ge=1)]
Milliseconds = Annotated[float, Field(ge=0, le=60_000, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


def _setting(default: Any, meaning: str, *, shown: str | None = None) -> Any:
    return Field(default, description=meaning, json_schema_extra={"shown": shown})


class Settings(BaseSettings):
    """The server's settings: from arguments, else from the environment, else the default.

    Use `read_settings`, whose errors name the variable.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    host: Text = _setting("127.0.0.1", "Address to listen on; 0.0.0.0 for every interface.")
    port: int = Field(8000, ge=0, le=65_535, description="Port to listen on; 0 for any free one.")
    model: Text = _setting("tiny", "A preset (tiny, 2b) or a checkpoint folder.")
    device: Text = _setting("auto", "cpu, cuda, cuda:N, or auto: CUDA where there is one.")
    threads: Count | None = _setting(
        None, "Threads of torch.", shown="1 on the CPU, torch's own on CUDA"
    )
    cost: Text = _setting(
        "ladder", "What plans are priced with: linear, ladder, or the path of a measured table."
    )
    merge_overhead_tokens: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = _setting(
        None,
        "Fixed cost of a forward, in token-units, of the linear and the ladder cost.",
        shown=f"{DEFAULT_MERGE_OVERHEAD_TOKENS}; {CPU_MERGE_OVERHEAD_TOKENS} on the CPU",
    )
    max_batch: Count = _setting(32, "Most rows in one forward.")
    batch_wait_ms: Milliseconds = _setting(
        0, "How long a row may wait for company before it runs, in milliseconds."
    )
    batch_adaptive_wait_ms: Milliseconds = _setting(
        2, "The same while requests come together, in milliseconds."
    )
    max_rows: Count = _setting(1_024, "Most rows in one request.")
    max_row_tokens: Count = _setting(8_192, "Most tokens in one row.")
    max_request_tokens: Count = _setting(262_144, "Most tokens in one request.")
    max_queue_rows: Count = _setting(4_096, "Most rows that wait; beyond, requests get a 503.")
    max_open_requests: Count = _setting(
        8_192, "Most requests that are read or answered at once; beyond, they get a 503."
    )
    max_body_bytes: Count = _setting(8_388_608, "Most bytes in the body of a request.")
    header_timeout_s: Seconds = _setting(10, "How long a request's headers may take, in seconds.")
    body_timeout_s: Seconds = _setting(30, "How long a request's body may take, in seconds.")
    forward_timeout_s: Seconds = _setting(
        120, "A forward that takes longer has killed the engine, in seconds."
    )
    shutdown_timeout_s: Seconds = _setting(
        60, "How long answering what was admitted may take after a SIGTERM, in seconds."
    )
    t_buckets: Text | None = _setting(
        None,
        "Length buckets to capture, rising.",
        shown="64 to 8192 in 17 steps; up to 1024 on the CPU",
    )
    b_buckets: Text | None = _setting(
        None, "Batch buckets to capture, rising.", shown=" ".join(map(str, CPU_GRID.batch_buckets))
    )
    graph_token_budget: Count | None = _setting(
        None,
        "Most padded tokens of a captured shape with more than one row.",
        shown=f"{BucketGrid().token_budget}; {CPU_GRID.token_budget} on the CPU",
    )

    @model_validator(mode="after")
    def _limits_agree(self) -> Self:
        self._at_most("max_rows", "max_queue_rows", "a full request would never find room")
        self._at_most("max_row_tokens", "max_request_tokens", "a full row would never be taken")
        self.grid(BucketGrid())
        return self

    def _at_most(self, low: str, high: str, why: str) -> None:
        value, limit = getattr(self, low), getattr(self, high)
        if value > limit:
            raise ValueError(f"{variable(low)}={value} is above {variable(high)}={limit}: {why}")

    def grid(self, default: BucketGrid) -> BucketGrid:
        """The grid to capture: `default` with the ladders and the budget that are set.

        Raises:
            ValueError: the grid refuses a value; the message names the variable.
        """
        return BucketGrid.from_env(
            {
                LENGTH_VARIABLE: self.t_buckets or _listed(default.length_buckets),
                BATCH_VARIABLE: self.b_buckets or _listed(default.batch_buckets),
                BUDGET_VARIABLE: str(self.graph_token_budget or default.token_budget),
            }
        )


def read_settings(**given: Any) -> Settings:
    """The settings from the arguments, and from the environment where an argument is None.

    Raises:
        ValueError: a value is unreadable or refused, or a variable is a known one misspelt. Each
            line of the message names a variable, its value and what is wrong.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if problems := _misspelt(os.environ):
        raise ValueError("\n".join(problems))
    try:
        return Settings(**given)
    except ValidationError as error:
        raise ValueError("\n".join(_sentence(problem) for problem in error.errors())) from None


def variable(field: str) -> str:
    """The environment variable of a field of `Settings`."""
    return PREFIX + field.upper()


def table() -> list[SettingLine]:
    """Every setting, in the order of the class."""
    lines = []
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        shown = extra.get("shown") if isinstance(extra, dict) else None
        default = str(field.default) if shown is None else str(shown)
        flag = "--" + name.replace("_", "-")
        lines.append(SettingLine(variable(name), flag, default, field.description or ""))
    return lines


def markdown_table() -> str:
    """The table as it stands in docs/SERVING.md."""
    lines = ["| variable | flag | default | meaning |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{line.variable}` | `{line.flag}` | {line.default} | {line.meaning} |"
        for line in table()
    ]
    return "\n".join(lines)


def _listed(values: tuple[int, ...]) -> str:
    return " ".join(map(str, values))


def _misspelt(environ: Mapping[str, str]) -> list[str]:
    """Variables that look like one of ours; what looks like none may belong to another part."""
    known = [line.variable for line in table()]
    problems = []
    for name in sorted(environ):
        near = get_close_matches(name, known, n=1, cutoff=0.85)
        if name.startswith(PREFIX) and name not in known and near:
            problems.append(f"{name}: no such variable; did you mean {near[0]}?")
    return problems


def _sentence(problem: Any) -> str:
    message = problem["msg"].removeprefix("Value error, ")
    if not problem["loc"]:
        return str(message)
    name = str(problem["loc"][0])
    if problem["type"] == "extra_forbidden":
        return f"no such setting: {name}"
    return f"{variable(name)}={problem['input']!r}: {message[0].lower()}{message[1:]}"
