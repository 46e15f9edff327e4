"""The parent's end of an arm: answers, and every way in which there is none."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from decider.perf.comparison.arm import ArmError, ProcessArm

ECHO = """
import json, sys
print(json.dumps({"cells": []}), flush=True)
for line in sys.stdin:
    print(json.dumps({"said": json.loads(line)}), flush=True)
"""


@pytest.fixture
def start(tmp_path: Path):
    arms = []

    def started(program: str) -> ProcessArm:
        arm = ProcessArm(["-c", program], tmp_path, tmp_path)
        arms.append(arm)
        return arm

    yield started
    for arm in arms:
        arm.close()


def test_it_answers(start):
    arm = start(ECHO)
    assert arm.hello(20) == {"cells": []}
    assert arm.ask({"do": "x"}, 20) == {"said": {"do": "x"}}


def test_the_folder_of_imports_is_first(start, tmp_path: Path):
    (tmp_path / "chosen.py").write_text("NAME = 'this one'")
    arm = start("import chosen, json; print(json.dumps({'name': chosen.NAME}), flush=True)")
    assert arm.hello(20) == {"name": "this one"}


def test_a_crash_quotes_its_last_words(start):
    arm = start("raise RuntimeError('out of memory')")
    with pytest.raises(ArmError, match="ended with status 1") as caught:
        arm.hello(20)
    assert caught.value.kind == "crash"
    assert "out of memory" in caught.value.message


def test_a_signal_is_named(start):
    arm = start("import os; os.kill(os.getpid(), 11)")
    with pytest.raises(ArmError, match="SIGSEGV"):
        arm.hello(20)


def test_a_crash_while_it_is_asked_is_a_crash(start):
    arm = start("import sys; print('{}', flush=True); sys.stdin.readline(); sys.exit(3)")
    arm.hello(20)
    with pytest.raises(ArmError, match="status 3") as caught:
        arm.ask({"do": "sample"}, 20)
    assert caught.value.kind == "crash"
    with pytest.raises(ArmError, match="status 3"):
        arm.ask({"do": "sample"}, 20)


def test_a_hang_is_a_timeout_and_ends_the_process(start):
    arm = start(
        "import json, os, time; print(json.dumps({'pid': os.getpid()}), flush=True); "
        "time.sleep(600)"
    )
    process = arm.hello(20)["pid"]
    with pytest.raises(ArmError, match=r"no answer within 0\.2 s") as caught:
        arm.ask({"do": "sample"}, 0.2)
    assert caught.value.kind == "timeout"
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_an_error_leaves_it_alive(start):
    arm = start(
        "import sys; print('{}', flush=True)\n"
        'for line in sys.stdin: print(\'{"error": "ValueError: no"}\', flush=True)'
    )
    arm.hello(20)
    for _ in range(2):
        with pytest.raises(ArmError, match="ValueError: no") as caught:
            arm.ask({"do": "sample"}, 20)
        assert caught.value.kind == "error"


@pytest.mark.parametrize("line", ["Loading weights...", "[1, 2]", ""])
def test_what_is_no_answer_is_a_crash(start, line: str):
    arm = start(f"import time; print({line!r}, flush=True); time.sleep(600)")
    with pytest.raises(ArmError, match="no answer but"):
        arm.hello(20)


def test_closing_ends_what_it_started(start):
    arm = start(
        "import json, os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(json.dumps({'child': child.pid}), flush=True)\n"
        "sys.stdin.read()"
    )
    child = arm.hello(20)["child"]
    arm.close()
    for _ in range(100):
        if _is_gone(child):
            break
        time.sleep(0.05)
    assert _is_gone(child)


def _is_gone(process: int) -> bool:
    """Whether it ended; nobody may have waited for it yet."""
    try:
        return "State:\tZ" in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return True
