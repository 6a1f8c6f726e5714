"""The questions that can be asked, and the rules by which words become one of them.

A question has cues, each with a weight. Its score is the sum of the weights of the cues that are
found, at most 1; where something is missing that it needs, such as the id of a run, half of that.
Below ``SURE`` nothing is chosen, nor when another question comes as near as ``APART``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SURE = 0.5
"""Below this score a question is not understood."""
APART = 0.1
"""The best has to be so much better than the next one."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that speak for a question, as a regular expression over lower case."""

    pattern: str
    weight: float

    def found(self, text: str) -> bool:
        return re.search(rf"\b(?:{self.pattern})\b", text) is not None


@dataclass(frozen=True, slots=True)
class Question:
    """``answers`` says what it answers, ``example`` shows one. ``needs`` are arguments that it
    cannot do without, ``takes`` those that narrow it."""

    name: str
    answers: str
    example: str
    cues: tuple[Cue, ...]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


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
        ),
        takes=("task_type", "skill"),
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
                r"most (?:frequent|common)", 0.6),
            Cue(r"by|per|each|every|for which", 0.3),
            Cue(r"fail\w*|errors?|outcomes?|succeed\w*|times", 0.1),
        ),
        takes=("task_type", "skill", "workflow", "agent", "error"),
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
_BY: Mapping[str, str] = {
    r"versions?|skills?": "skill",
    r"agents?": "agent",
    r"tasks?|kinds? of task|task types?": "task_type",
    r"errors?": "error",
    r"workflows?": "workflow",
    r"tiers?": "tier",
    r"models?": "model",
    r"days?|daily|time": "day",
}


@dataclass(frozen=True, slots=True)
class Matched:
    """What words were understood as: a question with its ``arguments`` (lists of names) and the
    dimensions ``by`` which it counts. ``question`` None: nothing scored high enough; ``scores`` has
    every question's, ``missing`` what the best one lacked."""

    question: Question | None
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    by_model: bool = False

    @property
    def score(self) -> float:
        return max(self.scores.values(), default=0.0)


def question_named(name: str) -> Question | None:
    """The question called ``name``."""
    return next((one for one in QUESTIONS if one.name == name), None)


def match(words: str, names: Mapping[str, Sequence[str]], runs: Sequence[str]) -> Matched:
    """Which question ``words`` are; ``names`` (argument -> names) and ``runs`` are what of them the
    graph knows."""
    text = words.lower()
    for known in [*runs, *(name for found in names.values() for name in found)]:
        # A name is no cue.
        text = text.replace(known.lower(), " ")
    given = {**{name: list(found) for name, found in names.items()}, "run": list(runs)}
    scores = {one.name: _score(one, text, given) for one in QUESTIONS}
    order = sorted(QUESTIONS, key=lambda one: -scores[one.name])
    best, second = order[0], order[1]
    missing = tuple(name for name in best.needs if not given.get(name))
    shown = {one.name: round(scores[one.name], 3) for one in order}
    close = scores[best.name] - scores[second.name] < APART
    if missing or scores[best.name] < SURE or close:
        return Matched(None, scores=shown, missing=missing)
    wanted = (*best.needs, *best.takes)
    arguments = {name: given[name] for name in wanted if given.get(name)}
    by = tuple(name for pattern, name in _BY.items() if Cue(pattern, 0).found(text))
    return Matched(best, arguments, by if best.name == "outcomes" else (), shown)


def _score(question: Question, text: str, given: Mapping[str, Sequence[str]]) -> float:
    score = min(1.0, sum(cue.weight for cue in question.cues if cue.found(text)))
    if any(not given.get(name) for name in question.needs):
        return score / 2
    if question.needs and score:
        # What is asked of a run is rarely asked of everything.
        score = min(1.0, score + 0.15)
    return score
