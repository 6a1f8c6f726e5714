"""Each sentence of a procedure's text beside the states that it became."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

from dcf.diagram import Edge, Machine, all_nodes, read_chart
from dcf.planner.comparing.step_match import Told, matched
from dcf.planner.compiling.state_names import state_name
from dcf.planner.decompiling.state_words import words_of
from dcf.planner.states_digest import all_states, states_digest
from dcf.sop import Draft, Sentence, Sop, Step, Stop, parse_markdown

Origin = Literal["same", "other", "none"]
"""Whether the workflow was compiled from these steps, from other ones (an earlier text, or another
one), or keeps no steps: then they are compared by what its states are called and told."""

Role = Literal["step", "frame", "loose"]
"""A state of a step; one that begins or ends a list of steps (a failure has the step that leads to
it); one that no sentence stands for."""

_NUMBERED = re.compile(r"\d*$")


@dataclass(frozen=True, slots=True)
class SeenState:
    """``does`` is what it does in a few words, beside its type; ``step`` the number of its step in
    the text; ``edited``: somebody changed its step's states since they were compiled."""

    name: str
    type: str
    does: str
    role: Role
    step: str | None = None
    edited: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.name,
            "type": self.type,
            "does": self.does,
            "role": self.role,
            "step": self.step,
            "edited": self.edited,
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Sentences that follow each other and belong to one step, or (``step`` None) to the whole
    procedure; ``states`` are those of the step. ``again``: a part before it has shown them."""

    step: str | None
    title: str
    sentences: tuple[Sentence, ...]
    states: tuple[SeenState, ...]
    again: bool = False

    def is_open(self, sentence: Sentence) -> bool:
        """Whether ``sentence`` has no counterpart: it was not understood, or says what to do and no
        state does it."""
        if sentence.place == "question":
            return True
        return sentence.place in ("step", "condition") and not self.states


@dataclass(frozen=True)
class SideBySide:
    """``states`` are all of the workflow, in its order."""

    title: str
    origin: Origin
    parts: tuple[Part, ...]
    states: tuple[SeenState, ...]

    @cached_property
    def sentences(self) -> int:
        return sum(len(part.sentences) for part in self.parts)

    @cached_property
    def open(self) -> tuple[Sentence, ...]:
        """The sentences that have no counterpart."""
        return tuple(one for part in self.parts for one in part.sentences if part.is_open(one))

    @property
    def unclear(self) -> int:
        """How many sentences were not understood."""
        return sum(one.place == "question" for one in self.open)

    @property
    def loose(self) -> tuple[SeenState, ...]:
        """The states that no sentence stands for."""
        return tuple(one for one in self.states if one.role == "loose")

    @property
    def frame(self) -> tuple[SeenState, ...]:
        """The states that belong to the whole procedure."""
        return tuple(one for one in self.states if one.role == "frame" and one.step is None)

    @property
    def edited(self) -> int:
        return sum(one.edited for one in self.states)

    @property
    def percent(self) -> int:
        """Of the sentences that have a counterpart, rounded down: 100 means all."""
        done = self.sentences - len(self.open)
        return 100 * done // self.sentences if self.sentences else 0

    @property
    def states_percent(self) -> int:
        """Of ``of_steps`` the share that a sentence stands for, rounded down."""
        done = self.of_steps - len(self.loose)
        return 100 * done // self.of_steps if self.of_steps else 0

    @property
    def of_steps(self) -> int:
        """How many states do, or decide, something: all but those of the whole procedure."""
        return len(self.states) - len(self.frame)

    def to_json(self) -> dict[str, Any]:
        return {
            "origin": self.origin,
            "sentences_percent": self.percent,
            "states_percent": self.states_percent,
            "counts": {
                "sentences": self.sentences,
                "sentences_open": len(self.open),
                "sentences_not_understood": self.unclear,
                "states": len(self.states),
                "states_of_steps": self.of_steps,
                "states_loose": len(self.loose),
                "states_edited": self.edited,
            },
            "parts": [
                {
                    "step": part.step,
                    "title": part.title,
                    "again": part.again,
                    "sentences": [_sentence(one, part) for one in part.sentences],
                    "states": [one.name for one in part.states],
                }
                for part in self.parts
            ],
            "states": [one.to_json() for one in self.states],
        }


def side_by_side(draft: Draft, document: Mapping[str, Any]) -> SideBySide:
    """The sentences of ``draft`` beside the states of ``document``, a workflow document or plain
    ASL."""
    definition = document.get("asl", document)
    states = all_states(definition)
    known = _Known.of(document.get("plan"), states)
    told = [Told(step.number, step.title, step.text) for step in draft.sop.all_steps()]
    origin, by_state = _steps_of_states(told, known, states)
    edited = known.edited if known else frozenset()
    seen = tuple(_seen(document, states, by_state, known, edited))
    of_step: dict[str, list[SeenState]] = {}
    for one in seen:
        if one.step is not None:
            of_step.setdefault(one.step, []).append(one)
    titles = {step.number: step.title for step in draft.sop.all_steps()}
    return SideBySide(draft.sop.title, origin, tuple(_parts(draft, titles, of_step)), seen)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the plan of a document says of its states. ``endings`` are the names, without numbers
    behind them, of the states in which its steps fail."""

    told: tuple[Told, ...]
    edited: frozenset[str]
    endings: frozenset[str]

    @staticmethod
    def of(plan: Any, states: Mapping[str, Mapping[str, Any]]) -> _Known | None:
        text = plan.get("sop") if isinstance(plan, Mapping) else None
        sop = parse_markdown(text, "plan").sop if isinstance(text, str) else None
        if sop is None:
            return None
        entries = {
            one["step"]: one
            for one in plan.get("steps", ())
            if isinstance(one, Mapping) and isinstance(one.get("step"), str)
        }
        told, edited = list[Told](), set[str]()
        before: Step | None = None
        for step in sop.all_steps():
            entry = entries.get(step.number, {})
            names = tuple(name for name in entry.get("states", ()) if name in states)
            if _is_rest(step, before):
                # A task that a person approves, and then a person does: one step of the text.
                told[-1] = replace(told[-1], states=told[-1].states + names)
            else:
                told.append(Told(step.number, step.title, step.text, names))
            before = step
            if entry.get("digest") != states_digest(entry.get("states", ()), states):
                edited |= set(names)
        return _Known(tuple(told), frozenset(edited), frozenset(_endings(sop)))


def _is_rest(step: Step, before: Step | None) -> bool:
    """Whether ``step`` is what a person does of the step whose approval is ``before``."""
    parent = step.number.rpartition(".")[0]
    return (
        before is not None
        and (before.kind, step.kind) == ("approval", "manual")
        and (before.number, before.title) == (parent, step.title)
    )


def _endings(sop: Sop) -> Iterator[str]:
    for step in sop.all_steps():
        yield state_name(f"{step.title} failed")
        for then in _directions(step):
            if isinstance(then, Stop) and then.error:
                yield state_name(then.error)


def _directions(step: Step) -> Iterator[object]:
    yield step.then
    yield from (one.then for one in step.branches)
    yield from (one.then for one in step.handlers)


def _steps_of_states(
    told: list[Told], known: _Known | None, states: Mapping[str, Mapping[str, Any]]
) -> tuple[Origin, dict[str, str]]:
    """The number of the step in the text by the name of a state."""
    there = list(known.told) if known else list(_called(states))
    places = matched(there, told)
    found = {name: told[place].number for place, at in places.items() for name in there[at].states}
    if known is None:
        return "none", found
    alike = [(one.number, one.title) for one in there] == [(one.number, one.title) for one in told]
    return "same" if alike else "other", found


def _called(states: Mapping[str, Mapping[str, Any]]) -> Iterator[Told]:
    for name, state in states.items():
        title, text = words_of(name, state, "task")
        yield Told("", title, text, (name,))


def _seen(
    document: Mapping[str, Any],
    states: Mapping[str, Mapping[str, Any]],
    by_state: Mapping[str, str],
    known: _Known | None,
    edited: frozenset[str],
) -> Iterator[SeenState]:
    chart = read_chart(dict(document)).machine
    does = {node.name: node.note for node in all_nodes(chart)}
    led: dict[str, list[str]] = {}
    for edge in _edges(chart):
        if edge.target is not None:
            led.setdefault(edge.target, []).append(edge.source)
    for name, state in states.items():
        kind = str(state.get("Type", ""))
        step = by_state.get(name)
        role: Role = "step" if step else "frame" if _is_frame(name, state, known) else "loose"
        if role == "frame" and kind == "Fail":
            step = next((by_state[one] for one in led.get(name, ()) if one in by_state), None)
            role = "frame" if step else "loose"
        told = does.get(name, "").removeprefix(kind).removeprefix(" · ")
        yield SeenState(name, kind, told, role, step, name in edited)


def _edges(machine: Machine) -> Iterator[Edge]:
    yield from machine.edges
    for node in machine.nodes:
        for inner in node.machines:
            yield from _edges(inner)


def _is_frame(name: str, state: Mapping[str, Any], known: _Known | None) -> bool:
    """Whether a state begins or ends a list of steps: it takes inputs, or gives outputs, or is the
    failure that a step of the procedure names."""
    kind = state.get("Type")
    if kind == "Pass":
        return "Assign" in state and state.get("Output") == {}
    if kind == "Succeed":
        return not state.get("Comment")
    is_known = known is None or _NUMBERED.sub("", name) in known.endings or name in known.endings
    return kind == "Fail" and not state.get("Comment") and is_known


def _parts(
    draft: Draft, titles: Mapping[str, str], of_step: Mapping[str, list[SeenState]]
) -> Iterator[Part]:
    shown: set[str] = set()
    for number, group in groupby(draft.sentences, key=lambda one: one.step):
        states = tuple(of_step.get(number, ())) if number else ()
        title = titles.get(number, "") if number else ""
        yield Part(number, title, tuple(group), states, number in shown)
        if number:
            shown.add(number)


def _sentence(one: Sentence, part: Part) -> dict[str, Any]:
    return {
        "line": one.line,
        "last_line": one.last_line,
        "text": one.text,
        "place": one.place,
        "open": part.is_open(one),
    }
