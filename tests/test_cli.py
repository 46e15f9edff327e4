"""The command: it lists what it has without loading it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from decider.cli import ENTRIES, main
from decider.version import __version__


def test_help_lists_every_command():
    output = CliRunner().invoke(main, ["--help"]).output
    for name, entry in ENTRIES.items():
        assert f"{name} " in output
        assert entry.summary.split()[0] in output


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_every_command_has_help(name):
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage" in result.output


def test_an_unknown_command_is_an_error():
    result = CliRunner().invoke(main, ["plot"])
    assert result.exit_code == 2
    assert "plot" in result.output


def test_the_version_is_the_packages():
    assert __version__ in CliRunner().invoke(main, ["--version"]).output


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in ENTRIES)])
def test_help_never_loads_torch(arguments):
    code = (
        "import sys\nfrom decider.cli import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        "sys.exit(any(m in sys.modules for m in ('torch', 'transformers')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
