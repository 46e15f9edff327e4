"""The `decider` command: which subcommands there are, and where each is found.

A subcommand's module is imported when it is called, so that help and the light commands never wait
for torch or a web framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from decider.version import __version__


class Entry(NamedTuple):
    """Where a subcommand's click command is, and its line in the overview."""

    module: str
    summary: str


ENTRIES = {
    "plan": Entry("decider.commands.plan", "Plan a queue: groups, cost, waste ledger."),
    "serve": Entry("decider.commands.serve", "Answer requests over HTTP."),
    "load": Entry("decider.commands.load", "Put a server under load and time its answers."),
    "calibrate": Entry(
        "decider.commands.calibrate", "Derive the overhead constant from measured forwards."
    ),
    "compare": Entry(
        "decider.commands.compare", "Is a commit slower than another? A verdict on every cell."
    ),
    "history": Entry("decider.commands.history", "Steps and drifts over the measured commits."),
    "report": Entry("decider.commands.report", "One HTML page of what was measured."),
    "site": Entry("decider.commands.site", "Static pages of what was measured over commits."),
}


class _Commands(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = ENTRIES.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(entry.module), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in ENTRIES.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="decider")
def main() -> None:
    """Exact batch plans for bucketed model inference, and the suite that tracks them."""
