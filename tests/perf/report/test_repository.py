"""Links to a repository lead where its maintainers said, and nowhere else."""

from __future__ import annotations

import pytest

from decider.perf.report.repository import checked_repository_url, commit_address


@pytest.mark.parametrize("url", ["https://example.org/a/decider", "https://example.org:8443/a/"])
def test_a_plain_https_address_is_taken(url: str) -> None:
    assert checked_repository_url(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://example.org/decider",
        "javascript:alert(1)",
        "https://",
        "https:///decider",
        "https://name:word@example.org/decider",
        "https://example.org/decider?x=1",
        "https://example.org/decider#x",
        "https://example.org/a b",
        "https://example.org/\n",
        'https://example.org/"onload=',
        "//example.org/decider",
        "https://[",
    ],
)
def test_any_other_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL|[iI]nvalid"):
        checked_repository_url(url)


def test_a_commit_has_a_page_where_the_repository_has_an_address() -> None:
    address = commit_address("https://example.org/decider", "1a2b3c4")
    assert address == "https://example.org/decider/commit/1a2b3c4"
    assert commit_address(None, "1a2b3c4") is None
