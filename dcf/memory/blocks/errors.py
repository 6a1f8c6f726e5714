"""What can go wrong with blocks."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.errors import MemoryProblem


class UnknownBlock(MemoryProblem):
    """Agent {agent_id} has no block {label!r}.{near}"""

    code = "memory_unknown_block"
    hint = "`dcf memory show` lists its blocks"

    def __init__(self, agent_id: str, label: str, closest: Sequence[str] = ()) -> None:
        self.closest = tuple(closest)
        near = f" It has: {', '.join(closest)}." if closest else ""
        super().__init__(agent_id=agent_id, label=label, near=near)


class NoSuchBlock(MemoryProblem):
    """There is no block {block_id}."""

    code = "memory_no_such_block"
    hint = "it may have been deleted; `dcf memory history` says when and by whom"


class BlockExists(MemoryProblem):
    """Agent {agent_id} has a block {label!r} already."""

    code = "memory_block_exists"
    hint = "write to that block, or give this one another label"


class ReadOnlyBlock(MemoryProblem):
    """Block {label!r} is read-only: {what} is not allowed."""

    code = "memory_read_only"
    hint = "only the part of DCF that keeps this block changes it"


class OverLimit(MemoryProblem):
    """Block {label!r} would have {size:,} bytes; its limit is {limit:,}."""

    code = "memory_over_limit"
    hint = "shorten the text, raise the limit, or move parts of it to the archive"


class TextNotFound(MemoryProblem):
    """Block {label!r} does not have the text {text!r}."""

    code = "memory_text_not_found"
    hint = "read the block; the text must match to the letter"


class TextNotUnique(MemoryProblem):
    """Block {label!r} has the text {text!r} {count} times."""

    code = "memory_text_not_unique"
    hint = "take more of the text around it, so that one place is meant"


class BlockShared(MemoryProblem):
    """Block {label!r} cannot be deleted: others hold it ({count}: {agents})."""

    code = "memory_block_shared"
    hint = "detach it instead, or detach it from the others first"
