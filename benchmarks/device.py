"""The state of the GPU while it is measured: clocks, temperature, power and throttling, by NVML.

Optional: without an NVIDIA GPU or without the `nvidia-ml-py` package there is nothing to read, and
the record says why. Loads no torch.
"""

from __future__ import annotations

from typing import Any

THROTTLE_REASONS = {
    0x2: "application clocks",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clocks",
}
"""Bits of `nvmlDeviceGetCurrentClocksEventReasons`; bit 0x1, idle, slows no measurement."""


class DeviceMonitor:
    """Reads one GPU.

    Args:
        uuid: the GPU's identity, `GPU-` and a UUID: indices differ from CUDA's when
            `CUDA_VISIBLE_DEVICES` is set.

    Attributes:
        source: "NVML", or why nothing can be read.
    """

    def __init__(self, uuid: str | None) -> None:
        self._nvml: Any = None
        if uuid is None:
            self.source = "not read: no CUDA device"
            return
        try:
            import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ModuleNotFoundError:
            self.source = "not read: the package nvidia-ml-py is not installed"
            return
        try:
            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        except pynvml.NVMLError as error:
            self.source = f"not read: NVML: {error}"
            return
        self._nvml = pynvml
        self.source = "NVML"

    def read(self) -> dict[str, Any] | None:
        """Clocks in MHz, temperature in degrees Celsius, power in watts and reasons to throttle.

        A value that this GPU does not report is None; the whole is None where nothing can be read.
        """
        if self._nvml is None:
            return None
        nvml = self._nvml
        power = self._value(nvml.nvmlDeviceGetPowerUsage)
        return {
            "sm_mhz": self._value(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM),
            "memory_mhz": self._value(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM),
            "celsius": self._value(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
            "watts": None if power is None else power / 1000,
            "throttle": throttle_reasons(
                self._value(nvml.nvmlDeviceGetCurrentClocksThrottleReasons)
            ),
        }

    def driver(self) -> str | None:
        """The driver's version, where it can be read."""
        return None if self._nvml is None else _text(self._nvml.nvmlSystemGetDriverVersion())

    def close(self) -> None:
        """Let go of NVML; nothing can be read after it."""
        if self._nvml is not None:
            self._nvml.nvmlShutdown()
            self._nvml = None

    def _value(self, read: Any, *arguments: Any) -> int | None:
        try:
            return int(read(self._handle, *arguments))
        except self._nvml.NVMLError:
            return None


def throttle_reasons(bits: int | None) -> list[str]:
    """The names of the set bits, without that of an idle GPU; a bit without a name as a number."""
    if bits is None:
        return []
    busy = bits & ~0x1
    return [
        THROTTLE_REASONS.get(1 << place, hex(1 << place))
        for place in range(busy.bit_length())
        if busy >> place & 1
    ]


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
