"""Who read what from which node, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.access.access_log import AccessLog
    from dcf.memory.access.reading import LOST_READS, Reading
else:
    export_late(__name__)

__all__ = ["LOST_READS", "AccessLog", "Reading"]
