"""Names of files and links of the site: made from strangers' texts, and safe all the same."""

from __future__ import annotations

import hashlib
import re

SLUG_LENGTH = 60
HASH_DIGITS = 10


def page_name(*texts: str) -> str:
    """A file name of a page: readable letters of the texts, and a hash that tells texts apart.

    It holds nothing but a-z, 0-9, `-`, `_` and the dot before `html`, whatever the texts hold, and
    different texts give different names on file systems that ignore case, too.
    """
    slug = re.sub(r"[^a-z0-9_]+", "-", " ".join(texts).lower()).strip("-")[:SLUG_LENGTH]
    return f"{slug or 'page'}-{fingerprint(*texts)}.html"


def fingerprint(*texts: str) -> str:
    """A short hash of the texts, the same in every run."""
    # Lengths keep ("a b", "c") and ("a", "b c") apart; a stranger may use any separator.
    joined = "".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
