"""Importing the suite loads no torch: asv forks every reading from one server that imported it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import importlib, pkgutil, sys, benchmarks
for module in pkgutil.iter_modules(benchmarks.__path__, "benchmarks."):
    importlib.import_module(module.name)
heavy = [name for name in ("torch", "transformers", "scipy", "decider.perf") if name in sys.modules]
print(heavy)
"""


def test_importing_every_benchmark_loads_no_torch_and_no_result_tools():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
