"""How a page of the site becomes text: templates, the script, and the policy that guards it.

Everything that comes from results is a stranger's text: Jinja2 escapes it in the markup, and what
the script reads stands as JSON in which `<` cannot occur. The content security policy lets run one
script, which stands in the page and is named by its hash, and what that script itself adds: the
charts' program, a file of the site. A rule such as `'self'` would not do: a file on disk has no
origin that browsers agree on.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from decider.version import __version__

CHARTS_FILE = "vega.js"


def render_page(template: str, root: str, **values: Any) -> str:
    """The text of a page.

    Args:
        template: file name of the template.
        root: the way from the page to the site's folder: empty, or `../`.
        values: what the template asks for.
    """
    script = _script()
    page = _environment().get_template(template)
    return page.render(
        root=root,
        script=script,
        policy=_policy(script),
        version=__version__,
        charts_file=CHARTS_FILE,
        **values,
    )


def write_page(path: Path, text: str) -> None:
    """Write a page, with a question mark for what JSON can hold and no file can: half a character.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("decider.perf.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _script() -> Markup:
    folder = resources.files("decider.perf.site") / "templates"
    return Markup((folder / "site.js").read_text(encoding="utf-8"))  # noqa: S704 (our own file)


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Vega sets styles of its tooltip; styles cannot fetch anything under the first rule.
    return (
        f"default-src 'none'; script-src 'sha256-{digest}' 'strict-dynamic'; "
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
