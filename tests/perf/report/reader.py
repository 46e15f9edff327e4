"""What a browser would make of a page, without one."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, and the texts of its scripts."""

    def __init__(self, page: Path | str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.headings: list[str] = []
        self._in_heading = False
        self._in_script = self._in_style = False
        self.feed(page if isinstance(page, str) else page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append("")
            self._in_heading = True
        self._in_script, self._in_style = tag == "script", tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"
        self._in_style = self._in_style and tag != "style"
        self._in_heading = self._in_heading and not re.fullmatch("h[1-6]", tag)

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        elif not self._in_style:
            self.text += data
            if self._in_heading:
                self.headings[-1] += data
