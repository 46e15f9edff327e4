"""A stranger's text in Markdown, so that it is only text.

What GitHub makes of text goes beyond CommonMark: it links addresses, hashes and `#123`, and a
mention calls a person, wherever they stand outside code. So a text stands bare only when it
consists of words and harmless punctuation; everything else stands in a code span.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 120
CUT = "…"
EMPTY = "(empty)"

_BARE = re.compile(r"[A-Za-z0-9+−±.,;%()×·→µ≤≥'’/ -]|: ")
_LINKED = re.compile(r"www\.|\bGH-\d|\b[0-9a-f]{7,}\b", re.IGNORECASE)
_LISTED = re.compile(r"-|\+( |$)|\d{1,9}[.)]( |$)")
"""What begins a list or draws a rule, where it stands first."""

_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:\d{1,5})?(/[A-Za-z0-9._~/?=&%+#-]*)?")


def text(value: str, longest: int = LONGEST) -> str:
    """`value` bare where nothing in it can mean anything, and in a code span otherwise."""
    shown = plain(value, longest)
    harmless = not _BARE.sub("", f"{shown.removesuffix(CUT)} ")
    if harmless and not _LINKED.search(shown) and not _LISTED.match(shown):
        return shown or EMPTY
    return code(value, longest)


def code(value: str, longest: int = LONGEST) -> str:
    """`value` in a code span that it cannot leave, in a table's cell neither.

    Backticks and bars are replaced by characters that look alike: renderers do not agree on how
    to escape them in a cell.
    """
    shown = plain(value, longest).replace("`", "'").replace("|", "¦")
    return f"`{shown}`" if shown else EMPTY


def plain(value: str, longest: int = LONGEST) -> str:
    """`value` as one line that is cut to `longest` characters.

    Control characters, those that change the direction of writing or cannot be seen among them,
    become replacement characters; blanks and line ends become one blank.
    """
    line = re.sub(r"\s+", " ", value[: 10 * longest]).strip()
    shown = line if len(line) <= longest else line[: longest - 1] + CUT
    return "".join("\ufffd" if unicodedata.category(c)[0] == "C" else c for c in shown)


def link(title: str, address: str) -> str:
    """A link of ours to an address that was checked by `check_address`."""
    return f"[{title}](<{address}>)"


def check_address(address: str) -> str:
    """`address`, where it is one that a comment can link to.

    Raises:
        ValueError: it is not; the message says what is.
    """
    if not _ADDRESS.fullmatch(address):
        raise ValueError(
            f"{address!r}: no address to link to; give one that begins with https:// and holds "
            "letters, digits and . _ ~ / ? = & % + # - only"
        )
    return address
