"""The variables of a list of steps: those around it can be read and not changed, so that what is
written inside under the name of one of them gets a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_RESERVED = frozenset({"states", "contains", "count", "exists", "map", "not", "string", "type"})
"""A variable hides the function of its name: those that a compiler's expressions call stay free."""
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Scope:
    """``variables`` is the variable of each name that can be seen; ``assigned`` all variables that
    machines around assign; ``perhaps`` the names whose value may be null. ``number`` is that of the
    step around, "" for the whole procedure."""

    variables: Mapping[str, str] = field(default_factory=dict)
    assigned: frozenset[str] = frozenset()
    perhaps: frozenset[str] = frozenset()
    number: str = ""

    def inside(self, number: str, own: Iterable[str], perhaps: Iterable[str] = ()) -> Scope:
        """The scope of the list in step ``number``, which writes ``own``."""
        variables = dict(self.variables)
        taken = set(self.assigned)
        for name in sorted(own):
            variables[name] = _free(name, number, taken)
            taken.add(variables[name])
        return Scope(variables, frozenset(taken), self.perhaps | frozenset(perhaps), number)


def _free(name: str, number: str, taken: set[str]) -> str:
    """A variable for ``name`` that is not taken: with the number of its step behind it."""
    plain = name.lstrip("_") or "value"
    if plain[0].isdigit():
        plain = f"v{plain}"
    plain = plain[: _LONGEST - 20]
    if plain not in taken and plain not in _RESERVED:
        return plain
    suffix = "".join(letter if letter.isalnum() else "_" for letter in number)
    free = f"{plain}_{suffix}" if suffix else f"{plain}_"
    while free in taken:
        free += "_"
    return free
