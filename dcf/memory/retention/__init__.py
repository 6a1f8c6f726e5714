"""What the memory gives up, and how much there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.retention.collecting import BATCH, collect
    from dcf.memory.retention.counting import stats_of
else:
    export_late(__name__)

__all__ = ["BATCH", "collect", "stats_of"]
