"""The blocks that stand in the context of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.blocks.blocks import Blocks
    from dcf.memory.blocks.creation import create_block
    from dcf.memory.blocks.errors import (
        BlockExists,
        BlockOfProject,
        BlockShared,
        NoSuchBlock,
        OverLimit,
        ReadOnlyBlock,
        TextNotFound,
        TextNotUnique,
        UnknownBlock,
    )
    from dcf.memory.blocks.fields import BlockFields, block_of
    from dcf.memory.blocks.finding import block_row, held_row, held_rows, holders_of
    from dcf.memory.blocks.holding import attach, delete_block, release
    from dcf.memory.blocks.labels import Labels, default_blocks, known_block
    from dcf.memory.blocks.writing import change_block, write_block
else:
    export_late(__name__)

__all__ = [
    "BlockExists",
    "BlockFields",
    "BlockOfProject",
    "BlockShared",
    "Blocks",
    "Labels",
    "NoSuchBlock",
    "OverLimit",
    "ReadOnlyBlock",
    "TextNotFound",
    "TextNotUnique",
    "UnknownBlock",
    "attach",
    "block_of",
    "block_row",
    "change_block",
    "create_block",
    "default_blocks",
    "delete_block",
    "held_row",
    "held_rows",
    "holders_of",
    "known_block",
    "release",
    "write_block",
]
