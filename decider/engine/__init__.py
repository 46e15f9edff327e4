"""Model, backends and readout: rows of tokens in, probabilities out.

Importing this package loads neither torch nor transformers; `open_engine` does.
"""

from decider.engine.capture import CaptureMemoryError, CaptureReport
from decider.engine.engine import Counters, Engine
from decider.engine.opening import open_engine
from decider.engine.rows import Row, Slot

__all__ = [
    "CaptureMemoryError",
    "CaptureReport",
    "Counters",
    "Engine",
    "Row",
    "Slot",
    "open_engine",
]
