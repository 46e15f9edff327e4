"""The program that draws diagrams: Vega, Vega-Lite and Vega-Embed as one script.

It comes from the installed vl-convert. Knows no diagram and no page.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

BUNDLE = """
import sys, vl_convert
source = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
sys.stdout.buffer.write(source.encode("utf-8"))
"""


def begin() -> None:
    """Begin to bundle, which takes seconds: with a second processor it is done meanwhile.

    Raises:
        ModuleNotFoundError: vl-convert is missing.
        OSError: no process can be started.
    """
    _bundling()


@cache
def vega_program() -> str:
    """The script. Its promise is to have set `window.vegaEmbed` when it has run.

    Raises:
        ValueError: it could not be bundled; the message is the bundling process's own.
        ModuleNotFoundError, OSError: as `begin` raises them.
    """
    bundling = _bundling()
    source, errors = bundling.communicate()
    if bundling.returncode:
        raise ValueError(f"the diagrams' program could not be bundled: {errors.strip()}")
    return source


@cache
def _bundling() -> subprocess.Popen[str]:
    import vl_convert  # noqa: F401 - that it is missing is better told here than by the process

    # A process, since a thread would not do: vl-convert does not release Python's lock. With -P
    # nothing in the working folder, which may be a stranger's checkout, is taken for a package.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", BUNDLE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
