"""A machine with the machines inside it as one flat list of states, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

State = dict[str, Any]
_SOLE = ("ItemProcessor", "Iterator")


class Home(NamedTuple):
    """The machine that a state stands in: ``number`` of those in the member ``field`` of the state
    ``parent``; the outermost one is ``OUTERMOST``."""

    parent: str = ""
    field: str = ""
    number: int = 0


OUTERMOST = Home()


@dataclass(frozen=True, slots=True)
class FlatMachine:
    """``states`` by name, in order, without the machines inside them; ``homes`` where each stands;
    ``shells`` what each machine says beside its states."""

    states: dict[str, State] = field(default_factory=dict)
    homes: dict[str, Home] = field(default_factory=dict)
    shells: dict[Home, State] = field(default_factory=dict)

    @staticmethod
    def of(machine: Mapping[str, Any]) -> FlatMachine:
        """``machine``, a valid one: names of states are there once."""
        flat = FlatMachine()
        flat._take(machine, OUTERMOST)
        return flat

    def _take(self, machine: Mapping[str, Any], home: Home) -> None:
        self.shells[home] = {name: part for name, part in machine.items() if name != "States"}
        for name, state in machine["States"].items():
            self.homes[name] = home
            self.states[name] = {
                member: part for member, part in state.items() if not _is_inside(member, part)
            }
            for member in _SOLE:
                if _is_inside(member, state.get(member)):
                    self._take(state[member], Home(name, member))
            for number, branch in enumerate(state.get("Branches", ())):
                self._take(branch, Home(name, "Branches", number))

    def renamed(self, names: Mapping[str, str]) -> FlatMachine:
        """The same with other names of states, where they are referred to as well."""

        def new(name: str) -> str:
            return names.get(name, name)

        return FlatMachine(
            {new(name): _rewired(state, new) for name, state in self.states.items()},
            {new(name): one._replace(parent=new(one.parent)) for name, one in self.homes.items()},
            {
                home._replace(parent=new(home.parent)): _rewired(shell, new)
                for home, shell in self.shells.items()
            },
        )

    def machine(self, home: Home = OUTERMOST) -> State:
        """The machine at ``home``, with those inside it."""
        states: State = {}
        for name in (name for name, one in self.homes.items() if one == home):
            inside = [one for one in self.shells if one.parent == name]
            state = states[name] = dict(self.states[name])
            for one in sorted(inside):
                made = self.machine(one)
                if one.field == "Branches":
                    state.setdefault("Branches", []).append(made)
                else:
                    state[one.field] = made
        return {**self.shells[home], "States": states}


def targets(part: Mapping[str, Any]) -> Iterator[str]:
    """The names of the states that a state or a shell leads to."""
    for member in ("Next", "Default", "StartAt"):
        if isinstance(part.get(member), str):
            yield part[member]
    for member in ("Choices", "Catch"):
        for one in part.get(member, ()):
            yield from targets(one)


def _rewired(part: Mapping[str, Any], new: Callable[[str], str]) -> State:
    made = dict(part)
    for member in ("Next", "Default", "StartAt"):
        if isinstance(made.get(member), str):
            made[member] = new(made[member])
    for member in ("Choices", "Catch"):
        if isinstance(made.get(member), list):
            made[member] = [_rewired(one, new) for one in made[member]]
    return made


def _is_inside(member: str, part: Any) -> bool:
    if member == "Branches":
        return isinstance(part, list)
    return member in _SOLE and isinstance(part, Mapping) and "States" in part
