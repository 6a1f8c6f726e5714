"""The words and signs of a condition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dcf.sop.language.phrase import Unreadable

TokenKind = Literal["name", "text", "number", "sign", "mark", "word"]
_TOKEN = re.compile(
    r"""(?P<name>`[^`]*`)
      |(?P<text>"(?:[^"\\]|\\.)*"|“[^”]*”)
      |(?P<number>[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.:%/-]))
      |(?P<sign><=|>=|==|!=|≤|≥|≠|<|>|=)
      |(?P<mark>[()\[\],])
      |(?P<word>[^\s()\[\],<>=!≤≥≠"“`]+)""",
    re.VERBOSE,
)
_MOST = 500


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str


def tokens_of(text: str) -> list[Token]:
    """Raises ``Unreadable`` for an open quote, a stray character, a condition without end."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            quote = text[at] in '`"“'
            said = "a quote is not closed" if quote else f"{text[at]!r} has no meaning here"
            raise Unreadable(
                "SOP_CONDITION", f"in {text!r}, {said}", 'names stand in `…`, texts in "…"'
            )
        kind: TokenKind = match.lastgroup  # type: ignore[assignment]  # names of the groups
        found.append(Token(kind, match[0]))
        at = match.end()
        if len(found) > _MOST:
            raise Unreadable(
                "SOP_CONDITION", f"the condition has over {_MOST} words", "split it into steps"
            )
    return found
