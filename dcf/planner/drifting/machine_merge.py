"""The machine of a new text with what was edited in the old one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.planner.drifting.flat_machine import FlatMachine, Home, State, targets
from dcf.planner.drifting.step_changes import StepChange
from dcf.planner.drifting.three_way import MISSING, UNKNOWN, Side, merged

_LISTED_WAYS = ("Choices", "Catch")
_ONWARD = ("Next", "Default", "End")


@dataclass(frozen=True, slots=True)
class Takes:
    """Which side is taken in a conflict: ``every`` one without an answer in ``by_key``."""

    every: Side | None = None
    by_key: Mapping[str, Side] = field(default_factory=dict)

    def side(self, key: str) -> Side | None:
        return self.by_key.get(key, self.every)


NO_TAKES = Takes()


@dataclass(frozen=True, slots=True)
class Conflict:
    """``key`` names it: the number of a step of the new text, ``old-3`` for step 3 of the old one
    that is gone, or the name of a state or of a member of the document. ``take`` is its answer;
    ``states`` are those that it is about, ``change`` is what the text says of the step."""

    key: str
    take: Side | None
    states: tuple[str, ...] = ()
    change: StepChange | None = None

    def about(self, change: StepChange | None) -> Conflict:
        return replace(self, change=change)

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "take": self.take,
            "states": list(self.states),
            "change": self.change.to_json() if self.change else None,
        }


@dataclass
class MachineMerge:
    """Three versions of one machine, states by the names of ``theirs``. ``steps`` has the key of a
    conflict by state, ``changed`` the keys of steps that both sides changed, whatever the states
    say."""

    base: FlatMachine
    mine: FlatMachine
    theirs: FlatMachine
    unknown: frozenset[str]
    steps: Mapping[str, str]
    changed: frozenset[str]
    takes: Takes
    conflicts: dict[str, Conflict] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Edits that nothing leads to any more, since the source was taken."""

    def machine(self) -> State:
        """The machine that comes of it, with what is said of conflicts in ``conflicts``."""
        states: dict[str, State] = {}
        mine = self.mine.states
        stay = [name for name in mine if name not in self.theirs.states and self._stays(name)]
        there = {*self.theirs.states, *stay}
        for name, state in self.theirs.states.items():
            found = self._there(name, state, there)
            if found is not None:
                states[name] = found
        states |= {name: mine[name] for name in stay}
        homes = self._homes(states)
        flat = FlatMachine(states, homes, self._shells(states))
        self._drop_unled(flat)
        return flat.machine()

    def _there(self, name: str, theirs: State, there: Collection[str]) -> State | None:
        """A state that the new text has; None where it was taken out by hand. ``there`` are the
        names of all states that one can lead to."""
        base, mine = self._base(name), self.mine.states.get(name)
        if base is MISSING and mine is None:
            return theirs
        key = self.steps.get(name, name)
        take = self.takes.side(key)
        both_changed = key in self.changed and mine != theirs
        if mine is None:
            if base == theirs and not both_changed:
                return None
            self._ask(key, name)
            return theirs if take == "source" else None
        part = merged(base, mine, theirs, take or "workflow")
        if part.conflicts or (both_changed and base != mine):
            self._ask(key, name)
        if not both_changed:
            return dict(part.value)
        return theirs if take == "source" else _kept(mine, part.value, theirs, there)

    def _base(self, name: str) -> Any:
        return UNKNOWN if name in self.unknown else self.base.states.get(name, MISSING)

    def _stays(self, name: str) -> bool:
        """Whether a state that the new text does not have is kept."""
        base = self._base(name)
        if base is MISSING:
            self.added.append(name)
            return True
        if base == self.mine.states[name]:
            return False
        key = self.steps.get(name, name)
        self._ask(key, name)
        return self.takes.side(key) != "source"

    def _ask(self, key: str, state: str) -> None:
        found = self.conflicts.get(key, Conflict(key, self.takes.side(key)))
        self.conflicts[key] = replace(found, states=(*found.states, state))

    def _homes(self, states: Mapping[str, State]) -> dict[str, Home]:
        """Where each state stands: one of the new text as there, another one behind the state that
        it stood behind."""
        homes = {name: home for name, home in self.theirs.homes.items() if name in states}
        order = list(homes)
        before: str | None = None
        for name in self.mine.homes:
            if name in states and name not in homes:
                homes[name] = self.mine.homes[name]
                order.insert(order.index(before) + 1 if before in order else 0, name)
            if name in states:
                before = name
        return {name: homes[name] for name in order}

    def _shells(self, states: Mapping[str, State]) -> dict[Home, State]:
        found: dict[Home, State] = {}
        for home, shell in self.theirs.shells.items():
            if home.parent and home.parent not in states:
                continue
            key = self.steps.get(home.parent, home.parent or "machine")
            was, here = (one.shells.get(home) for one in (self.base, self.mine))
            if was is None or here is None:
                found[home] = shell
                continue
            part = merged(was, here, shell, self.takes.side(key) or "workflow")
            found[home] = part.value
            if part.conflicts:
                self._ask(key, home.parent)
        for home, shell in self.mine.shells.items():
            if (
                home not in found
                and home.parent in states
                and home.parent not in self.theirs.states
            ):
                found[home] = shell
        return found

    def _drop_unled(self, flat: FlatMachine) -> None:
        """Take out states added by hand that only led on from what the source replaced."""
        taken = any(one.take == "source" for one in self.conflicts.values())
        while taken:
            led = {
                target
                for part in (*flat.states.values(), *flat.shells.values())
                for target in targets(part)
            }
            unled = [name for name in self.added if name in flat.states and name not in led]
            if not unled:
                return
            for name in unled:
                del flat.states[name], flat.homes[name]
                self.dropped.append(name)


def _kept(mine: State, value: Mapping[str, Any], theirs: State, there: Collection[str]) -> State:
    """A state as it is in the workflow; where it leads on follows the new text (``value``), and
    conditions do where theirs lead to what is not ``there`` any more."""
    kept = {name: part for name, part in mine.items() if name not in _ONWARD}
    kept |= {name: value[name] for name in _ONWARD if name in value}
    for name in _LISTED_WAYS:
        if any(target not in there for one in mine.get(name, ()) for target in targets(one)):
            kept.pop(name)
            kept |= {name: theirs[name]} if name in theirs else {}
    return kept
