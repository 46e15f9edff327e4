"""A checkpoint folder loads as it was saved, or says which file is wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from decider.engine import Engine, open_engine
from decider.engine.checkpoint import load_checkpoint
from decider.engine.engine import FLOAT32_TOLERANCE
from decider.engine.model import build_preset
from tests.engine.conftest import REAL_GRID
from tests.engine.test_eager import distance, real_row


@pytest.fixture(scope="session")
def saved(tiny_model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints") / "tiny"
    tiny_model.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return Path(shutil.copytree(saved, tmp_path / "broken"))


def test_a_saved_model_answers_alike_when_opened_from_its_folder(
    saved: Path, tiny: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [real_row(9), real_row(70)]
    expected = tiny.score(rows)
    monkeypatch.undo()
    with open_engine(saved, grid=REAL_GRID, device="cpu") as engine:
        assert engine.model_name == str(saved)
        assert engine.describe()["seed"] is None
        assert engine.max_options == tiny.max_options
        for found, wanted in zip(engine.score(rows), expected, strict=True):
            assert distance(found, wanted) <= FLOAT32_TOLERANCE  # memory may be aligned otherwise


def test_a_checkpoint_rounds_to_the_asked_dtype_as_a_preset_does(saved: Path) -> None:
    loaded, built = (
        load_checkpoint(saved, dtype="bfloat16"),
        build_preset("tiny", dtype="bfloat16", seed=3),
    )
    assert {weight.dtype for weight in built.parameters()} == {torch.bfloat16}
    for left, right in zip(loaded.parameters(), built.parameters(), strict=True):
        assert torch.equal(left, right)
    for model in (loaded, built):  # angles of far positions need all their bits
        assert {buffer.dtype for buffer in model.buffers()} == {torch.float32}


def test_a_model_saved_in_shards_loads(tiny_model: Any, tmp_path: Path) -> None:
    tiny_model.save_pretrained(tmp_path / "shards", max_shard_size="500KB")
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1
    loaded = load_checkpoint(tmp_path / "shards").state_dict()
    assert all(torch.equal(loaded[n], w) for n, w in tiny_model.state_dict().items())

    next((tmp_path / "shards").glob("*-00002-*")).unlink()
    with pytest.raises(ValueError, match=r"00002.*: missing; write the folder again"):
        load_checkpoint(tmp_path / "shards")


def test_saving_never_overwrites_and_leaves_nothing_half_written(
    tiny_model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").touch()
    with pytest.raises(ValueError, match="not an empty folder"):
        tiny_model.save_pretrained(tmp_path / "full")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("transformers.modeling_utils.safe_save_file", fail)
    with pytest.raises(OSError, match="disk full"):
        tiny_model.save_pretrained(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def rewrite_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def rewrite_weights(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def cut(path: Path, keep: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep)])


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda f: (f / "config.json").unlink(), "config.json: missing"),
    "cut config": (lambda f: cut(f / "config.json", 0.5), "config.json: unreadable"),
    "config no object": (
        lambda f: (f / "config.json").write_text("[]"),
        "config.json: holds list",
    ),
    "other model": (
        lambda f: rewrite_config(f, model_type="bert"),
        "config.json: model type 'bert' is not 'decider'",
    ),
    "config of bad type": (
        lambda f: rewrite_config(f, hidden_size="wide"),
        "config.json: (refused|no model has this configuration)",
    ),
    "impossible config": (
        lambda f: rewrite_config(f, max_options=1),
        "config.json: no model has this configuration: max_options",
    ),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "model.safetensors: missing"),
    "cut weights": (
        lambda f: cut(f / "model.safetensors", 0.9),
        "model.safetensors: cut short or no safetensors file",
    ),
    "empty weights": (
        lambda f: cut(f / "model.safetensors", 0),
        "model.safetensors: cut short or no safetensors file",
    ),
    "weight missing": (
        lambda f: rewrite_weights(f, lambda w: w.pop("readout.weight")),
        r"model.safetensors: no weight 'readout.weight' \(1 missing in all\)",
    ),
    "weight too many": (
        lambda f: rewrite_weights(f, lambda w: w.update(extra=torch.zeros(2))),
        "model.safetensors: weight 'extra' belongs to no layer",
    ),
    "weight mismatched": (
        lambda f: rewrite_config(f, max_options=9),
        r"model.safetensors: weight 'readout.weight' has shape \(32, 64\); config.json asks for "
        r"\(9, 64\)",
    ),
    "index without map": (
        lambda f: (
            (f / "model.safetensors").rename(f / "gone")
            and (f / "model.safetensors.index.json").write_text("{}")
        ),
        "model.safetensors.index.json: no weight_map",
    ),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_broken_folder_is_one_error_about_one_file(folder: Path, fault: str) -> None:
    breaking, message = FAULTS[fault]
    breaking(folder)
    with pytest.raises(ValueError, match=message) as caught:
        open_engine(folder, device="cpu")
    assert str(folder) in str(caught.value)
    assert "write the folder again with DecisionModel.save_pretrained" in str(caught.value)
