"""The transitions of one machine: dangling targets, unreachable states, missing ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dcf.asl.payload import JSON
from dcf.asl.reading.fields import closest_hint
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node

MOST_LOOKS = 5_000
"""Names that are looked at, over all dangling transitions of a machine, for a suggestion."""

_LISTED = 5
"""Most names of states that a message lists."""

_Targets = Mapping[str, Collection[str]]


def check_transitions(
    machine: Node, states: dict[str, Node], known: Collection[str], start_at: str | None
) -> None:
    """Report what is wrong with the transitions between ``states``.

    ``known`` has the names of all states, those included that are too broken to read. As on AWS
    only the outermost machine must have an end, and one without is not searched for states that
    nothing leads to.
    """
    edges = {name: list(transitions(state)) for name, state in states.items()}
    dangling = [edge for targets in edges.values() for edge in targets if edge[1] not in known]
    if start_at is not None and start_at not in known:
        message = f"`StartAt` names `{start_at}`, which is not in `States`"
        aws = f"Missing 'Next' target: {start_at}"
        hint = closest_hint(start_at, known)
        machine.error("ASL_UNKNOWN_STATE", "StartAt", message, hint, aws)
    _report_dangling(machine, dangling, known)
    names = {name: {target for _, target in targets} for name, targets in edges.items()}
    if states and not machine.pointer and not any(map(_ends, states.values())):
        is_broken = any(_is_broken(states[name], names[name], states) for name in states)
        tell = machine.findings.consequence if is_broken else machine.findings.error
        hint = "give one state `End: true`, or add a Succeed or Fail state"
        place = machine.place("States")
        tell("ASL_NO_TERMINAL_STATE", place, "no state ends this machine", hint, "")
        return
    if start_at is not None:
        _check_reachable(states, names, start_at)
    ends = {name for name, state in states.items() if _is_end(state, names[name], states)}
    _check_exits(machine, states, names, ends)


def transitions(state: Node) -> Iterator[tuple[str, str]]:
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


def _report_dangling(
    machine: Node, dangling: list[tuple[str, str]], known: Collection[str]
) -> None:
    most = 1 + MOST_LOOKS // max(1, len(known))
    for number, (place, target) in enumerate(dangling):
        if not target:
            continue  # reported where it stands: a name is not empty
        hint = closest_hint(target, known) if number < most else ""
        message = f"there is no state `{target}` in this machine"
        aws = f"Missing 'Next' target: {target}"
        machine.findings.error("ASL_UNKNOWN_STATE", place, message, hint, aws)


def _is_broken(state: Node, targets: Collection[str], states: Collection[str]) -> bool:
    """Whether the way on from ``state`` misses, or leads to a state that is not there."""
    if not all(target in states for target in targets):
        return True
    return not targets and not _ends(state)


def _ends(state: Node) -> bool:
    return state.value.get("Type") in ("Succeed", "Fail") or state.value.get("End") is True


def _check_reachable(states: dict[str, Node], names: _Targets, start_at: str) -> None:
    """Unreachable states are errors in AWS too: CreateStateMachine refuses them with
    MISSING_TRANSITION_TARGET (published answers from 2018 to 2025, e.g. cfn-lint issues 4073 and
    4074), and ValidateStateMachineDefinition has no warning for them."""
    reached = _closure({start_at}, names)
    # What stands behind a broken way can be reached once that is mended: one cause, told once.
    is_broken = start_at not in states or any(
        _is_broken(states[name], names[name], states) for name in reached & set(states)
    )
    for name, state in states.items():
        if name not in reached:
            hint = "name it in `Next`, `Default`, `Choices` or `Catch` of a state that is reached"
            aws = f'State "{name}" is not reachable.'
            message = f"`{name}` cannot be reached from `StartAt`"
            tell = state.findings.consequence if is_broken else state.findings.error
            tell("ASL_UNREACHABLE_STATE", state.pointer, message, hint, aws)


def _check_exits(machine: Node, states: dict[str, Node], names: _Targets, ends: set[str]) -> None:
    exits = _closure(ends, _reversed(states, names))
    endless = [name for name in states if name not in exits]
    for group in _groups(endless, names):
        listed = ", ".join(f"`{name}`" for name in group[:_LISTED])
        more = f" and {len(group) - _LISTED} more" if len(group) > _LISTED else ""
        machine.findings.warning(
            "ASL_CYCLE_WITHOUT_EXIT",
            states[group[0]].pointer,
            f"once entered, {listed}{more} can never be left",
            "add a Choice, or a transition, that leads out",
        )


def _is_end(state: Node, targets: Collection[str], states: dict[str, Node]) -> bool:
    # A state that leads nowhere known has been reported already: it is no endless loop.
    return _ends(state) or not targets or not all(target in states for target in targets)


def _reversed(states: Collection[str], names: _Targets) -> dict[str, list[str]]:
    backwards: dict[str, list[str]] = {name: [] for name in states}
    for name, targets in names.items():
        for target in targets:
            if target in backwards:
                backwards[target].append(name)
    return backwards


def _groups(endless: list[str], names: _Targets) -> Iterator[list[str]]:
    """Endless states that transitions connect, as groups in order of definition."""
    order = {name: index for index, name in enumerate(endless)}
    both = _reversed(order, {name: names[name] for name in endless})
    for name in endless:
        both[name].extend(target for target in names[name] if target in order)
    seen: set[str] = set()
    for name in endless:
        if name not in seen:
            group = _closure({name}, both)
            seen |= group
            yield sorted(group, key=order.__getitem__)


def _closure(start: set[str], names: _Targets) -> set[str]:
    reached = set(start)
    waiting = list(start)
    while waiting:
        for target in names.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached
