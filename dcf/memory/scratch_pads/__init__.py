"""Scratch pads: what is noted during one task."""

from __future__ import annotations

from dcf.memory.scratch_pads.errors import NoScratchPad, PadFull
from dcf.memory.scratch_pads.rows import end_expired, end_task, open_row
from dcf.memory.scratch_pads.scratch_pads import ScratchPads

__all__ = ["NoScratchPad", "PadFull", "ScratchPads", "end_expired", "end_task", "open_row"]
