"""The description against the app: what it allows is answered, what it forbids is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from decider.engine import Row
from decider.serve.app import create_app
from decider.serve.settings import Settings
from decider.serve.text import ByteTokenizer
from tests.serve.fakes import FakeEngine, answer
from tests.serve.test_app import Answering


class Wholesome(FakeEngine):
    """Fails no row: the app is on trial."""

    def forward(self, rows: Sequence[Row], length: int, batch: int | None = None) -> list[Any]:
        return [[np.array(p) for p in answer(asked)] for asked in rows]


ENGINE = Wholesome()
MAX_ROW_TOKENS = 5_000
SETTINGS = Settings(max_rows=3, max_row_tokens=MAX_ROW_TOKENS)
APP = create_app(SETTINGS, ENGINE, Answering(ENGINE), ByteTokenizer(1_000))

REFUSALS = [400, 405, 408, 413, 415, 422]
CONFIG = schemathesis.Config.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}}
)

schema = schemathesis.openapi.from_asgi("/openapi.json", APP, config=CONFIG)


def put_slots_inside_their_rows(body: Any) -> None:
    """JSON Schema has no words for that."""
    rows = body.get("rows") if isinstance(body, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("tokens"), list) and row["tokens"]:
            for slot in row["slots"] if isinstance(row.get("slots"), list) else []:
                position = slot.get("position") if isinstance(slot, dict) else None
                if type(position) in (int, float) and position in range(MAX_ROW_TOKENS):
                    slot["position"] = position % len(row["tokens"])


@schema.parametrize()
@settings(
    max_examples=60,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_schemathesis_finds_nothing(case: Any) -> None:
    put_slots_inside_their_rows(case.body)
    case.call_and_validate()


def test_the_description_has_the_limits_of_model_and_server() -> None:
    schemas = APP.openapi()["components"]["schemas"]
    row = schemas["RowMessage"]["properties"]
    assert row["tokens"]["maxItems"] == MAX_ROW_TOKENS
    assert row["tokens"]["items"]["maximum"] == ENGINE.vocabulary_size - 1
    assert schemas["SlotMessage"]["properties"]["options"]["maximum"] == ENGINE.max_options
    assert schemas["ScoreRequest"]["properties"]["rows"]["maxItems"] == 3


@pytest.mark.parametrize("path", ["/v1/score", "/v1/decide"])
def test_every_error_a_request_may_get_is_described(path: str) -> None:
    responses = APP.openapi()["paths"][path]["post"]["responses"]
    assert {"200", "400", "408", "413", "415", "422", "500", "503"} <= set(responses)
