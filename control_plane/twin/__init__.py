"""The in-process twin of Redis with JSON, for tests and simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from control_plane.twin.defects import UndeclaredKey, Unsupported
    from control_plane.twin.faults import WRITES
    from control_plane.twin.shelf import Shelf
    from control_plane.twin.twin import Snapshot, Twin
else:
    export_late(__name__)

__all__ = ["WRITES", "Shelf", "Snapshot", "Twin", "UndeclaredKey", "Unsupported"]
