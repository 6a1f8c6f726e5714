"""Groups that used to be graphs of their own, as filters over the one graph.

A name stands for labels of episodes and of entities, and for kinds of facts. Any other name is a
group of texts that somebody added (``group_id`` of their nodes).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dcf.knowledge.schema import GRAPH
from dcf.knowledge.text_episode import TEXTS


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the graph, by the words of ``schema``."""

    episodes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    def __or__(self, other: Part) -> Part:
        return Part(
            tuple(dict.fromkeys(self.episodes + other.episodes)),
            tuple(dict.fromkeys(self.entities + other.entities)),
            tuple(dict.fromkeys(self.facts + other.facts)),
        )


_RUNS = Part(("WorkflowRun",), ("Workflow",), ("ENDED_WITH",))
_TASKS = Part(
    ("StateOutcome",),
    ("Skill", "SkillVersion", "TaskType", "Agent", "ErrorKind", "Tool", "Approver"),
    ("VERSION_OF", "USED_BY", "PART_OF", "SUCCEEDED_AT", "FAILED_AT", "FAILED_WITH", "RAISES",
     "WORKED_ON"),
)  # fmt: skip
_INSIGHTS = Part((), ("Insight",), ("CONCERNS", "SUPERSEDES", "CONFLICTS_WITH"))
_PATTERNS = Part((), ("Session", "SessionPattern"), ("MEASURED_IN", "DESCRIBES"))
_SKILL_METRICS = Part((), ("SkillMetric",), ("DESCRIBES",))
_COMPANIONS = Part(
    (), ("Agent", "CompanionPattern"), ("WORKED_ON", "DELEGATED_TO", "TOOK_PART_IN", "DESCRIBES")
)
_DELEGATIONS = Part(("Delegation",), ("Session",), ("DELEGATED_TO", "TOOK_PART_IN"))

GROUPS: dict[str, Part] = {
    "dcf_executions": _RUNS,
    "dcf_metrics": _TASKS,
    "dcf_insights": _INSIGHTS,
    "dcf_plus_patterns": _PATTERNS,
    "dcf_plus_metrics": _TASKS | _SKILL_METRICS,
    "dcf_plus_insights": _INSIGHTS,
    "dcf_plus_companions": _COMPANIONS,
    "dcf_plus_delegations": _DELEGATIONS,
    "amsp_events": Part(("StateOutcome",)),
    "amsp_recalibration": _INSIGHTS,
    "amsp_metrics": _TASKS,
}
"""Earlier names, and what they stand for."""


def named(value: Any) -> str:
    """The name of a group or a kind as it is shown: whoever else writes to the graph may give none,
    or something that is no text."""
    return "-" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is looked at: ``part`` of the measured graph, None for none of it, and texts of the
    groups ``own``. ``everything``: nothing was named."""

    part: Part | None = None
    own: tuple[str, ...] = ()
    everything: bool = False

    def takes_label(self, label: str) -> bool:
        """Whether measured episodes or entities with ``label`` are in it."""
        part = self.part
        return self.everything or (part is not None and label in part.episodes + part.entities)

    def takes(self, labels: Iterable[str], group: str | None) -> bool:
        """Whether a node with ``labels`` in the group ``group`` is in it."""
        if self.everything or group in self.own:
            return True
        return group == GRAPH and (self.is_whole or any(map(self.takes_label, labels)))

    def takes_fact(self, name: str, group: str | None) -> bool:
        """Whether a fact called ``name`` in the group ``group`` is in it."""
        if self.everything or group in self.own:
            return True
        measured = self.part is not None and name in self.part.facts
        return group == GRAPH and (self.is_whole or measured)

    @property
    def is_whole(self) -> bool:
        """Whether all that was measured is in it."""
        return self.everything or self.part == _WHOLE

    @property
    def ids(self) -> list[str] | None:
        """The ``group_id`` values to look at; None for all."""
        if self.everything:
            return None
        return [*([GRAPH] if self.part is not None else []), *self.own]


def chosen(names: Iterable[str] | None) -> Chosen:
    """What ``names`` stand for; without any, everything that is written."""
    part: Part | None = None
    own = []
    given = [name for name in dict.fromkeys(names or ()) if name]
    if not given:
        return Chosen(everything=True)
    for name in given:
        known = _WHOLE if name == GRAPH else GROUPS.get(name)
        if known is not None:
            part = known if part is None else part | known
        own.append(TEXTS if name == GRAPH else name)
    return Chosen(part, tuple(own))


_SESSIONS = _PATTERNS | _SKILL_METRICS | _COMPANIONS | _DELEGATIONS
_WHOLE = _RUNS | _TASKS | _INSIGHTS | _SESSIONS | Part((), ("Adaptation",))
