"""What can go wrong with blocks."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from dcf.memory.errors import MemoryProblem


class UnknownBlock(MemoryProblem):
    """Agent {agent} has no block {label!r}.{near}"""

    code = "memory_unknown_block"
    hint = "`dcf memory show` lists its blocks"

    def __init__(self, agent: str, label: str, labels: Sequence[str] = ()) -> None:
        """``agent`` is its name or id, ``labels`` are those of all its blocks."""
        self.closest = tuple(get_close_matches(label, labels, n=3))
        meant = f" Did you mean {' or '.join(self.closest)}?" if self.closest else ""
        has = f" It has: {', '.join(labels)}." if labels else ""
        super().__init__(agent=agent, label=label, near=meant + has)


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


class BlockOfProject(MemoryProblem):
    """Block {label!r} is a project's: {paths}."""

    code = "memory_block_of_project"
    hint = "take it from the project instead, or let the agent leave the project"


class BlockShared(MemoryProblem):
    """Block {label!r} cannot be deleted: others hold it ({count}: {agents})."""

    code = "memory_block_shared"
    hint = "detach it instead, or detach it from the others first"
