"""The questions that can be asked, each with the words that speak for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Timed = Literal["no", "since", "between"]
"""Whether a question can be asked of a time: of none, from then on, or from then until then."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that speak for a question, or against it where the weight is below 0, as a regular
    expression over lower case."""

    pattern: str
    weight: float

    def found(self, text: str) -> bool:
        return next(self.spans(text), None) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in ``text`` they stand."""
        return (one.span() for one in re.finditer(rf"\b(?:{self.pattern})\b", text))


@dataclass(frozen=True, slots=True)
class Question:
    """``answers`` says what it answers, ``example`` shows one. ``needs`` are arguments that it
    cannot do without, ``takes`` those that narrow it, ``by`` the dimensions that it counts by."""

    name: str
    answers: str
    example: str
    cues: tuple[Cue, ...]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    timed: Timed = "no"


_MOST = (
    r"(?:fail\w*|break\w*|broke) (?:the )?(?:most|least)(?: often)?|"
    r"(?:most|fewest) (?:failures|errors)|worst|"
    r"(?:least|most) (?:un)?reliable|(?:highest|lowest) (?:failure|error) rate|"
    r"(?:takes? )?(?:the )?(?:longest|slowest|most time)|"
    r"(?:the )?(?:fastest|quickest|shortest|least time)|"
    r"(?:the )?(?:most expensive|dearest|costliest|cheapest|least expensive)|"
    r"costs? (?:the )?(?:most|least)"
)
_DELEGATED = r"delegat\w*|companions?|speciali[sz]ations?"
_ANOTHER = Cue(_DELEGATED, -0.5)
"""Of those, something else is asked."""


QUESTIONS: tuple[Question, ...] = (
    Question(
        "skills",
        "which version of a skill succeeded most at a kind of task, and how sure that is",
        "which skill version succeeded most for orders.charge_payment?",
        (
            Cue(r"best|most reliable|succeed\w* (?:the )?most|most success\w*|highest success\w*|"
                r"works? best|recommend\w*", 0.6),
            Cue(r"success rates?|rank\w*|reliab\w*|confiden\w*|compare\w*", 0.4),
            Cue(r"versions?|skills?", 0.3),
            Cue(r"which|what|what's", 0.1),
            _ANOTHER,
        ),
        takes=("task_type", "skill"),
        timed="since",
    ),
    Question(
        "changes",
        "what changed before failures began: versions, agents, tiers, models, definitions",
        "what changed before orders.charge_payment began to fail?",
        (
            Cue(r"chang\w*|differ\w*|introduced|regress\w*", 0.5),
            Cue(r"before|since when|began|begin|started?|when did|recently|lately", 0.3),
            Cue(r"fail\w*|errors?|worse|broke\w*|break\w*", 0.2),
        ),
        takes=("task_type", "skill", "workflow", "agent", "error"),
        timed="between",
    ),
    Question(
        "why",
        "why a run failed: its cause, who else failed like that, and what helped afterwards",
        "why did order-7f3a fail?",
        (
            Cue(r"why|reason\w*|cause[sd]?|what went wrong|root cause|how come", 0.7),
            Cue(r"fail\w*|errors?|wrong|broke\w*|crash\w*", 0.2),
            Cue(r"help(?:s|ed)?|fix\w*", 0.2),
        ),
        needs=("run",),
    ),
    Question(
        "similar",
        "runs like one, each with the reasons",
        "which runs are like order-7f3a?",
        (
            Cue(r"like|similar\w*|alike|resembl\w*|same as|comparable", 0.6),
            Cue(r"runs?|others?|which", 0.2),
        ),
        needs=("run",),
    ),
    Question(
        "run",
        "what happened in a run: its states, versions, agents, errors",
        "what happened in order-7f3a?",
        (
            Cue(r"what happened|show|tell me about|details?|steps?|went", 0.6),
            Cue(r"runs?|in", 0.1),
        ),
        needs=("run",),
    ),
    Question(
        "outcomes",
        "how many outcomes there were, and how many went well, by skill, agent, task, error, "
        "workflow, tier, model or day",
        "how often did each agent fail at orders.charge_payment, by error?",
        (
            Cue(r"how (?:many|often|much)|count\w*|number of|which errors?|what errors?|"
                r"most (?:frequent|common)|" + _MOST, 0.6),
            Cue(r"by|per|each|every|for which", 0.3),
            Cue(r"(?:success|failure|error) rates?", 0.3),
            Cue(r"fail\w*|errors?|outcomes?|succeed\w*|times", 0.1),
            _ANOTHER,
        ),
        takes=("task_type", "skill", "workflow", "agent", "error"),
        by=("skill", "agent", "task_type", "error", "workflow", "tier", "model", "day"),
        timed="between",
    ),
    Question(
        "runs",
        "how many runs there were, how they ended and how long they took, by workflow, error, day "
        "or one by one",
        "how many runs failed last week?",
        (
            Cue(r"how (?:many|often|long)|count\w*|number of|" + _MOST, 0.5),
            Cue(r"runs?", 0.4),
            Cue(r"runs? (?:have )?(?:fail\w*|succeed\w*|ended|were)|(?:failed|successful) runs?|"
                r"fail\w*|succeed\w*", 0.1),
            Cue(r"by|per|each|every", 0.1),
            _ANOTHER,
        ),
        takes=("workflow", "error"),
        by=("workflow", "error", "day", "run"),
        timed="between",
    ),
    Question(
        "costs",
        "what was spent, as far as prices were known, by skill, agent, task, workflow, tier, model "
        "or day",
        "how much did each workflow cost since monday?",
        (
            Cue(r"cost\w*|spen[dt]\w*|expens\w*|expenses?|dollars?|usd|money|paid|pay|cheap\w*|"
                r"dearest", 0.9),
            Cue(r"how much|what|total\w*|altogether", 0.1),
            Cue(r"by|per|each|every|for which|which|the most|the least|most|least", 0.1),
            _ANOTHER,
        ),
        takes=("task_type", "skill", "workflow", "agent", "error"),
        by=("skill", "agent", "task_type", "error", "workflow", "tier", "model", "day"),
        timed="between",
    ),
    Question(
        "session",
        "what happened in a session: its tasks, who did them, how they went, what was measured",
        "what happened in session helpdesk-1?",
        (
            Cue(r"what happened|show|tell me about|details?|steps?|went|come to|came of", 0.6),
            Cue(r"sessions?", 0.4),
        ),
        needs=("session",),
    ),
    Question(
        "delegations",
        "how many delegated tasks there were, and how many went well, by companion, "
        "specialization, skill, task, error, session, tier, model or day",
        "how many delegations succeeded, by specialization and task?",
        (
            Cue(_DELEGATED, 0.7),
            Cue(r"how (?:many|often|much|well|long)|count\w*|number of|which|what|" + _MOST, 0.2),
            Cue(r"fail\w*|errors?|succeed\w*|(?:success|failure) rates?|"
                r"cost\w*|reliab\w*", 0.1),
            Cue(r"by|per|each|every", 0.1),
        ),
        takes=("task_type", "skill", "agent", "specialization", "error", "session"),
        by=("companion", "specialization", "skill", "task_type", "error", "session", "tier",
            "model", "day"),
        timed="between",
    ),
    Question(
        "patterns",
        "what analyses of sessions have measured: of skills, companions, whole sessions",
        "what patterns are there about orders.charge_payment?",
        (
            Cue(r"patterns?|measured", 0.8),
            Cue(r"what|which|about|are there", 0.1),
        ),
        takes=("task_type", "skill", "agent", "specialization", "session"),
        timed="between",
    ),
    Question(
        "insights",
        "what analyses found: advice with its evidence",
        "what insights are there about orders.charge_payment?",
        (
            Cue(r"insights?|advice|advise\w*|lessons?|learn(?:ed|t)?|guidelines?|findings?", 0.8),
            Cue(r"what|which|about|are there", 0.1),
        ),
        takes=("task_type", "skill"),
    ),
    Question(
        "stats",
        "what there is in the graph: how much, of what, since when",
        "what is in the graph?",
        (
            Cue(r"statistic\w*|stats|overview|how (?:big|large|full)|size", 0.7),
            Cue(r"in the graph|graph", 0.5),
        ),
    ),
)  # fmt: skip


def question_named(name: str) -> Question | None:
    """The question called ``name``."""
    return next((one for one in QUESTIONS if one.name == name), None)
