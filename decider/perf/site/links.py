"""Where the pages of the site are, for the templates of other pages."""

from __future__ import annotations

from collections.abc import Iterable

from decider.perf.report.quantities import quantity
from decider.perf.report.repository import commit_address
from decider.perf.site.benchmark_page import benchmark_address, cell_anchor
from decider.perf.site.changes import CellChange

COMMITS = "commits"


class Links:
    """Addresses from the site's folder.

    Attributes:
        known: hashes of the commits that have a page.
        repository_url: address of the repository's pages; None for no links to it.
    """

    def __init__(self, commits: Iterable[str], repository_url: str | None = None) -> None:
        self.known = frozenset(commits)
        self.repository_url = repository_url

    def commit(self, commit: str) -> str:
        """The page of a commit; its hash has been checked to be one when its result was read."""
        return f"{COMMITS}/{commit}.html"

    def benchmark(self, machine: str, name: str) -> str:
        """The page of a benchmark on a machine."""
        return benchmark_address(machine, name)

    def cell(self, change: CellChange) -> str:
        """The cell of a change, on the page of its benchmark."""
        page = benchmark_address(change.machine, change.benchmark)
        return f"{page}#{cell_anchor(change.label)}"

    def in_repository(self, commit: str) -> str | None:
        """The commit's page in the repository; None without an address of that."""
        return commit_address(self.repository_url, commit)

    def quantity(self, value: float, unit: str) -> str:
        """A value for people."""
        return quantity(value, unit)
