"""How observations are found in what happened by asking a model: ``prompt_for`` asks about an
event, ``parse_observations`` reads the answer; ``ExtractionQueue`` keeps the events that are to be
asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.extraction.answer import Parsed, parse_observations
    from dcf.memory.extraction.claims import Claim, NewEvent, Offered
    from dcf.memory.extraction.errors import BudgetUsedUp, ClaimLost, RateReached, UnknownEvent
    from dcf.memory.extraction.prompt import Prompt, SourceEvent, prompt_for
    from dcf.memory.extraction.queue import ExtractionQueue, QueueCounts, QueuedEvent
    from dcf.memory.extraction.trimming import cut, trimmed, visible
else:
    export_late(__name__)

__all__ = [
    "BudgetUsedUp",
    "Claim",
    "ClaimLost",
    "ExtractionQueue",
    "NewEvent",
    "Offered",
    "Parsed",
    "Prompt",
    "QueueCounts",
    "QueuedEvent",
    "RateReached",
    "SourceEvent",
    "UnknownEvent",
    "cut",
    "parse_observations",
    "prompt_for",
    "trimmed",
    "visible",
]
