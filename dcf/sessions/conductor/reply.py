"""What a conductor says to the user."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that fired: its name, what made it fire, and what was done."""

    rule: str
    because: str
    did: str


@dataclass(frozen=True, slots=True)
class Row:
    """One task in a synthesis. ``reference`` is where its whole result stands, None without one."""

    task: str
    companion: str | None
    status: str
    summary: str
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One thing said. ``request`` is what it belongs to, ``task_ids`` what was delegated for it,
    ``rows`` the synthesis of a request that is finished, ``questions`` what the user must decide,
    ``fired`` the rules in the order in which they fired."""

    text: str
    request: str | None = None
    task_ids: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    questions: tuple[str, ...] = ()
    fired: tuple[Fired, ...] = ()
