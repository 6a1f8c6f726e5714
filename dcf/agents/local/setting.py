"""What turns of one runtime have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from dcf.agents.local.memory_tools import Leave
    from dcf.agents.models import Tally
    from dcf.agents.usage_limits import UsageLimits
    from dcf.memory import Agent, Memory


@dataclass(frozen=True, slots=True)
class Setting:
    """``model_of`` gives an agent's model for one turn;
    ``clock`` counts seconds, monotonic; ``by_model``: summaries are made by the model."""

    memory: Memory
    model_of: Callable[[Agent, Tally], Model]
    tally_of: Callable[[Agent], Tally]
    leave: Leave
    limits: UsageLimits
    clock: Callable[[], float]
    by_model: bool
