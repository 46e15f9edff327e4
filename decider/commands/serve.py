"""`decider serve`: the settings as flags, and the server behind them.

Its help comes from the settings' own table and loads neither torch nor the web framework.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from decider.serve.settings import read_settings, table

HELP = """Answer requests over HTTP. With no flags: the tiny model on this machine, on 127.0.0.1.

Every setting is a flag and a variable of the environment; the flag wins. An unreadable value, or a
misspelt variable, stops the start and is named.

\b
Routes: POST /v1/score    rows of token ids, with slots
        POST /v1/decide   a context and typed questions, as text
        GET  /health /metrics /stats /openapi.json

SIGTERM answers what was admitted and then stops. docs/SERVING.md has the batching policy.
"""


def _serve(**flags: Any) -> None:
    try:
        settings = read_settings(**flags)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    from decider.serve.server import serve as run

    try:
        status = run(settings, _say)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    sys.exit(status)


def _say(line: str) -> None:
    click.echo(line, err=True)


def _options() -> list[click.Parameter]:
    options: list[click.Parameter] = []
    for line in table():
        text = f"{line.meaning} [{line.variable}; default: {line.default}]"
        options.append(click.Option([line.flag], metavar="VALUE", help=text))
    return options


serve = click.Command(
    "serve",
    params=_options(),
    callback=_serve,
    help=HELP,
    short_help="Answer requests over HTTP.",
)
