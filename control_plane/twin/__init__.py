"""The in-process twin of Redis with JSON, for tests and simulation."""

from control_plane.twin.defects import UndeclaredKey, Unsupported
from control_plane.twin.twin import Snapshot, Twin

__all__ = ["Snapshot", "Twin", "UndeclaredKey", "Unsupported"]
