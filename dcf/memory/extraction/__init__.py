"""How observations are found in what happened by asking a model: ``prompt_for`` asks about an
event, ``parse_observations`` reads the answer; ``ExtractionQueue`` keeps the events that are to be
asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.extraction.agent_turns import AgentTurns
    from dcf.memory.extraction.answer import Parsed, parse_observations
    from dcf.memory.extraction.asking import Answer, AskDenied, Asker, AskFailed, AskPostponed
    from dcf.memory.extraction.claims import (
        AGENT,
        CONVERSATION,
        KINDS,
        RUN,
        Claim,
        Kind,
        NewEvent,
        Offered,
    )
    from dcf.memory.extraction.errors import BudgetUsedUp, ClaimLost, RateReached
    from dcf.memory.extraction.extractor import Extractor, Read, Work
    from dcf.memory.extraction.prompt import Prompt, SourceEvent, as_text, prompt_for
    from dcf.memory.extraction.queue import ExtractionQueue, QueueCounts, QueuedEvent
    from dcf.memory.extraction.setting import BadExtractionSetting, ExtractionSetting
    from dcf.memory.extraction.spending import DAY_MS, HOUR_MS, Limits, Spending, Spent
    from dcf.memory.extraction.standing import Standing
    from dcf.memory.extraction.thread_turns import LEAST, ThreadTurns
    from dcf.memory.extraction.trimming import cleaned, cut, one_line, trimmed, visible
else:
    export_late(__name__)

__all__ = [
    "AGENT",
    "CONVERSATION",
    "DAY_MS",
    "HOUR_MS",
    "KINDS",
    "LEAST",
    "RUN",
    "AgentTurns",
    "Answer",
    "AskDenied",
    "AskFailed",
    "AskPostponed",
    "Asker",
    "BadExtractionSetting",
    "BudgetUsedUp",
    "Claim",
    "ClaimLost",
    "ExtractionQueue",
    "ExtractionSetting",
    "Extractor",
    "Kind",
    "Limits",
    "NewEvent",
    "Offered",
    "Parsed",
    "Prompt",
    "QueueCounts",
    "QueuedEvent",
    "RateReached",
    "Read",
    "SourceEvent",
    "Spending",
    "Spent",
    "Standing",
    "ThreadTurns",
    "Work",
    "as_text",
    "cleaned",
    "cut",
    "one_line",
    "parse_observations",
    "prompt_for",
    "trimmed",
    "visible",
]
