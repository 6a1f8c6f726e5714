"""How large a block may be, in bytes of UTF-8, and what happens when it is larger."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.memory.audit.entity import Row
from dcf.memory.blocks.errors import OverLimit


@dataclass(frozen=True, slots=True)
class Fitted:
    """A text as it is kept, and what its writer should know."""

    text: str
    warning: str | None = None


def fit(block: Row, text: str) -> Fitted:
    """``text`` under the limits of ``block``. Raises OverLimit if they say so."""
    size = len(text.encode())
    label, soft, hard = block["label"], block["soft_limit"], block["hard_limit"]
    if hard is not None and size > hard:
        if block["on_limit"] == "reject":
            raise OverLimit(label=label, size=size, limit=hard)
        if block["on_limit"] == "truncate":
            kept = cut(text, hard)
            lost = size - len(kept.encode())
            return Fitted(
                kept,
                f"block {label!r} was cut to its limit of {hard:,} bytes: the last {lost:,} bytes"
                f" of {size:,} were not kept",
            )
        return Fitted(text, f"block {label!r} has {size:,} bytes, more than its limit of {hard:,}")
    if soft is not None and size > soft:
        limit = "" if hard is None else f"; its limit is {hard:,}"
        return Fitted(
            text,
            f"block {label!r} has {size:,} bytes, more than the {soft:,} it should have{limit}",
        )
    return Fitted(text)


def cut(text: str, limit: int) -> str:
    """The start of ``text`` that has at most ``limit`` bytes, never a part of a character."""
    return text.encode()[:limit].decode(errors="ignore")
