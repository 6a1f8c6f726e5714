"""How delegated tasks fall out across companion, specialization, skill, kind of task and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from dcf.knowledge.asking.crossing import Counted, Crossed, Narrowed, Order, counted
from dcf.knowledge.connection import GraphConnection

DelegationDimension = Literal[
    "companion", "specialization", "skill", "task_type", "error", "session", "tier", "model",
    "status", "day",
]  # fmt: skip
DELEGATION_DIMENSIONS: tuple[DelegationDimension, ...] = get_args(DelegationDimension)
_COLUMNS: Mapping[str, str] = {
    "companion": "e.companion_id",
    "specialization": "e.specialization",
    "skill": "v",
    "task_type": "e.task_type",
    "error": "e.error",
    "session": "e.session_id",
    "tier": "e.tier",
    "model": "e.model",
    "status": "e.status",
    "day": "e.day",
}
_DELEGATIONS = Counted("Delegation", "succeeded", _COLUMNS, "e.task_id", "delegations")


@dataclass(frozen=True, slots=True)
class Handed:
    """Which delegations count; None is all. Of ``narrowed`` task type, skill, error and times."""

    narrowed: Narrowed = field(default_factory=Narrowed)
    companion: str | None = None
    specialization: str | None = None
    session: str | None = None

    def terms(self) -> tuple[str, dict[str, Any]]:
        """A WHERE for a node ``e``, and its parameters."""
        where, given = self.narrowed.terms()
        for name, column in (
            ("companion", "companion_id"),
            ("specialization", "specialization"),
            ("session", "session_id"),
        ):
            value = getattr(self, name)
            if value is not None:
                where += f" AND e.{column} = ${name}"
                given[name] = value
        return f"{where} AND e.status <> 'cancelled'", given


async def delegations_counted(
    graph: GraphConnection,
    by: Sequence[DelegationDimension],
    handed: Handed | None = None,
    *,
    order: Order | None = None,
    limit: int = 100,
) -> list[Crossed]:
    """Delegated tasks counted for each combination of ``by`` in ``order``, the most frequent first
    without one; their runs are ids of tasks. One that was done in part counts as failed, one that
    was cancelled not at all; one with several skills counts for each of them where ``skill`` is
    asked for. Durations are from when somebody began. Raises GraphAway, GraphRefused,
    QuestionTooWide."""
    handed = handed or Handed()
    where, given = handed.terms()
    return await counted(
        graph, _DELEGATIONS, by, where, given,
        skill=handed.narrowed.skill, order=order, limit=limit,
    )  # fmt: skip
