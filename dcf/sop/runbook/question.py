"""What a runbook leaves open."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Question:
    """``text`` is the sentence on ``line`` that it is about, ``asks`` what was not understood,
    ``assumed`` the one of ``answers`` that the draft goes by until somebody answers. Without
    ``answers`` any text is one. ``id`` stays the same when lines move."""

    id: str
    line: int
    text: str
    asks: str
    assumed: str
    answers: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "line": self.line,
            "text": self.text,
            "asks": self.asks,
            "assumed": self.assumed,
            "answers": list(self.answers),
        }


def question_id(path: tuple[str, ...], text: str, asks: str, again: int = 0) -> str:
    """A digest of the headings above a sentence, of the sentence and of what is asked; ``again``
    counts equal ones."""
    told = "\n".join((*path, " ".join(text.split()), asks, str(again)))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
