"""What can be watched while an agent works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from dcf.agents.reply import Reply

TurnEventKind = Literal[
    "model_request", "model_response", "tool_call", "tool_result", "text", "reply", "stopped"
]


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """One step of the turn loop, ``at_ms`` milliseconds after the work began.

    ``tool`` is the declared tool name of a tool_call or tool_result. ``error`` is the error name
    of a tool_result that the tool reported as failed; a call that never came back (timeout,
    unreachable, denied, cancelled) has no tool_result, because it ends the task. When the task ends
    without a report, a last event, ``stopped``, says in ``metrics`` what was used by then.

    In a conversation ``text`` is the next piece of what the agent says, and the last event,
    ``reply``, has the whole ``reply``.
    """

    kind: TurnEventKind
    at_ms: float
    tool: str | None = None
    error: str | None = None
    metrics: Mapping[str, int | float | None] | None = None
    text: str | None = None
    reply: Reply | None = None
