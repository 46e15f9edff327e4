"""Runs the scripts of workflows as a runner does, with a stand-in for `gh`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any


class Runner:
    """Runs a step's script in a folder of its own, with a `gh` that answers from a list.

    Attributes:
        folder: the working folder of the script.
        answers: what `gh` answers: pairs of a regular expression for its arguments, and JSON (to
            which its `--jq` is applied) or a file to copy.
    """

    GH = """#!/usr/bin/env python3
import json, re, shutil, subprocess, sys
from pathlib import Path
here = Path(__file__).parent
arguments = sys.argv[1:]
with open(here / "calls", "a") as calls:
    calls.write(json.dumps(arguments) + "\\n")
for place, argument in enumerate(arguments):
    if argument.startswith("body=@"):
        shutil.copy(argument.removeprefix("body=@"), here / "body")
for pattern, answer in json.loads((here / "answers").read_text()):
    if re.search(pattern, " ".join(arguments)):
        break
else:
    sys.exit(f"gh: not found: {arguments}")
if isinstance(answer, str):
    if "--dir" in arguments:
        shutil.copytree(answer, arguments[arguments.index("--dir") + 1], dirs_exist_ok=True)
    else:
        sys.stdout.buffer.write(Path(answer).read_bytes())
elif "--jq" in arguments:
    program = arguments[arguments.index("--jq") + 1]
    done = subprocess.run(["jq", "-r", program], input=json.dumps(answer), text=True)
    sys.exit(done.returncode)
"""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self._bin = folder / "bin"
        self._bin.mkdir()
        gh = self._bin / "gh"
        gh.write_text(self.GH, encoding="utf-8")
        gh.chmod(0o755)
        self.answers: list[tuple[str, Any]] = []

    def run(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        (self._bin / "answers").write_text(json.dumps(self.answers), encoding="utf-8")
        output = self.folder.parent / "output"
        output.write_text("", encoding="utf-8")
        usual = {
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder.parent),
            "GITHUB_OUTPUT": str(output),
            "REPOSITORY": "owner/decider",
            "GH_TOKEN": "token",
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            env=usual | env,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def output(self) -> dict[str, str]:
        lines = (self.folder.parent / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    @property
    def calls(self) -> list[list[str]]:
        file = self._bin / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def posted(self) -> str:
        return (self._bin / "body").read_text(encoding="utf-8")
