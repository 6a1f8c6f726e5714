"""One finding of ``dcf doctor`` or of the examination of a server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """``ok`` tells whether ``name`` is as it should be; ``hint`` says what to do if it is not.

    ``required`` is False where DCF works without it, only less well.
    """

    name: str
    ok: bool
    found: str
    hint: str = ""
    required: bool = True
