"""Which tools a worker may call: those that its loaded skills declare, and no other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcf.tools.errors import PermissionDenied

Grant = tuple[str, str, str]
"""``(server_id, tool_name, skill)``: this skill declares this tool."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One ruling of the gate, as it goes into the history."""

    allowed: bool
    server_id: str
    tool_name: str
    skills: tuple[str, ...]
    reason: str


class Gate:
    """Deny by default.

    >>> gate = Gate([("web", "search", "research@1.0.0")])
    >>> gate.decide("web", "search").allowed
    True
    >>> gate.decide("web", "delete").reason
    'no loaded skill declares this tool'
    """

    def __init__(self, grants: Iterable[Grant]) -> None:
        self._grants: dict[tuple[str, str], list[str]] = {}
        for server_id, tool_name, skill in grants:
            self._grants.setdefault((server_id, tool_name), []).append(skill)

    def decide(self, server_id: str, tool_name: str) -> Decision:
        """The ruling on one tool, with its reason; never raises."""
        skills = tuple(self._grants.get((server_id, tool_name), ()))
        if skills:
            reason = f"declared by {', '.join(skills)}"
        elif not self._grants:
            reason = "no skill with tools is loaded"
        else:
            reason = "no loaded skill declares this tool"
        return Decision(bool(skills), server_id, tool_name, skills, reason)

    def check(self, server_id: str, tool_name: str) -> None:
        """Raise ``PermissionDenied``, listing what is allowed, unless a loaded skill grants it."""
        decision = self.decide(server_id, tool_name)
        if not decision.allowed:
            raise PermissionDenied(server_id, tool_name, decision.reason, self.allowed())

    def allowed(self) -> tuple[str, ...]:
        """``server:tool (skill, …)`` for every grant, sorted."""
        return tuple(
            f"{server}:{tool} ({', '.join(skills)})"
            for (server, tool), skills in sorted(self._grants.items())
        )
