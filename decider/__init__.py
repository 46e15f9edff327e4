"""Exact batch plans for bucketed model inference.

Importing this package loads neither torch nor transformers; the engine and the server are imported
by name when they are needed (`decider.engine`, `decider.serve`).
"""

from decider.version import __version__

__all__ = ["__version__"]
