"""The transitions of one machine: dangling targets, unreachable states, missing ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dcf.asl.fields import closest_hint
from dcf.asl.findings import child
from dcf.asl.node import Node
from dcf.asl.payload import JSON


def check_transitions(
    machine: Node, states: dict[str, Node], known: Collection[str], start_at: str | None
) -> None:
    """Report what is wrong with the transitions between ``states``.

    ``known`` has the names of all states, those included that are too broken to read.
    """
    edges = {name: list(_targets(state)) for name, state in states.items()}
    for targets in edges.values():
        _check_targets(machine, targets, known)
    if start_at is not None and start_at not in known:
        message = f"`StartAt` names `{start_at}`, which is not in `States`"
        machine.error("ASL_UNKNOWN_STATE", "StartAt", message, closest_hint(start_at, known))
    names = {name: {target for _, target in targets} for name, targets in edges.items()}
    if start_at in states:
        _check_reachable(states, names, start_at)
    _check_ends(machine, states, names)


def _targets(state: Node) -> Iterator[tuple[str, str]]:
    """Every (place, state name) that this state may go to."""
    value = state.value
    if isinstance(value.get("Next"), str):
        yield state.place("Next"), value["Next"]
    if isinstance(value.get("Default"), str):
        yield state.place("Default"), value["Default"]
    for field in ("Choices", "Catch"):
        entries: JSON = value.get(field)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get("Next"), str):
                yield child(state.place(field), index, "Next"), entry["Next"]


def _check_targets(
    machine: Node, targets: Iterable[tuple[str, str]], known: Collection[str]
) -> None:
    for place, target in targets:
        if target and target not in known:
            message = f"there is no state `{target}` in this machine"
            machine.findings.error("ASL_UNKNOWN_STATE", place, message, closest_hint(target, known))


def _check_reachable(states: dict[str, Node], names: dict[str, set[str]], start_at: str) -> None:
    reached = _closure({start_at}, names)
    for name, state in states.items():
        if name not in reached:
            hint = "let another state's `Next`, `Default`, `Choices` or `Catch` name it"
            state.error("ASL_UNREACHABLE_STATE", "", f"no transition leads to `{name}`", hint)


def _check_ends(machine: Node, states: dict[str, Node], names: dict[str, set[str]]) -> None:
    if not states:
        return
    ends = {name for name, state in states.items() if _is_end(state, names[name], states)}
    if not ends:
        hint = "give one state `End: true`, or add a Succeed or Fail state"
        machine.error("ASL_NO_TERMINAL_STATE", "States", "no state ends this machine", hint)
        return
    backwards: dict[str, set[str]] = {name: set() for name in states}
    for name, targets in names.items():
        for target in targets & states.keys():
            backwards[target].add(name)
    exits = _closure(ends, backwards)
    for cycle in _groups([name for name in states if name not in exits], names):
        listed = ", ".join(f"`{name}`" for name in cycle)
        machine.findings.warning(
            "ASL_CYCLE_WITHOUT_EXIT",
            states[cycle[0]].pointer,
            f"once entered, {listed} can never be left",
            "add a Choice, or a transition, that leads out",
        )


def _is_end(state: Node, targets: set[str], states: dict[str, Node]) -> bool:
    # A state that leads nowhere known has been reported already: it is no endless loop.
    if state.value.get("Type") in ("Succeed", "Fail") or state.value.get("End") is True:
        return True
    return not targets or not targets <= states.keys()


def _groups(endless: list[str], names: dict[str, set[str]]) -> Iterator[list[str]]:
    """Endless states that reach one another, as groups in order of definition."""
    rest = endless
    while rest:
        connected = _closure({rest[0]}, names)
        for name in rest[1:]:
            if name not in connected and rest[0] in _closure({name}, names):
                connected.add(name)
        yield [name for name in rest if name in connected]
        rest = [name for name in rest if name not in connected]


def _closure(start: set[str], names: dict[str, set[str]]) -> set[str]:
    reached = set(start)
    waiting = list(start)
    while waiting:
        for target in names.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached
