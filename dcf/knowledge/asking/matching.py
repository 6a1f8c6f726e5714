"""The rules by which words become one of the declared questions.

A question has cues, each with a weight. Its score is the sum of the weights of the cues that are
found, at most 1, less what speaks against it; where something is missing that it needs, such as the
id of a run, half of that.
Below ``SURE`` nothing is chosen, nor when another question comes as near as ``APART``.

What the words say besides is read too: a time, what to count by, which comes first. A word that is
used for nothing is told. Where such words may be what it is all about, nothing is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from dcf.knowledge.asking.crossing import Order
from dcf.knowledge.asking.period import Period, period_in, unread_time
from dcf.knowledge.asking.questions import QUESTIONS, Cue, Question
from dcf.knowledge.asking.small_words import BEFORE_THINGS, EMPTY, TURNS

SURE = 0.5
"""Below this score a question is not understood."""
APART = 0.1
"""The best has to be so much better than the next one."""

ORDERS: Mapping[Order, str] = {
    "failures": "those that fail most first",
    "unreliable": "the greatest share of failures first",
    "slow": "the longest first",
    "fast": "the shortest first",
    "dear": "the dearest first",
    "cheap": "the cheapest first",
}
_ORDERS: Mapping[Order, str] = {
    "failures": r"(?:fail\w*|break\w*|broke) (?:the )?most(?: often)?|most (?:failures|errors)",
    "unreliable": r"worst|least reliable|most unreliable|highest (?:failure|error) rate",
    "slow": r"(?:takes? )?(?:the )?(?:longest|slowest|most time)",
    "fast": r"(?:the )?(?:fastest|quickest|shortest|least time)",
    "dear": r"(?:the )?(?:most expensive|dearest|costliest)|(?:costs?|spen[dt]\w*) (?:the )?most",
    "cheap": r"(?:the )?(?:cheapest|least expensive)|(?:costs?|spen[dt]\w*) (?:the )?least",
}
_RANKS = Cue(rf"most|least|fewest|lowest|highest|fewer|less|more|{'|'.join(_ORDERS.values())}", 0)
_USUAL = Cue(r"most (?:frequent|common)", 0)
"""What comes first where no order is asked for."""
_BY: Mapping[str, str] = {
    r"versions?|skills?": "skill",
    r"agents?": "agent",
    r"tasks?|kinds? of task|task types?": "task_type",
    r"errors?": "error",
    r"workflows?": "workflow",
    r"tiers?": "tier",
    r"models?": "model",
    r"days?|daily|time": "day",
    r"which runs?|each run|by run|per run": "run",
    r"companions?": "companion",
    r"speciali[sz]ations?": "specialization",
    r"sessions?": "session",
}
_THINGS = Cue(r"versions?|skills?|tasks?|task types?|kinds?|types?|workflows?|runs?|outcomes?", 0)
"""What everything here is about: such a word narrows nothing."""
_WORD = re.compile(r"[a-z0-9][\w.@/-]*[a-z0-9]|[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Matched:
    """What words were understood as: a question with its ``arguments`` (lists of names), the
    dimensions ``by`` which it counts, the ``period`` and the ``order``. ``question`` None: nothing
    scored high enough, or what is ``unused`` may be what it is about; ``scores`` has every
    question's, ``missing`` what the best one lacked, ``why_not`` what else stood in the way.
    ``unused`` are words that play no part in the answer."""

    question: Question | None
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    by_model: bool = False
    period: Period | None = None
    order: Order | None = None
    unused: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def score(self) -> float:
        return max(self.scores.values(), default=0.0)

    @property
    def nearest(self) -> tuple[Question, ...]:
        """The questions that came nearest, the best first; none where no cue was found."""
        order = sorted(QUESTIONS, key=lambda one: -self.scores.get(one.name, 0.0))
        return tuple(one for one in order if self.scores.get(one.name, 0.0) > 0)[:3]


def match(
    words: str,
    names: Mapping[str, Sequence[str]],
    runs: Sequence[str],
    now: datetime | None = None,
) -> Matched:
    """Which question ``words`` are; ``names`` (argument -> names) and ``runs`` are what of them the
    graph knows. Times count from ``now`` (that of this machine)."""
    given = {**{name: list(found) for name, found in names.items()}, "run": list(runs)}
    text, said = without_names(words.lower(), {one for found in given.values() for one in found})
    now = now or datetime.now().astimezone()
    period = period_in(text, now)
    unread = unread_time(text, period, now)
    if period is not None:
        text = _blank(text, [(period.start, period.end)])
    scores = {one.name: _score(one, text, given) for one in QUESTIONS}
    order = sorted(QUESTIONS, key=lambda one: -scores[one.name])
    best, second = order[0], order[1]
    missing = tuple(name for name in best.needs if not given.get(name))
    shown = {one.name: round(scores[one.name], 3) for one in order}
    close = scores[best.name] - scores[second.name] < APART - 1e-9
    if missing or scores[best.name] < SURE:
        return Matched(None, scores=shown, missing=missing)
    if close or unread:
        return Matched(None, scores=shown, why_not=time_refused(unread) if unread else "")
    return _read(best, text, given, said, period, shown)


def _read(
    question: Question,
    text: str,
    given: Mapping[str, Sequence[str]],
    said: frozenset[str],
    period: Period | None,
    scores: Mapping[str, float],
) -> Matched:
    """``question`` with all that ``text`` says besides, or why it is not to be answered; ``said``
    are the names that stand in it."""
    wanted = (*question.needs, *question.takes)
    arguments = {name: given[name] for name in wanted if given.get(name)}
    dimensions = [(Cue(pattern, 0), name) for pattern, name in _BY.items() if name in question.by]
    first = order_in(text) if question.by else None
    spoken = [cue for cue in question.cues if cue.weight > 0]
    cues = [*spoken, _THINGS, *(cue for cue, _ in dimensions)]
    plain = text
    if first is not None:
        cues.append(Cue(_ORDERS[first], 0))
        plain = _blank(text, list(cues[-1].spans(text)))
    by = tuple(name for cue, name in dimensions if cue.found(plain))
    spans = [span for cue in cues for span in cue.spans(text)]
    left = _left(text, spans)
    unused = [word for word, _ in left]
    why_not = _not_taken(question, given, said, period)
    why_not = why_not or not_ordered(question, text, first)
    if not why_not and any(is_main for _, is_main in left):
        why_not = f"I do not know what is meant by {_listed(unused)}"
    elif not why_not and len(unused) > len(_words(text)) - len(unused) + len(arguments):
        why_not = f"most of it I do not understand: {_listed(unused)}"
    found = Matched(
        question, arguments, by, scores, period=period, order=first, unused=tuple(unused)
    )
    if why_not:
        return Matched(None, scores=scores, unused=tuple(unused), why_not=why_not)
    return found


def _not_taken(
    question: Question,
    given: Mapping[str, Sequence[str]],
    said: frozenset[str],
    period: Period | None,
) -> str:
    """What the words name and ``question`` cannot be narrowed by; "" for nothing. An answer that
    left it out would be one to another question."""
    wanted = {*question.needs, *question.takes}
    taken = {name for argument in wanted for name in given.get(argument, ())}
    for argument, names in given.items():
        left = [name for name in names if name in said - taken]
        if left:
            return f"{question.answers!r} cannot be asked of one {argument}: {_listed(left)}"
        several = [name for name in names if name in said]
        if argument in wanted and len(several) > 1:
            return f"it can be asked of one {argument} at a time: {_listed(several)}"
    return not_timed(question, period)


def not_timed(question: Question, period: Period | None) -> str:
    """Why ``question`` cannot be asked of ``period``; "" if it can."""
    if period is not None and question.timed == "no":
        return f"{question.answers!r} cannot be asked of a time: {period.said}"
    if period is not None and period.until is not None and question.timed == "since":
        return f"{question.answers!r} has no end of time: say since when, not {period.said}"
    return ""


def time_refused(said: str) -> str:
    """Why a question that says ``said`` of a time is not answered."""
    return f"{said!r} says another time than those that I read, one in each question"


def not_ordered(question: Question, text: str, order: Order | None) -> str:
    """Why what ``text`` (lower case) says of what comes first is not what ``order`` is; "" if it
    is. A question that counts by nothing has an order of its own."""
    if not question.by:
        return ""
    if order is not None:
        text = _blank(text, list(Cue(_ORDERS[order], 0).spans(text)))
    else:
        text = _blank(text, list(_USUAL.spans(text)))
    found = [text[start:end] for start, end in _RANKS.spans(text)]
    if order is None and question.name == "costs":
        found = [one for one in found if one != "most"]  # the dearest come first anyway
    return f"I cannot put first what is {_listed(found)}" if found else ""


def order_in(text: str) -> Order | None:
    """What is to come first by the words of ``text`` (lower case)."""
    return next((name for name, said in _ORDERS.items() if Cue(said, 0).found(text)), None)


def _left(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """The words of ``text`` outside of ``spans`` that mean something, each with whether it may be
    what the question is about: it stands behind a word like `for`, or turns the meaning round."""
    found: list[tuple[str, bool]] = []
    after = False
    for word in _WORD.finditer(text):
        used = any(start <= word.start() and word.end() <= end for start, end in spans)
        if word[0] in TURNS and not used:
            found.append((word[0], True))
        elif word[0] in BEFORE_THINGS:
            after = True
        elif used:
            after = False
        elif word[0] not in EMPTY:
            found.append((word[0], after))
    return found


def _words(text: str) -> list[str]:
    """The words of ``text`` that mean something."""
    return [word for word in _WORD.findall(text) if word not in EMPTY | BEFORE_THINGS]


def without_names(text: str, names: Iterable[str]) -> tuple[str, frozenset[str]]:
    """``text`` with blanks for ``names``, however they are written in it, since a name is no cue;
    and those that were found."""
    found = set()
    spans: list[tuple[int, int]] = []
    for name in names:
        bare = name.lower().removeprefix("skill.")
        for form in (name.lower(), bare, bare.rpartition(".")[2]):
            words = [re.escape(word) for word in re.split(r"[\s._-]+", form) if word]
            pattern = r"(?<![\w.@-])" + r"[\s._-]+".join(words) + r"(?![\w@-])"
            here = [one.span() for one in re.finditer(pattern, text)] if len(form) > 2 else []
            if here:
                found.add(name)
                spans += here
    return _blank(text, spans), frozenset(found)


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _score(question: Question, text: str, given: Mapping[str, Sequence[str]]) -> float:
    found = [cue.weight for cue in question.cues if cue.found(text)]
    score = min(1.0, sum(one for one in found if one > 0)) + sum(one for one in found if one < 0)
    if any(not given.get(name) for name in question.needs):
        return score / 2
    if question.needs and score:
        # What is asked of a run is rarely asked of everything.
        score = min(1.0, score + 0.15)
    return score
