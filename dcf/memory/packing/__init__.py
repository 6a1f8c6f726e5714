"""Contexts under hard token budgets: index and details, each item with its reason and its price."""

from __future__ import annotations

from dcf.memory.packing.offer import Budget, Layer, Offer, Pack, Packed
from dcf.memory.packing.packer import pack

__all__ = ["Budget", "Layer", "Offer", "Pack", "Packed", "pack"]
