"""One run of the forward grid: an open probe sampled cell by cell into a grid document.

What asv's `setup_cache`, `python -m benchmarks.forward` and the GPU check share. An interrupted run
can be taken up from its document, in the same environment. Knows no command line and no asv.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.grid_file import differences, grid_document, known_samples
from benchmarks.probes import OpenProbe
from benchmarks.profiles import Profile
from benchmarks.sampling import Clock, Sampler, Timing


class GridRun:
    """The run of a profile's grid on an open probe.

    Args:
        seed: of the order of the cells.
        resumed: the document of an interrupted run, to go on with.
        started: the clock's reading when this process began, for the record of time spent.

    Raises:
        ValueError: `resumed` is damaged, or was measured on something else than this process; the
            message says what differs.
    """

    def __init__(
        self,
        profile: Profile,
        timing: Timing,
        opened: OpenProbe,
        *,
        seed: int,
        resumed: Mapping[str, Any] | None = None,
        started: float | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        self._profile = profile
        self._timing = timing
        self._opened = opened
        self._clock = clock
        self._opened_at = clock()
        self._started = self._opened_at if started is None else started
        self._spent_before = dict(resumed.get("spent_seconds", {})) if resumed else {}
        self._processes = 1 + (resumed.get("processes", 1) if resumed else 0)
        known = known_samples(resumed) if resumed else []
        self.sampler = Sampler(
            opened.probe,
            timing,
            seed=f"{seed}:{self._processes}",  # a resumed run must not repeat the first order
            clock=clock,
            read_device=opened.monitor.read,
            known=known,
        )
        if resumed and (found := differences(resumed, self.document())):
            raise ValueError(
                f"the unfinished run was another one: {'; '.join(found)}; delete it to start anew"
            )

    def sample(
        self,
        *,
        budget_seconds: float = math.inf,
        progress: Callable[[Sampler], None] = lambda _: None,
    ) -> None:
        """Sample every cell that has not stopped; see `Sampler.run`.

        Args:
            budget_seconds: counted from `started`, so that the start-up is within it.
            progress: called after every block.
        """
        left = budget_seconds - (self._clock() - self._started)
        self.sampler.run(budget_seconds=left, progress=progress)

    def document(self) -> dict[str, Any]:
        """What has been measured so far, as `grid_file.grid_document` shapes it."""
        return grid_document(
            self._profile,
            self._timing,
            self._opened.environment,
            self.sampler.samples,
            self._spent(),
            processes=self._processes,
            engine=self._opened.engine,
            capture_seconds=self._opened.capture_seconds,
            graph_bytes=self._opened.graph_bytes,
            device_readings=self._opened.monitor.source,
        )

    def _spent(self) -> dict[str, float]:
        here = {
            "total": self._clock() - self._started,
            "start_up": self._opened_at - self._started,
            "warm_up": self.sampler.warm_up_spent,
        }
        spent = {name: self._spent_before.get(name, 0.0) + s for name, s in here.items()}
        return spent | {"sampling": self.sampler.spent}  # kept with the cells across processes
