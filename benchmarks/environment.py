"""What a result was measured on: machine, packages, commit and settings, as plain JSON values.

Results that differ here are not compared silently. Loads torch only where it is given a device.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
MACHINE_VARIABLE = "DECIDER_MACHINE"
COMMIT_VARIABLE = "DECIDER_COMMIT"


def pin_threads(count: int) -> None:
    """Let numerical libraries loaded from now on start `count` threads and no more."""
    for name in THREAD_VARIABLES:
        os.environ[name] = str(count)


def environment(*, threads: int, allocator: str, seed: int, driver: str | None) -> dict[str, Any]:
    """Everything a result must carry, read from this process.

    Args:
        threads: what the engine was told to use.
        allocator: what `allocator.keep_memory` answered.
        seed: of the inputs and of the order of the cells.
        driver: version of the GPU's driver, if known.
    """
    commit, dirty = commit_of(package_root())
    return {
        "machine": os.environ.get(MACHINE_VARIABLE) or platform.node(),
        "cpu": cpu_name(),
        "gpu": gpu_name(),
        "driver": driver,
        "torch": _version("torch"),
        "transformers": _version("transformers"),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "threads": threads,
        "allocator": allocator,
        "commit": commit,
        "dirty": dirty,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": seed,
    }


def package_root() -> Path:
    """The folder that the `decider` under test is imported from."""
    import decider

    assert decider.__file__ is not None
    return Path(decider.__file__).resolve().parents[1]


def commit_of(folder: Path) -> tuple[str | None, bool | None]:
    """The commit checked out in `folder` and whether tracked files differ from it.

    Without git metadata the commit is what `DECIDER_COMMIT` names, or None, and nobody knows
    whether files differ.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return os.environ.get(COMMIT_VARIABLE) or None, None
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return commit, None if changed is None else bool(changed)


def cpu_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model, as the system names it."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def gpu_name() -> str | None:
    """The first CUDA device's name, where torch is loaded and sees one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    return str(torch.cuda.get_device_name(0))


def gpu_uuid() -> str | None:
    """The first CUDA device's identity as NVML spells it, where torch sees one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    return f"GPU-{torch.cuda.get_device_properties(0).uuid}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
