from __future__ import annotations

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from decider.commands.serve import serve
from decider.serve.settings import table


def test_help_has_the_whole_table_of_defaults() -> None:
    result = CliRunner().invoke(serve, ["--help"], terminal_width=1_000)
    assert result.exit_code == 0
    text = re.sub(r"\s+", " ", result.output)
    for line in table():
        assert f"{line.flag} " in text
        assert f"{line.meaning} [{line.variable}; default: {line.default}]" in text


def test_help_loads_neither_torch_nor_the_web_framework() -> None:
    heavy = ("torch", "transformers", "fastapi", "starlette", "uvicorn", "scipy")
    program = (
        "import sys; from decider.commands.serve import serve\n"
        "serve(['--help'], standalone_mode=False)\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        (["--max-batch", "x"], {}, "DECIDER_MAX_BATCH='x'"),
        ([], {"DECIDER_MAX_BATCH": "x"}, "DECIDER_MAX_BATCH='x'"),
        ([], {"DECIDER_MAX_BACH": "8"}, "did you mean DECIDER_MAX_BATCH"),
        (["--port", "0", "--device", "quantum"], {}, "DECIDER_DEVICE='quantum'"),
        (["--port", "0", "--device", "cpu", "--model", "huge"], {}, "DECIDER_MODEL='huge'"),
        (["--port", "0", "--device", "cpu", "--cost", "none.json"], {}, "DECIDER_COST='none.json'"),
        (["--host", "192.0.2.1"], {}, "DECIDER_HOST='192.0.2.1'"),
    ],
)
def test_a_start_that_must_fail_names_the_variable(
    arguments: list[str], environment: dict[str, str], sentence: str
) -> None:
    result = CliRunner().invoke(serve, arguments, env=environment)
    assert result.exit_code == 2
    assert sentence in result.output
