"""What stands before an agent when its turn comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.context.assembly import Context, assemble
    from dcf.memory.context.contexts import Contexts
    from dcf.memory.context.errors import ContextTooSmall
    from dcf.memory.context.offers import PlaybookOffer
    from dcf.memory.context.packing import Budget, Layer, Offer, Pack, Packed, pack
    from dcf.memory.context.quotation import quote, uri_of
    from dcf.memory.context.rendering import rendered_blocks
else:
    export_late(__name__)

__all__ = [
    "Budget",
    "Context",
    "ContextTooSmall",
    "Contexts",
    "Layer",
    "Offer",
    "Pack",
    "Packed",
    "PlaybookOffer",
    "assemble",
    "pack",
    "quote",
    "rendered_blocks",
    "uri_of",
]
