"""That a rule fired: which, on what, why, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.sessions.plain import plain, read_into


@dataclass(frozen=True, slots=True)
class Fired:
    """``rule`` decided about ``task`` (the number it has in the session; None: about none). ``why``
    says what made it apply and ``did`` what followed; ``revision`` is that of the guidelines where
    they had a say."""

    rule: str
    why: str
    did: str
    task: int | None = None
    revision: int | None = None

    def to_json(self) -> dict[str, Any]:
        return plain(self)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Fired:
        return read_into(cls, raw)()
