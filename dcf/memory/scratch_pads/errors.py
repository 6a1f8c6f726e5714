"""What can go wrong with scratch pads."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class NoScratchPad(MemoryProblem):
    """Agent {agent_id} has no open scratch pad for task {task!r}."""

    code = "memory_no_scratch_pad"
    hint = "a pad is open while its task is worked on, and not longer than its time"


class PadFull(MemoryProblem):
    """The scratch pad of task {task!r} would have {size:,} bytes; it has room for {limit:,}."""

    code = "memory_scratch_pad_full"
    hint = "write it anew and shorter, or put parts of it into the archive"
