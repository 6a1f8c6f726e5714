"""Names of states, made of the titles of steps: short, and each once in the whole machine."""

from __future__ import annotations

import re

_LONGEST = 40
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
    name, last = "", ""
    for word in _WORD.findall(title.replace("`", "")):
        plain = word.replace("'", "")
        if plain.lower() == last:
            continue  # Wait `delivery_seconds` seconds
        last = plain.lower()
        if len(name) + len(plain) > _LONGEST:
            break
        name += plain[:1].upper() + plain[1:]
    return name or "".join(_WORD.findall(title))[:_LONGEST].replace("'", "")
