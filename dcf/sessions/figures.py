"""What is known of the work on a task in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask


@dataclass(frozen=True, slots=True)
class Figures:
    """``tier`` and ``fcs`` are those of the model that was chosen, ``model`` the one that did the
    task, ``escalated`` whether it needed a higher tier. None: not known."""

    tier: int | None
    model: str | None
    fcs: float | None
    escalated: bool
    cost_usd: float | None
    tokens: int | None


def figures_of(task: SessionTask) -> Figures:
    """The figures in what its run says of it; companions from outside report what they like, so
    that what is no such number is not known."""
    chosen: Mapping[str, Any] = task.selection or {}
    metrics: Mapping[str, Any] = task.metrics or {}
    tier = chosen.get("tier")
    tokens = _amount(metrics.get("total_tokens"))
    models = (metrics.get("model"), chosen.get("model"), task.model)
    return Figures(
        tier=tier if type(tier) is int and 0 <= tier <= 3 else task.tier,
        model=next((one for one in models if isinstance(one, str) and one), None),
        fcs=_amount(chosen.get("fcs")),
        escalated=metrics.get("tier_escalated") is True,
        cost_usd=_amount(metrics.get("estimated_cost_usd")),
        tokens=None if tokens is None else int(tokens),
    )


def specialization_of(session: Session, task: SessionTask) -> str | None:
    """What the companion that has or had the task was specialised in when it got it."""
    if task.companion_id is None:
        return None
    for attempt in reversed(task.attempts):
        if attempt.companion_id == task.companion_id and attempt.specialization is not None:
            return attempt.specialization
    known = session.companions.get(task.companion_id) or session.former.get(task.companion_id)
    return known.specialization if known is not None else None


def _amount(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e15 else None
