"""The document of a comparison: reading, checking and writing it.

The schema beside this file says what each field means. Knows files and JSON; measures and judges
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decider.files import write_text

if TYPE_CHECKING:  # only a check needs it; the command's help reads this module
    import jsonschema_rs

SCHEMA = "decider-comparison"
SCHEMA_VERSION = 1
SELF_TEST_SCHEMA = "decider-self-test"

VERDICTS = ("regressed", "improved", "unchanged", "inconclusive", "not comparable", "failed")

Document = Mapping[str, Any]

MOST = 1e100
"""No measured number is larger; what is computed from larger ones overflows."""


def read_comparison(path: Path) -> dict[str, Any]:
    """The comparison in a file.

    Raises:
        ValueError: it is none, of another schema version, or damaged; the message names the file,
            the place in it and what is wrong there.
        OSError: it cannot be read.
    """
    import orjson

    try:
        document = orjson.loads(path.read_bytes())
    except ValueError as error:  # text that is no UTF-8 and numbers beyond any among them
        raise ValueError(f"{path}: no JSON: {error}") from None
    try:
        check_comparison(document)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply to be meant") from None
    return dict(document)


def check_comparison(document: Any) -> None:
    """See that `document` is a comparison as the schema wants it.

    Raises:
        ValueError: it is not; the message names the place and what is wrong there.
    """
    _check_version(document, SCHEMA)
    _check(document, SCHEMA)


def check_self_test(document: Any) -> None:
    """See that `document` is the record of a self-test; raises as `check_comparison` does."""
    _check_version(document, SELF_TEST_SCHEMA)
    _check(document, SELF_TEST_SCHEMA)


def write_partial(path: Path, document: Document) -> None:
    """Write an unfinished comparison, whole or not at all; it is checked when it is read again.

    Raises:
        OSError: the file cannot be written.
    """
    write_text(path, json.dumps(document, allow_nan=False) + "\n")


def write_document(path: Path, document: Document) -> None:
    """Write a document after checking it, whole or not at all.

    Raises:
        ValueError: it is not as the schema wants it: an error of ours, found before it is written.
        OSError: the file cannot be written.
    """
    check = check_self_test if document.get("schema") == SELF_TEST_SCHEMA else check_comparison
    check(document)
    write_partial(path, document)


def _check_version(document: Any, schema: str) -> None:
    if not isinstance(document, Mapping) or document.get("schema") != schema:
        raise ValueError(f"no document of schema {schema!r}")
    version = document.get("schema_version")
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"{schema} of version {version!r}; this decider reads version {SCHEMA_VERSION}: "
            "make it again, or use the decider that made it"
        )


def _check(document: Any, kind: str) -> None:
    # First: to the validator, what is not finite is null. The pairs are left out: they may hold a
    # million numbers, and what draws them looks at each.
    shown = {name: value for name, value in document.items() if name != "pairs"}
    if (wild := _wild(shown)) is not None:
        raise ValueError(f"{_shown(wild)}: the number there is too large to be meant")
    error = next(_validator(kind).iter_errors(document), None)
    if error is not None:
        place, message = _deepest(error)
        raise ValueError(f"{_shown(place)}: {message[:300]}")


def _wild(node: Any) -> tuple[str | int, ...] | None:
    """The place of a number that cannot be meant; None where there is none."""
    if isinstance(node, dict | list):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for name, inner in items:
            if (place := _wild(inner)) is not None:
                return (name, *place)
        return None
    is_wild = isinstance(node, int | float) and not -MOST < node < MOST
    return () if is_wild else None


def _deepest(error: jsonschema_rs.ValidationError) -> tuple[Sequence[str | int], str]:
    """The place and the words of the most telling of an error's reasons.

    Where none of several schemas fits, it is the reason that lies deepest: the others are that the
    value is of another kind altogether.
    """
    place, message = list(error.instance_path), error.message
    for reasons in getattr(error.kind, "context", ()):
        for reason in reasons:
            inner, words = _deepest(reason)
            if len(inner) > len(place):
                place, message = list(inner), words
    return place, message


def _shown(place: Sequence[str | int]) -> str:
    return "/".join(map(str, place))[:300] or "the document"


@cache
def _validator(kind: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs

    schema = _schema()
    if kind == SELF_TEST_SCHEMA:
        schema = {"$ref": "#/$defs/self_test", "$defs": schema["$defs"]}
    return jsonschema_rs.Draft202012Validator(schema)


def _schema() -> dict[str, Any]:
    text = resources.files("decider.perf.comparison").joinpath("comparison.schema.json")
    loaded: dict[str, Any] = json.loads(text.read_text(encoding="utf-8"))
    return loaded
