"""Addresses of commits on the pages of the repository, where somebody gives its address."""

from __future__ import annotations

import re
from urllib.parse import urlsplit


def checked_repository_url(url: str) -> str:
    """The address of a repository's pages, without a slash at its end.

    Raises:
        ValueError: it is no plain https address; a link to it could do anything.
    """
    parts = urlsplit(url)
    plain = (
        parts.scheme == "https"
        and re.fullmatch(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?", parts.netloc)
        and re.fullmatch(r"[A-Za-z0-9._~/-]*", parts.path)
        and url == f"https://{parts.netloc}{parts.path}"
    )
    if not plain:
        raise ValueError(
            f"repository URL {url!r}: only plain https addresses, as in https://example.org/decider"
        )
    return url.rstrip("/")


def commit_address(repository_url: str | None, commit: str) -> str | None:
    """The page of a commit, whose hash has been checked to be one; None without an address."""
    return f"{repository_url}/commit/{commit}" if repository_url else None
