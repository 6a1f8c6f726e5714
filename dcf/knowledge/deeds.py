"""What the history of a run says of its Tasks: the tools that were called, and who approved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from control_plane import CorruptHistory, HistoryEvent, Store, history
from dcf.knowledge.outcome import Approval, ToolUse
from dcf.knowledge.privacy import Privacy

Visit = tuple[str, int]
"""Path of a state, and which visit of it."""


@dataclass(slots=True)
class _Used:
    calls: int = 0
    failures: int = 0


@dataclass(slots=True)
class Deeds:
    """Built event by event. Texts go through ``privacy``."""

    privacy: Privacy
    _tools: dict[Visit, dict[str, _Used]] = field(default_factory=lambda: defaultdict(dict))
    _approvals: dict[Visit, list[Approval]] = field(default_factory=lambda: defaultdict(list))
    _asked: dict[Visit, int] = field(default_factory=dict)

    def add(self, told: HistoryEvent) -> None:
        """The next event of the run."""
        event, kind = told.event, told.event.get("type")
        visit = (str(event.get("path") or ""), int(event.get("visit") or 1))
        if kind == "ToolDecision" and event.get("verdict") == "allow":
            self._used(visit, event["tool"]).calls += 1
        elif kind == "ToolFailed":
            self._used(visit, event["tool"]).failures += 1
        elif kind == "ApprovalRequested":
            self._asked[visit] = told.at
        elif kind == "ApprovalDecided":
            # Who was asked first may have let the time pass: all of it was waited for.
            asked = self._asked.pop(visit, told.at)
            self._approvals[visit].append(
                Approval(
                    by=self.privacy.text(str(event["by"])),
                    decision=str(event["decision"]),
                    at=told.at,
                    waited_ms=max(0, told.at - asked),
                )
            )

    def tools(self, path: str, visit: int) -> tuple[ToolUse, ...]:
        return tuple(self._uses((path, visit)))

    def approvals(self, path: str, visit: int) -> tuple[Approval, ...]:
        return tuple(self._approvals.get((path, visit), ()))

    def _used(self, visit: Visit, tool: str) -> _Used:
        return self._tools[visit].setdefault(str(tool), _Used())

    def _uses(self, visit: Visit) -> Iterator[ToolUse]:
        for tool, used in self._tools.get(visit, {}).items():
            yield ToolUse(self.privacy.text(tool), used.calls, used.failures)


async def deeds_in(store: Store, workflow_id: str, privacy: Privacy) -> Deeds:
    """What the history of the run says by now; nothing where it cannot be believed."""
    deeds = Deeds(privacy)
    try:
        async for told in history.read(store, workflow_id):
            deeds.add(told)
    except CorruptHistory:
        # `dcf history` says so; what the documents of the run hold is told all the same.
        return Deeds(privacy)
    return deeds
