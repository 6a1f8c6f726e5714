"""Contexts under hard token budgets: index and details, each item with its reason and its price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.packing.offer import Budget, Layer, Offer, Pack, Packed
    from dcf.memory.packing.packer import pack
else:
    export_late(__name__)

__all__ = ["Budget", "Layer", "Offer", "Pack", "Packed", "pack"]
