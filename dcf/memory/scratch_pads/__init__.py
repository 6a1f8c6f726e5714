"""Scratch pads: what is noted during one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.scratch_pads.errors import NoScratchPad, PadFull
    from dcf.memory.scratch_pads.rows import end_expired, end_task, open_row
    from dcf.memory.scratch_pads.scratch_pads import ScratchPads
else:
    export_late(__name__)

__all__ = ["NoScratchPad", "PadFull", "ScratchPads", "end_expired", "end_task", "open_row"]
