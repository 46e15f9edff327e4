"""The workflows of CI, read for the tests: their files, jobs, steps and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))


def workflow(file: Path) -> dict[str, Any]:
    """What a file says; YAML 1.1 takes its key `on` for a truth value."""
    return {str(key): value for key, value in yaml.safe_load(file.read_text("utf-8")).items()}


JOBS = [(file, name, job) for file in FILES for name, job in workflow(file)["jobs"].items()]
"""File, name and content of every job."""

STEPS = [(file, name, step) for file, name, job in JOBS for step in job["steps"]]
"""File, name of the job and content of every step."""

SCRIPTS = {
    f"{file.stem}-{name}-{step.get('name', 'run')}": step["run"]
    for file, name, step in STEPS
    if "run" in step
}
"""Every script, by where it stands."""


def script(place: str) -> str:
    """The one script whose place, workflow, job and step, begins so."""
    (found,) = [text for name, text in SCRIPTS.items() if name.startswith(place)]
    return str(found)
