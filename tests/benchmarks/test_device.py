"""NVML readings by a stand-in: values, gaps, and why there is nothing to read."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from benchmarks.device import DeviceMonitor, throttle_reasons


class NVMLError(Exception):
    pass


def fake_nvml(**changes: Any) -> ModuleType:
    def of(value: int) -> Any:
        return lambda *_: value

    def clock(_handle: object, kind: int) -> int:
        return {1: 1_755, 2: 2_619}[kind]

    module = ModuleType("pynvml")
    names = {
        "NVMLError": NVMLError,
        "NVML_CLOCK_SM": 1,
        "NVML_CLOCK_MEM": 2,
        "NVML_TEMPERATURE_GPU": 0,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: "580.1",
        "nvmlDeviceGetHandleByUUID": lambda uuid: uuid,
        "nvmlDeviceGetClockInfo": clock,
        "nvmlDeviceGetTemperature": of(61),
        "nvmlDeviceGetPowerUsage": of(512_300),
        "nvmlDeviceGetCurrentClocksThrottleReasons": of(0x5),
    }
    module.__dict__.update(names | changes)
    return module


def fail(*_: object) -> int:
    raise NVMLError("not supported")


def monitor(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> DeviceMonitor:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(**changes))
    return DeviceMonitor("GPU-1")


def test_a_reading_has_units_and_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    found = monitor(monkeypatch)
    assert (found.source, found.driver()) == ("NVML", "580.1")
    assert found.read() == {
        "sm_mhz": 1_755,
        "memory_mhz": 2_619,
        "celsius": 61,
        "watts": 512.3,
        "throttle": ["software power cap"],
    }


def test_what_a_gpu_does_not_report_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found = monitor(monkeypatch, nvmlDeviceGetPowerUsage=fail, nvmlDeviceGetTemperature=fail)
    reading = found.read()
    assert reading is not None
    assert (reading["watts"], reading["celsius"], reading["sm_mhz"]) == (None, None, 1_755)


@pytest.mark.parametrize("name", ["nvmlInit", "nvmlDeviceGetHandleByUUID"])
def test_without_a_driver_it_says_why(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    found = monitor(monkeypatch, **{name: fail})
    assert found.source == "not read: NVML: not supported"
    assert found.read() is None
    assert found.driver() is None


def test_without_the_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    found = DeviceMonitor("GPU-1")
    assert found.source == "not read: the package nvidia-ml-py is not installed"
    assert found.read() is None


def test_without_a_device_nothing_is_read() -> None:
    found = DeviceMonitor(None)
    assert (found.source, found.read()) == ("not read: no CUDA device", None)
    found.close()


def test_nothing_is_read_after_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = monitor(monkeypatch)
    found.close()
    assert found.read() is None


def test_idle_slows_nothing_and_unknown_bits_keep_their_number() -> None:
    assert throttle_reasons(0x1) == []
    assert throttle_reasons(0x40 | 0x1000) == ["hardware thermal slowdown", "0x1000"]
    assert throttle_reasons(None) == []
