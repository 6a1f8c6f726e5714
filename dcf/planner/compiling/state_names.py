"""Names of states, made of the titles of steps: short, and each once in the whole machine."""

from __future__ import annotations

import re

_LONGEST = 40
_CLAUSE = re.compile(r"[,;:.!?()–—]|\s-\s")
_LEADING_ON = re.compile(
    r"an?|and|as|at|be|before|but|by|for|from|her|his|if|in|into|is|its?|of|on|or|our|out|over|that"
    r"|the|their|then|this|to|until|what|which|who|whose|with|without",
    re.IGNORECASE,
)
"""Words that a name is not cut behind: more would have to follow."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


class StateNames:
    """Hands out names. The same titles in the same order get the same names."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, title: str, otherwise: str = "Step") -> str:
        """A free name for ``title``: ``Charge the card`` is ``ChargeTheCard``."""
        return self._free(state_name(title) or otherwise)

    def take_outcome(self, name: str) -> str:
        """A free name for what looks at the result of the state ``name``."""
        return self._free(f"{name}Outcome")

    def _free(self, name: str) -> str:
        free, number = name, 2
        while free in self._taken:
            free = f"{name}{number}"
            number += 1
        self._taken.add(free)
        return free


def state_name(title: str) -> str:
    """``title`` without anything that is no letter or digit, in capitalised words."""
    words = _words(title)
    if len("".join(words)) > _LONGEST:
        first = _words(_CLAUSE.split(title, maxsplit=1)[0])
        words = first if len(first) > 1 else words
    kept = list(words)
    while len("".join(kept)) > _LONGEST:
        kept.pop()
    if len(kept) < len(words):
        while len(kept) > 1 and _LEADING_ON.fullmatch(kept[-1]):
            kept.pop()
    name = "".join(word[:1].upper() + word[1:] for word in kept)
    return name or "".join(words)[:_LONGEST]


def _words(title: str) -> list[str]:
    words = [word.replace("'", "") for word in _WORD.findall(title.replace("`", ""))]
    # Wait `delivery_seconds` seconds
    return [
        word for at, word in enumerate(words) if not at or word.lower() != words[at - 1].lower()
    ]
