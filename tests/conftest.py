"""What every test shares: hypothesis without a deadline, since no test may be timed.

`HYPOTHESIS_PROFILE=thorough` tries a hundred times as many examples.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("decider", deadline=None, print_blob=True)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "decider"))
