"""What the memory gives up, and how much there is."""

from __future__ import annotations

from dcf.memory.retention.collecting import BATCH, collect
from dcf.memory.retention.counting import stats_of

__all__ = ["BATCH", "collect", "stats_of"]
