"""The story of a run: what of its history is worth telling, gathered event by event."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from control_plane import HistoryEvent, RunDocument, split_path

# What may be told of a name that a tool or a model chose: one that looks like a name.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z_.:-]{0,79}")


@dataclass(slots=True)
class Call:
    """Calls of one tool in one state."""

    path: str
    skills: tuple[str, ...]
    risk: str


@dataclass(slots=True)
class RunStory:
    """A run, event by event. States are called by their names and those around them; instances of
    one state in a Map are one."""

    run: RunDocument
    definition: Mapping[str, Any]
    chosen: dict[tuple[str, str], str] = field(default_factory=dict)
    """(Choice, where it went) → path."""
    helped: dict[tuple[str, str], str] = field(default_factory=dict)
    """(state, error that a retry got over) → path."""
    caught: dict[tuple[str, str, str], tuple[str, bool]] = field(default_factory=dict)
    """(state, error, where that led) → path, and whether it was retried."""
    failed: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    """(state, error) → path, and whether it was retried; the last one comes last."""
    refused: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """(state, tool, rule) → path."""
    rejected: dict[tuple[str, str], list[tuple[str, str, str]]] = field(default_factory=dict)
    """(state, tool that a person was asked for and refused) → (path, who, why) of each time."""
    calls: dict[tuple[str, str], Call] = field(default_factory=dict)
    done: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Path of a Task → its visits, each with the digest of its output."""
    came_from: dict[str, str] = field(default_factory=dict)
    """Path → the path before it."""
    changed: dict[str, str] = field(default_factory=dict)
    """State that answered the same input differently → path."""
    files: list[str] = field(default_factory=list)
    at: dict[str, int] = field(default_factory=dict)
    """Path → when something happened there last."""
    _retrying: dict[str, list[str]] = field(default_factory=dict)
    _asked: dict[str, str] = field(default_factory=dict)
    _names: frozenset[str] = frozenset()
    _order: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = frozenset(_error_names(self.definition))
        labels = _labels(self.definition, "")
        self._order = {label: number for number, label in enumerate(labels)}

    def add(self, told: HistoryEvent) -> None:
        """The next event."""
        event = told.event
        kind, path = str(event.get("type") or ""), str(event.get("path") or "")
        if not path:
            return
        self.at[path] = told.at
        if kind == "RetryScheduled":
            self._retrying.setdefault(path, []).append(self._name(event.get("error")))
        elif kind == "StateDone":
            self._add_done(path, event)
        elif kind == "StateFailed":
            key = (label_of(path), self._name(event.get("error")))
            # Again at the end: what ended the run is the last.
            self.failed.pop(key, None)
            self.failed[key] = (path, bool(self._retrying.pop(path, ())))
        elif kind == "ToolDecision":
            self._add_call(path, event)
        elif kind == "ApprovalDecided" and event.get("decision") == "reject" and event.get("by"):
            # Without a name nobody answered in time.
            tool = self._asked.get(str(event.get("digest")), "a call")
            said = (path, str(event.get("by") or ""), str(event.get("reason") or ""))
            self.rejected.setdefault((label_of(path), tool), []).append(said)

    def _add_done(self, path: str, event: Mapping[str, Any]) -> None:
        label, target = label_of(path), str(event.get("next") or "")
        retried = self._retrying.pop(path, [])
        kind = self.state(path).get("Type")
        if target:
            self.came_from[target] = path
        if event.get("caught") is not None:
            key = (label, self._name(event["caught"]), label_of(target))
            self.caught.setdefault(key, (path, bool(retried)))
            return
        for error in retried:
            self.helped.setdefault((label, error), path)
        if kind == "Choice" and target:
            self.chosen.setdefault((label, label_of(target).rpartition("/")[2]), path)
        elif kind == "Task":
            self.done.setdefault(path, []).append(
                (int(event.get("visit") or 1), str(event.get("output")))
            )

    def _add_call(self, path: str, event: Mapping[str, Any]) -> None:
        tool = str(event.get("tool"))
        if event.get("verdict") == "deny":
            # It may be called anything: nothing declares it.
            tool = tool if _PLAIN.fullmatch(tool) else "a tool without a plain name"
            self.refused.setdefault((label_of(path), tool, str(event.get("rule"))), path)
        elif event.get("verdict") == "ask":
            # The gate asks for calls of declared tools alone.
            self._asked[str(event.get("arguments"))] = tool
        elif event.get("verdict") == "allow":
            skills = tuple(map(str, event.get("skills") or ()))
            call = Call(path, skills, str(event.get("risk")))
            self.calls.setdefault((label_of(path), tool), call)

    def place(self, label: str) -> int:
        """Where a state stands in its definition. Instances of it end in any order, so what is told
        does not go by theirs."""
        return self._order.get(label, 0)

    def state(self, path: str) -> Mapping[str, Any]:
        """The definition of the state at ``path``, empty where it has none."""
        machine: Any = self.definition
        state: Any = {}
        for step in split_path(path):
            if isinstance(step, str):
                state = (machine.get("States") or {}).get(step) or {}
                machine = state.get("ItemProcessor") or state.get("Iterator") or {}
            elif state.get("Branches"):
                machine = state["Branches"][step] if step < len(state["Branches"]) else {}
        return state if isinstance(state, Mapping) else {}

    def _name(self, said: object) -> str:
        text = str(said or "")
        return text if text in self._names else plain_error(text)


def plain_error(name: str) -> str:
    """What may be told of the name of an error that a tool or a model may have made up."""
    return name if _PLAIN.fullmatch(name) else "an error without a plain name"


def label_of(path: str) -> str:
    """A state by its names, the same for all instances of it: ``Fan[2]/Pay`` is ``Fan/Pay``."""
    return "/".join(step for step in split_path(path) if isinstance(step, str))


def _labels(machine: Mapping[str, Any], around: str) -> Iterator[str]:
    """The states of a machine, and those inside them, in its order."""
    for name, state in (machine.get("States") or {}).items():
        yield f"{around}{name}"
        inner = [state.get("ItemProcessor") or state.get("Iterator") or {}]
        for one in [*inner, *(state.get("Branches") or ())]:
            yield from _labels(one, f"{around}{name}/")


def _error_names(part: Any) -> Iterator[str]:
    """The names of errors that a definition has."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            if name == "Error" and isinstance(value, str):
                yield value
            elif name == "ErrorEquals" and isinstance(value, list):
                yield from filter(lambda one: isinstance(one, str), value)
            else:
                yield from _error_names(value)
    elif isinstance(part, list):
        for value in part:
            yield from _error_names(value)
