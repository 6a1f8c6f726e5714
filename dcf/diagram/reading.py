"""From the JSON of a definition to a chart.

Reads what is there and asks for no valid definition: whoever has made a mistake wants to see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dcf.diagram.chart import MISSING, Chart, Edge, EdgeKind, Machine, Node, Place
from dcf.diagram.condition import condition_of, either
from dcf.diagram.note import by_person, note_of

_DEEPEST = 100
_LONGEST_NAME = 60
_ENDS = ("Succeed", "Fail")


def read_chart(definition: Any) -> Chart:
    """The chart of ``definition``: a state machine, or a workflow document that holds one."""
    problems: list[str] = []
    title = ""
    if isinstance(definition, dict) and isinstance(definition.get("asl"), dict):
        name = definition.get("workflow_name")
        title = name if isinstance(name, str) else ""
        definition = definition["asl"]
    machine = _machine(definition, title, (), "", problems)
    if not machine.nodes:
        problems.append("the definition has no states")
    return Chart(machine, tuple(problems))


def _machine(found: Any, title: str, place: Place, within: str, problems: list[str]) -> Machine:
    """``within`` names the state around it for ``problems``, "" for the outermost machine."""
    where = f" in `{within}`" if within else ""
    states = found.get("States") if isinstance(found, dict) else None
    if not isinstance(states, dict) or len(place) > 2 * _DEEPEST:
        problems.append(f"there is no machine to draw{where}" if place else "`States` is missing")
        return Machine(title, None, (), ())
    nodes: list[Node] = []
    edges: list[Edge] = []
    for name, state in states.items():
        if not isinstance(state, dict):
            problems.append(f"`{name}` is not an object{where}")
            nodes.append(Node(name, MISSING, (*place, name), "not an object"))
            continue
        nodes.append(_node(name, state, (*place, name), within, problems))
        edges += _edges(name, state)
    start = found.get("StartAt")
    if not isinstance(start, str):
        problems.append(f"`StartAt` is missing{where}")
        start = None
    nodes += _missing(states, [start, *(edge.target for edge in edges)], place, where, problems)
    problems += [
        f"no way leads to `{name}`{where}" for name in _unreached(states, start, edges) if start
    ]
    return Machine(title, start, tuple(nodes), tuple(_joined(edges)))


def _node(name: str, state: dict[str, Any], place: Place, within: str, problems: list[str]) -> Node:
    kind = state.get("Type")
    here = f"{within} / {name}" if within else name
    machines = [
        _machine(inner, title, (*place, number), f"{here} / {title}" if title else here, problems)
        for number, (title, inner) in enumerate(_inner(state))
    ]
    return Node(
        name,
        kind if isinstance(kind, str) else "",
        place,
        note_of(state),
        tuple(machine for machine in machines if machine.nodes),
        by_person(state) is not None,
    )


def _inner(state: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Title and definition of each machine inside of ``state``."""
    if state.get("Type") == "Map":
        yield "", state.get("ItemProcessor", state.get("Iterator"))
    elif state.get("Type") == "Parallel":
        branches = state.get("Branches")
        for number, branch in enumerate(branches if isinstance(branches, list) else ()):
            # As in the path of its states, where it has no name: Fan[0].Fetch.
            yield _given_name(branch) or f"branch [{number}]", branch


def _given_name(branch: Any) -> str:
    """A comment that is short enough for a title; "" without one."""
    said = branch.get("Comment") if isinstance(branch, dict) else None
    name = said.strip() if isinstance(said, str) else ""
    return name if len(name) <= _LONGEST_NAME and name.isprintable() else ""


def _edges(name: str, state: dict[str, Any]) -> Iterator[Edge]:
    kind = state.get("Type")
    if kind == "Choice":
        for rule in _objects(state.get("Choices")):
            yield from _edge(name, rule, "Next", "choice", condition_of(rule))
        yield from _edge(name, state, "Default", "default", "otherwise")
    elif kind not in _ENDS:
        yield from _edge(name, state, "Next", "next", "")
        if state.get("End") is True and not isinstance(state.get("Next"), str):
            yield Edge(name, None, "next")
    for catcher in _objects(state.get("Catch")):
        names = catcher.get("ErrorEquals")
        errors = [str(one) for one in names] if isinstance(names, list) else []
        yield from _edge(name, catcher, "Next", "catch", ", ".join(errors) or "error")


def _edge(
    source: str, found: dict[str, Any], field: str, kind: EdgeKind, label: str
) -> Iterator[Edge]:
    if isinstance(found.get(field), str):
        yield Edge(source, found[field], kind, label)


def _objects(found: Any) -> Iterator[dict[str, Any]]:
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            yield one


def _joined(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Rules with the same target become one edge, and so do catchers; "otherwise" joins them."""
    groups: dict[tuple[str, str | None, bool], list[Edge]] = {}
    for edge in edges:
        groups.setdefault((edge.source, edge.target, edge.kind == "catch"), []).append(edge)
    for (source, target, is_catch), group in groups.items():
        labels = [edge.label for edge in group if edge.label]
        label = ", ".join(labels) if is_catch else either(labels)
        yield Edge(source, target, group[0].kind, label)


def _missing(
    states: dict[str, Any],
    targets: Iterable[str | None],
    place: Place,
    where: str,
    problems: list[str],
) -> Iterator[Node]:
    for name in dict.fromkeys(targets):
        if name is not None and name not in states:
            problems.append(f"`{name}` is named but does not exist{where}")
            yield Node(name, MISSING, (*place, name), "does not exist")


def _unreached(states: dict[str, Any], start: str | None, edges: list[Edge]) -> list[str]:
    ways: dict[str, list[str]] = {}
    for edge in edges:
        if edge.target is not None:
            ways.setdefault(edge.source, []).append(edge.target)
    reached, waiting = {start}, [start] if start else []
    while waiting:
        for target in ways.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return [name for name in states if name not in reached]
