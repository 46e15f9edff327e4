"""The data in a diagram's specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def datasets(specification: Any) -> Iterator[list[dict[str, Any]]]:
    """Every list of records in it, wherever Vega-Lite keeps it."""
    if isinstance(specification, Mapping):
        for name, node in specification.items():
            if isinstance(node, list) and node and isinstance(node[0], Mapping) and name != "layer":
                yield node
            else:
                yield from datasets(node)
    elif isinstance(specification, list):
        for node in specification:
            yield from datasets(node)
