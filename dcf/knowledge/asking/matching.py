"""How words become one of the declared questions.

Names, a time and the words of the lexicon are read first. A question scores by the weights of its
own words, and loses 3 for each other one. Below ``SURE`` nothing is chosen, nor when another
question comes as near as ``APART``; nor where a word is not understood, or a name, a time or an
order is said that the question cannot be asked of: an answer that left it out would be one to
another question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from dcf.knowledge.asking.crossing import Order
from dcf.knowledge.asking.lexicon import Piece, mended, pieces_in
from dcf.knowledge.asking.names import forms_of, version_of
from dcf.knowledge.asking.period import Period, compared_with, period_in, unread_time
from dcf.knowledge.asking.questions import QUESTIONS, Question

SURE = 0.8
"""Below this score a question is not understood."""
APART = 0.15
"""The best has to be so much better than the next one."""
NEAREST = 5
_STRANGE = 3.0
"""So much a word that is none of its own speaks against a question."""

ORDERS: Mapping[Order, str] = {
    "failures": "those with the most failures first",
    "unreliable": "those whose share of failures is surely greatest first",
    "reliable": "those whose share of successes is surely greatest first",
    "slow": "the longest first",
    "fast": "the shortest first",
    "dear": "the dearest first",
    "cheap": "the cheapest first",
    "first": "the oldest first",
    "last": "the newest first",
}
_ORDERED: Mapping[str, Order] = {
    "most_failures": "failures", "worst": "unreliable", "best": "reliable", "slow": "slow",
    "fast": "fast", "dear": "dear", "cheap": "cheap", "first": "first", "last": "last",
}  # fmt: skip
_SUPERLATIVES: Mapping[tuple[str, str], str] = {
    ("most", "failure_rate"): "worst", ("least", "failure_rate"): "best",
    ("most", "fail"): "worst", ("least", "fail"): "best",
    ("most", "reliable"): "best", ("least", "reliable"): "worst",
    ("most", "succeed"): "best", ("least", "succeed"): "worst",
    ("most", "rate"): "best", ("least", "rate"): "worst",
    ("most", "cost"): "dear", ("least", "cost"): "cheap",
    ("most", "duration"): "slow", ("least", "duration"): "fast",
}  # fmt: skip
_DIMENSION: Mapping[str, str] = {
    "skill": "skill", "version": "skill", "agent": "agent", "who": "agent", "task": "task_type",
    "error": "error", "workflow": "workflow", "tier": "tier", "model": "model", "day": "day",
    "tool": "tool", "person": "approver",
    "companion": "companion", "specialization": "specialization", "session": "session",
}  # fmt: skip
"""Concept -> what is counted by."""
_BESIDE: Mapping[str, str] = {**_DIMENSION, "run": "run"}
"""Concept -> the argument whose name it says nothing more of, where it stands beside it."""
_KEPT_BESIDE = ("companion", "specialization")
_COMMANDS = frozenset(
    {"run", "start", "begin", "retry", "use", "change", "fix", "resume", "pass", "call", "approve",
     "reject", "decline", "authorize"}
)  # fmt: skip
"""Such a word at the beginning tells somebody to do something."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What words were understood as: a question with its ``arguments`` (lists of names), the
    dimensions ``by`` which it counts, the ``period``, that which it is held ``against``, the
    ``order`` and its own ``choices``.
    ``question`` None: nothing scored high enough, or something stood in the way; ``scores`` has
    every question's, ``missing`` what the best one lacked, ``why_not`` what else stood in the way.
    ``unused`` are words that were not understood."""

    question: Question | None
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    by_model: bool = False
    period: Period | None = None
    against: Period | None = None
    order: Order | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def score(self) -> float:
        return max(self.scores.values(), default=0.0)

    @property
    def nearest(self) -> tuple[Question, ...]:
        """The five questions that came nearest, the best first."""
        order = sorted(QUESTIONS, key=lambda one: -self.scores.get(one.name, 0.0))
        return tuple(order[:NEAREST])


@dataclass(frozen=True, slots=True)
class Said:
    """What words say: ``concepts`` of the lexicon, ``worded`` as they were said, ``names`` by the
    arguments that they can be, a time, one that it is held ``against``, ``strange`` words, and a
    time that is ``unread``."""

    concepts: frozenset[str]
    worded: Mapping[str, str]
    names: Mapping[str, Sequence[str]]
    period: Period | None
    against: Period | None
    strange: tuple[str, ...]
    unread: str


def match(
    words: str,
    names: Mapping[str, Sequence[str]],
    runs: Sequence[str],
    now: datetime | None = None,
) -> Matched:
    """Which question ``words`` are; ``names`` (argument -> names) and ``runs`` are what of them the
    graph knows. Times count from ``now`` (that of this machine)."""
    said = said_in(words, {**names, "run": runs}, now or datetime.now().astimezone())
    scores = {one.name: round(_score(one, said), 3) for one in QUESTIONS}
    order = sorted(QUESTIONS, key=lambda one: -scores[one.name])
    if said.unread or said.strange:
        why_not = time_refused(said.unread) if said.unread else strange_refused(said.strange)
        return Matched(None, scores=scores, unused=said.strange, why_not=why_not)
    able = [one for one in order if not _refused(one, said) and not _missing(one, said)]
    best = able[0] if able else None
    if best is None or scores[best.name] < SURE:
        wanted = order[0]
        sure = scores[wanted.name] >= SURE
        return Matched(
            None,
            scores=scores,
            missing=_missing(wanted, said) if sure else (),
            why_not=_refused(wanted, said) or ("" if sure else _other_words(wanted, said)),
        )
    if len(able) > 1 and scores[best.name] - scores[able[1].name] < APART:
        return Matched(None, scores=scores, why_not=f"it may be {best.name} or {able[1].name}")
    return read(best, said, scores)


def read(question: Question, said: Said, scores: Mapping[str, float]) -> Matched:
    """``question`` with all the slots that ``said`` fills."""
    ordered = (_ORDERED[one] for one in _ORDERED if one in said.concepts)
    order = next((one for one in ordered if one in question.orders), None)
    wanted = {_DIMENSION[one] for one in said.concepts if one in _DIMENSION}
    by = tuple(one for one in question.by if one in wanted)
    if not by and "run" in question.by and "run" in said.concepts and order is not None:
        by = ("run",)
    return Matched(
        question,
        {one: said.names[one] for one in question.arguments if said.names.get(one)},
        by,
        scores,
        period=said.period,
        against=said.against,
        order=order,
        choices=_choices(question, said),
    )


def said_in(words: str, given: Mapping[str, Sequence[str]], now: datetime) -> Said:
    """What ``words`` say, with the names of ``given`` (argument -> names) that stand in them."""
    text, placed = _with_places(words.lower(), given)
    pair = compared_with(text, now)
    period, against = pair or (period_in(text, now), None)
    if against is not None:
        text = _without(text, against)
    unread = unread_time(text, period, now)
    if period is not None:
        text = _without(text, period)
    pieces = mended(pieces_in(text))
    names = {
        argument: found
        for argument, all_ in given.items()
        if (found := [one for one in all_ if one in placed])
    }
    kinds = {f"<{at}>": _kinds(name, given) for at, name in enumerate(placed)}
    concepts = _composed(_concepts(pieces, kinds))
    if against is not None:
        concepts |= {"beside"}
    strange = tuple(
        one.said
        for at, one in enumerate(pieces)
        if one.concept is None or (at == 0 and one.said in _COMMANDS)
    )
    worded = {one.concept: one.said for one in reversed(pieces) if one.concept}
    return Said(concepts, worded, names, period, against, strange, unread)


def _without(text: str, period: Period) -> str:
    """``text`` with blanks in place of ``period``, so that others stand where they stood."""
    return text[: period.start] + " " * (period.end - period.start) + text[period.end :]


def refusal_of(question: Question, said: Said) -> str:
    """Why ``question`` is not to be answered with what is ``said``; "" if it is."""
    if said.unread:
        return time_refused(said.unread)
    return _refused(question, said)


def time_refused(said: str) -> str:
    """Why a question that says ``said`` of a time is not answered."""
    return f"{said!r} says another time than those that I read, one in each question"


def strange_refused(words: Sequence[str]) -> str:
    """Why a question with ``words`` is not answered."""
    return f"I do not know what is meant by {_listed(words)}"


def _concepts(pieces: Sequence[Piece], kinds: Mapping[str, frozenset[str]]) -> list[str]:
    """The concepts of ``pieces``: names as ``@argument``, without words beside a name that only
    say what it is, and without tasks where it is said already that they are counted."""
    found: list[str] = []
    for at, piece in enumerate(pieces):
        concept = piece.concept or ""
        beside = [
            kinds.get(other.concept or "", frozenset())
            for other in (*pieces[max(0, at - 1) : at], *pieces[at + 1 : at + 2])
        ]
        before = pieces[at - 1].concept if at else None
        if concept in kinds:
            found += [f"@{one}" for one in sorted(kinds[concept])]
        elif concept in _BESIDE and concept not in _KEPT_BESIDE:
            named = any(_BESIDE[concept] in one for one in beside)
            if not named:
                counted = concept == "task" and before in ("count", "delegate")
                found.append("counted_task" if counted else concept)
        elif concept:
            found.append(concept)
    return found


def _composed(concepts: Sequence[str]) -> frozenset[str]:
    """``concepts`` with one for what two of them mean together, as in "fails most"."""
    found = set(concepts)
    for (degree, of), both in _SUPERLATIVES.items():
        if {degree, of} <= found:
            # "Fails most" is still about failures; "costs most" says no more than "dearest".
            found = found - {degree, *({of} & {"cost", "duration"})} | {both}
    return frozenset(found)


def _kinds(name: str, given: Mapping[str, Sequence[str]]) -> frozenset[str]:
    return frozenset(argument for argument, found in given.items() if name in found)


def _score(question: Question, said: Said) -> float:
    return sum(_weight(question, concept) for concept in said.concepts)


def _weight(question: Question, concept: str) -> float:
    weight = question.words.get(concept)
    if weight is not None:
        return weight
    if concept.startswith("@") or concept in ("it", "need"):
        return 0.0
    return 0.3 if _DIMENSION.get(concept) in question.by else -_STRANGE


def _other_words(question: Question, said: Said) -> str:
    """Which words do not go with ``question``; "" where all do, and are too few."""
    others = [one for one in said.concepts if _weight(question, one) == -_STRANGE]
    words = sorted({said.worded[one] for one in others if one in said.worded})
    return f"{question.answers!r} does not go with {_listed(words)}" if words else ""


def _missing(question: Question, said: Said) -> tuple[str, ...]:
    """The arguments that ``question`` cannot do without, and are not said."""
    missing = [one for one in question.needs if not said.names.get(one)]
    if question.one_of and not any(said.names.get(one) for one in question.one_of):
        missing.append(" or ".join(question.one_of))
    if question.pair and not any(len(said.names.get(one, ())) == 2 for one in question.pair):
        missing.append("two of a kind")
    if question.timed == "pair" and said.against is None:
        missing.append("two times")
    return tuple(missing)


def _refused(question: Question, said: Said) -> str:
    """What is said and ``question`` cannot be asked of; "" for nothing."""
    taken = {name for one in question.arguments for name in said.names.get(one, ())}
    for argument, names in said.names.items():
        if left := [name for name in names if name not in taken]:
            return f"{question.answers!r} cannot be asked of one {argument}: {_listed(left)}"
        most = 2 if argument in question.pair else 1
        if argument in question.arguments and len(names) > most:
            return f"it can be asked of one {argument} at a time: {_listed(names)}"
    orders = [ORDERS[order] for one, order in _ORDERED.items() if one in said.concepts]
    if len(orders) > 1:
        return f"I put one thing first, and not {' and '.join(orders)}"
    period = said.period
    if said.against is not None and question.timed != "pair":
        return f"{question.answers!r} cannot be asked of two times: {said.against.said}"
    if period is not None and question.timed == "no":
        return f"{question.answers!r} cannot be asked of a time: {period.said}"
    if period is not None and period.until is not None and question.timed == "since":
        return f"{question.answers!r} has no end of time: say since when, not {period.said}"
    return ""


def _choices(question: Question, said: Said) -> dict[str, str]:
    """What is said of the question's own slots, each by the first word of it that is there."""
    found = {}
    for slot, meanings in question.choices.items():
        value = next(
            (
                value
                for concept, value in meanings.items()
                if not concept or concept in said.concepts
            ),
            None,
        )
        if value is not None:
            found[slot] = value
    return found


def _with_places(text: str, given: Mapping[str, Sequence[str]]) -> tuple[str, list[str]]:
    """``text`` with ``<0>`` for each name, however it is written in it, since a name is no word of
    the question; and the names, by their numbers."""
    names = {name for found in given.values() for name in found}
    placed: list[str] = []
    for name in sorted(names, key=lambda one: (-len(one), one)):
        pattern = "|".join(_written(name))
        if pattern:
            changed = re.sub(rf"(?<![\w.@-])(?:{pattern})(?![\w@-])", f" <{len(placed)}> ", text)
            if changed != text:
                text = changed
                placed.append(name)
    return text, placed


def _written(name: str) -> Iterable[str]:
    """Patterns of how ``name`` may be written, the longest first."""
    for form in forms_of(name):
        words = [re.escape(word) for word in re.split(r"[\s._:-]+", form) if word]
        if words and len(form) > 2:
            yield r"[\s._:-]+".join(words)
    if version := version_of(name):
        # Names are looked for only where they are meant: then its number alone is the version.
        yield rf"(?:versions? |v\.?)?{re.escape(version)}"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)
