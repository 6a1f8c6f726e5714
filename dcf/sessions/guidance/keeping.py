"""What analyses found, for those who remember sessions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Final

from control_plane import Outbox, OutboxFull
from dcf.advisors.strategist import Pattern
from dcf.knowledge import (
    INSIGHT,
    CompanionPatternFact,
    InsightFact,
    PatternFact,
    SessionPatternFact,
    SkillMetricFact,
    tell_fact,
)
from dcf.sessions.telling import told_agent, told_id

_FACTS: Final[dict[str, type[PatternFact]]] = {
    one.KIND: one for one in (SessionPatternFact, SkillMetricFact, CompanionPatternFact)
}
_KEPT = 10_000


class Keeping:
    """Puts patterns where they wait for the graph. Each has an id: told again it takes the place
    of what it was. What says the same as before is not told by the same process again."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._said: OrderedDict[str, dict[str, Any]] = OrderedDict()

    async def keep(self, patterns: Iterable[Pattern]) -> list[str]:
        """What is to be said of it: where too much waits, the next analysis tells the rest."""
        for pattern in patterns:
            name = pattern.data["id"]
            if self._said.get(name) == _measured(pattern):
                continue
            try:
                await self._tell(pattern)
            except OutboxFull as full:
                return [f"not all that was found is kept yet, the next analysis does it: {full}"]
            self._said[name] = _measured(pattern)
            self._said.move_to_end(name)
            while len(self._said) > _KEPT:
                self._said.popitem(last=False)
        return []

    async def _tell(self, pattern: Pattern) -> None:
        data = pattern.data
        if pattern.kind == "insight":
            runs = tuple(map(told_id, data["evidence_runs"]))
            insight = InsightFact.from_json({**data, "evidence_runs": runs})
            await self._outbox.put(INSIGHT, insight.id, insight.to_json())
            return
        ids = {}
        if data.get("conductor_id"):
            ids["conductor_id"] = told_id(data["conductor_id"])
        if data.get("companion_id"):
            ids["companion_id"] = told_agent(data["session_id"], data["companion_id"])
        evidence = [told_id(one) for one in data["evidence"]]
        fact = _FACTS[pattern.kind].from_json({**data, **ids, "evidence": evidence})
        await tell_fact(self._outbox, fact)


def _measured(pattern: Pattern) -> dict[str, Any]:
    """Without when it was measured."""
    times = ("at", "created_at", "expires_at")
    return {name: one for name, one in pattern.data.items() if name not in times}
