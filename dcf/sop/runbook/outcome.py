"""What a draft came to, as data with the lines of the source: for programs, and for scoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.sop.direction import Continue, Direction, Finish, GoTo, Stop
from dcf.sop.runbook.conditions import read_decision
from dcf.sop.runbook.drafted import Draft, Sentence
from dcf.sop.runbook.ends import hands_over, is_helpless
from dcf.sop.runbook.jumps import repeats, step_jump
from dcf.sop.runbook.loops import read_until
from dcf.sop.runbook.numbering import ENDED
from dcf.sop.step import YES_OR_NO, Step


def outcome(draft: Draft) -> dict[str, Any]:
    """``sentences`` with their places; ``steps``, ``branches``, ``jumps``, ``loops``, ``ends``,
    ``approvals`` and ``inputs``, each with ``line`` and ``last_line``. A step that ``asks`` only
    says when others are done: what the text has of it is a branch."""
    lasts = _lasts(draft.sentences)
    steps = list(draft.sop.all_steps())
    following = {
        id(step): listed[at + 1] if at + 1 < len(listed) else None
        for listed in _lists(draft.sop.steps)
        for at, step in enumerate(listed)
    }
    asked = {step.number: step.title for step in steps if step.choices}
    handing = {one.number: one for one in steps if hands_over(one.title)}
    over = {one.line for one in draft.sentences if hands_over(one.text)}
    wide = {*asked, *(one.number.rpartition(".")[0] for one in steps)}
    lines = {one.number: one.line for one in steps}
    ways = _Ways(following, lasts, handing, over, lines, wide)
    conditions = _conditions(steps, draft.sentences)
    branches: list[dict[str, Any]] = []
    jumps: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    loops = [_lines(one.line, lasts) for one in steps if one.kind == "loop" or one.retries]
    until = [one for one in draft.sentences if read_until(one.text) or _repeats(one.text)]
    again = {one.line for one in until}
    back = {one.line for one in until if step_jump(one.text) or _repeats(one.text)}
    for step in steps:
        if step.line in again and step.choices:
            loops.append(_lines(step.line, lasts))
            led = (*(one.then for one in step.branches), step.then)
            jumps += [
                ways.way(then, step, step.line)
                for then in led
                if isinstance(then, GoTo) and step.line in back
            ]
        elif step.choices or step.branches:
            for then, line in (*((one.then, one.line) for one in step.branches),):
                branches.append(ways.way(then, step, line or step.line))
            line = getattr(step.then, "line", 0)
            # What is done in no case is told where the text says it, or where it does not go on.
            told = line or (set(step.choices) <= YES_OR_NO and not ways.goes_on(step))
            if step.branches and told and not isinstance(step.then, Continue):
                branches.append(ways.way(step.then, step, line or step.line))
        elif isinstance(step.then, GoTo):
            line = step.then.line or step.line
            jumps.append(ways.way(step.then, step, line))
        ends += _ends(step, lasts, asked)
    # Where others take over at another place, the sentence that leads there ends the work here.
    ends += [
        {"line": one["line"], "last_line": one["last_line"], "outcome": "escalated"}
        for one in branches
        if one["to"] == "escalate" and one["line"] in over
    ]
    ends += [
        {**_lines(step.line, lasts), "outcome": "escalated"}
        for number, step in handing.items()
        if number.rpartition(".")[0] in asked and not isinstance(step.then, Finish | Stop)
    ]
    return {
        "sentences": [_sentence(one) for one in draft.sentences],
        "steps": [{**step_lines(step, lasts), "asks": step.number in conditions} for step in steps],
        "branches": branches,
        "jumps": jumps,
        "loops": loops,
        "ends": ends,
        "approvals": [
            {**_lines(one.line, lasts), "who": ", ".join(one.approval.by) or None}
            for one in steps
            if one.approval is not None
        ],
        "inputs": [{**_lines(one.line, lasts), "name": one.name} for one in draft.sop.inputs],
    }


def _repeats(text: str) -> bool:
    """Whether earlier steps are done again, in any case."""
    return repeats(text) and read_decision(text) is None


def step_lines(step: Step, lasts: dict[int, int]) -> dict[str, Any]:
    how = "executable" if step.kind in ("wait", "approval", "loop", "end", "decision") else "manual"
    return {**_lines(step.line, lasts), "number": step.number, "kind": step.kind, "how": how}


def _conditions(steps: Sequence[Step], sentences: Sequence[Sentence]) -> set[str]:
    """The numbers of decisions that only say when the steps inside of them are done: the text has
    a condition there, ``If it is full, empty it``, and nothing that tells to look."""
    places = {(one.step, one.place) for one in sentences}
    inside = {(one.number.rpartition(".")[0], one.line) for one in steps}
    around = {number for number, _ in inside}
    said = {one for one in around if (one, "condition") in places and (one, "step") not in places}
    in_one = {one.number for one in steps if one.choices and (one.number, one.line) in inside}
    return said | in_one


def _lasts(sentences: tuple[Sentence, ...]) -> dict[int, int]:
    """The last line of the first sentence that begins on a line."""
    found: dict[int, int] = {}
    for one in sentences:
        found.setdefault(one.line, one.last_line)
    return found


def _lines(line: int, lasts: dict[int, int]) -> dict[str, int]:
    return {"line": max(line, 1), "last_line": max(lasts.get(line, line), line, 1)}


def _sentence(one: Sentence) -> dict[str, Any]:
    return {
        "line": one.line,
        "last_line": one.last_line,
        "text": one.text,
        "place": one.place,
        "step": one.step,
    }


@dataclass(frozen=True, slots=True)
class _Ways:
    """``following`` are the steps behind steps, ``handing`` those by which somebody else takes
    over, ``over`` the lines that say that somebody does, ``lines`` those of all steps,
    ``wide`` those that ask something or have others inside."""

    following: dict[int, Step | None]
    lasts: dict[int, int]
    handing: dict[str, Step]
    over: set[int]
    lines: dict[str, int]
    wide: set[str]

    def goes_on(self, step: Step) -> bool:
        """Whether ``step`` leads to what stands behind it and all that is inside of it."""
        behind = self.following[id(step)]
        while behind is not None and behind.number.startswith(f"{step.number}."):
            behind = self.following[id(behind)]
        if isinstance(step.then, GoTo):
            return behind is not None and step.then.step == behind.number
        return isinstance(step.then, Continue)

    def way(self, then: Direction, step: Step, line: int) -> dict[str, Any]:
        """Where ``then`` leads: a step's number, the end, or to somebody else, where that is said
        elsewhere."""
        said = _lines(line, self.lasts)
        to = "end"
        if isinstance(then, GoTo):
            to = then.step
        elif isinstance(then, Continue) and (behind := self.following[id(step)]) is not None:
            to = behind.number
        if to != "end" and self._takes_over(to, said, inside=to.startswith(f"{step.number}.")):
            to = "escalate"
        return {**said, "to": to, "step": step.number}

    def _takes_over(self, to: str, said: dict[str, int], inside: bool) -> bool:
        """Whether somebody else does all that follows: the last step of the case, told elsewhere,
        or all of another place, where the lines of ``said`` call it so."""
        handing = self.handing.get(to) if inside else None
        if handing is not None and handing.line == said["line"]:
            return False
        if handing is not None and isinstance(handing.then, Finish):
            return True
        within = said["line"] <= self.lines[to] <= said["last_line"]
        return said["line"] in self.over and to in self.wide and not within


def _ends(step: Step, lasts: dict[int, int], asked: dict[str, str]) -> Iterator[dict[str, Any]]:
    ways = [(one.then, one.line) for one in step.branches] + [(step.then, step.line)]
    for then, line in ways:
        if isinstance(then, Stop) and then.error != ENDED:
            yield {**_lines(then.line or line or step.line, lasts), "outcome": "failed"}
        elif isinstance(then, Stop) or (isinstance(then, Finish) and then.of_procedure):
            others = hands_over(step.title) or is_helpless(
                asked.get(step.number.rpartition(".")[0], "")
            )
            kind = "escalated" if others else "ok"
            yield {**_lines(line or step.line, lasts), "outcome": kind}


def _lists(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    yield steps
    for step in steps:
        if step.steps:
            yield from _lists(step.steps)
        for lane in step.lanes:
            yield from _lists(lane.steps)
