"""The OpenAPI description: what FastAPI says of the routes, with the bodies and the limits added.

The routes read their bodies themselves, and the limits belong to one model and one server, so
neither is in the routes' types. This file knows no batcher.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from decider.serve.messages import DecideRequest, ScoreRequest

REQUESTS: dict[str, type[BaseModel]] = {"/v1/score": ScoreRequest, "/v1/decide": DecideRequest}
REFERENCE = "#/components/schemas/{model}"


def description(app: FastAPI, limits: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """The OpenAPI document.

    Args:
        app: its routes are described.
        limits: JSON Schema keywords to add, by (model, field); a field `a/items` means the items of
            field `a`.
    """
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    modes = [(model, "validation") for model in REQUESTS.values()]
    _, schemas = models_json_schema(modes, ref_template=REFERENCE)  # type: ignore[arg-type]
    document["components"]["schemas"].update(schemas["$defs"])
    for path, model in REQUESTS.items():
        body = {"schema": {"$ref": REFERENCE.format(model=model.__name__)}}
        document["paths"][path]["post"]["requestBody"] = {
            "required": True,
            "content": {"application/json": body},
        }
    for (name, field), keywords in limits.items():
        property_ = document["components"]["schemas"][name]["properties"]
        for step in field.split("/"):
            property_ = property_[step]
        property_.update(keywords)
    return document


def model_limits(
    *, vocabulary: int, options: int, slots: int, rows: int, row_tokens: int
) -> dict[tuple[str, str], dict[str, Any]]:
    """The limits of a model and its server as `description` takes them."""
    return {
        ("ScoreRequest", "rows"): {"maxItems": rows},
        ("RowMessage", "tokens"): {"maxItems": row_tokens},
        ("RowMessage", "tokens/items"): {"maximum": vocabulary - 1},
        ("RowMessage", "slots"): {"maxItems": slots},
        ("SlotMessage", "position"): {"maximum": row_tokens - 1},
        ("SlotMessage", "options"): {"maximum": options},
        ("DecideRequest", "questions"): {"maxItems": slots},
        ("Choice", "options"): {"maxItems": options},
        ("Scale", "levels"): {"maximum": options},
    }
