"""What came of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["passed", "failed", "unreachable", "skipped"]
Kind = Literal["case", "default", "test"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """``kind``: a case of a tool, its default answer, or a test written in a skill. ``tool`` is
    ``server:tool``, ``name`` the case's id or the test's name, ``skills`` the manifest ids that it
    counts for. ``details`` are lines for people: the differences, or what else went wrong;
    ``message`` is the first thing to know. ``skipped`` is what the server at hand cannot show."""

    kind: Kind
    tool: str
    name: str
    skills: tuple[str, ...]
    status: Status
    message: str = ""
    details: tuple[str, ...] = ()
    arguments: dict[str, Any] | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status in ("passed", "skipped")

    def to_dict(self) -> dict[str, Any]:
        """All members; ``arguments`` null where no call was made."""
        return {
            "kind": self.kind,
            "tool": self.tool,
            "name": self.name,
            "skills": list(self.skills),
            "status": self.status,
            "message": self.message,
            "details": list(self.details),
            "arguments": self.arguments,
            "seconds": round(self.seconds, 3),
        }
