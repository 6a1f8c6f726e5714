"""A chart as Mermaid text.

Every name goes through ``escaped``; ids are numbers of ours. So no name can end a label, begin a
keyword or become markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.diagram.chart import MISSING, Chart, Edge, Machine, Node, Place
from dcf.diagram.lettering import clean
from dcf.diagram.look import RunLook
from dcf.diagram.palette import LIGHT
from dcf.diagram.shapes import Direction

# Letters of any script, digits and signs that mean nothing to Mermaid; all else is a number code.
_UNSAFE = re.compile(r"[^\w \-.,:/()$=+?!·×≤≥…\u0300-\u036f]|_(?=_)")
# Mermaid takes a label that begins like a list for Markdown.
_LIST = re.compile(r"^\s*(?:\d+[.)]|[-+])")
_LONGEST = 120


def to_mermaid(chart: Chart, run: RunLook | None = None, direction: Direction = "down") -> str:
    """``chart`` as a Mermaid flowchart. With ``run`` states have the colour of their status."""
    writer = _Writer(run, "TB" if direction == "down" else "LR")
    return writer.document(chart.machine)


def escaped(text: str) -> str:
    """``text`` fit for a quoted label."""
    line = clean(text).replace("\u00a0", " ")
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST - 1]}…"
    listed = _LIST.match(line)
    codes = _UNSAFE.sub(lambda found: f"#{ord(found[0])};", line)
    if listed:
        sign = listed[0][-1]
        codes = codes.replace(sign, f"#{ord(sign)};", 1)
    return codes or " "


class _Writer:
    def __init__(self, run: RunLook | None, direction: str) -> None:
        self._run, self._direction = run, direction
        self._ids = 0
        self._edges = 0
        self._errors: list[int] = []
        self._taken: list[int] = []
        self._classes: dict[str, list[str]] = {}

    def document(self, machine: Machine) -> str:
        lines = [f"flowchart {self._direction}", *self._machine(machine, (), "  ")]
        lines += [f"  {rule}" for rule in self._rules()]
        return "\n".join(lines) + "\n"

    def _machine(self, machine: Machine, place: Place, indent: str) -> Iterator[str]:
        ids = {node.name: self._new_id() for node in machine.nodes}
        start, end = self._new_id(), self._new_id()
        if machine.start in ids:
            yield f'{indent}{start}(("start"))'
            self._class("marker", start)
        for node in machine.nodes:
            yield from self._node(node, ids[node.name], indent)
        if any(edge.target is None for edge in machine.edges):
            yield f'{indent}{end}((("end")))'
            self._class("marker", end)
        if machine.start in ids:
            first = Edge("", machine.start, "next")
            yield indent + self._edge(first, start, ids[str(machine.start)], place)
        for edge in machine.edges:
            target = end if edge.target is None else ids[edge.target]
            yield indent + self._edge(edge, ids[edge.source], target, place)

    def _node(self, node: Node, id_: str, indent: str) -> Iterator[str]:
        look = self._run.states.get(node.place) if self._run else None
        said = " · ".join(filter(None, (look.status, look.detail))) if look else ""
        label = "<br/>".join(escaped(text) for text in (node.name, node.note, said) if text)
        if self._run and node.type != MISSING:
            self._class(look.status if look else "untouched", id_)
        else:
            self._class(node.type if node.type in LIGHT.kinds else "other", id_)
        if not node.machines:
            left, right = {
                "Choice": ("{{", "}}"),
                "Fail": ("([", "])"),
                "Succeed": ("([", "])"),
            }.get(node.type, ("(", ")"))
            yield f'{indent}{id_}{left}"{label}"{right}'
            return
        yield f'{indent}subgraph {id_}["{label}"]'
        yield f"{indent}  direction {self._direction}"
        for number, machine in enumerate(node.machines):
            inner, place = indent + "  ", (*node.place, number)
            if len(node.machines) == 1:
                yield from self._machine(machine, place, inner)
                continue
            branch = self._new_id()
            self._class("branch", branch)
            yield f'{inner}subgraph {branch}["{escaped(machine.title)}"]'
            yield f"{inner}  direction {self._direction}"
            yield from self._machine(machine, place, inner + "  ")
            yield f"{inner}end"
        yield f"{indent}end"

    def _edge(self, edge: Edge, source: str, target: str, place: Place) -> str:
        if edge.kind == "catch":
            self._errors.append(self._edges)
        if self._run is not None and self._run.has_taken(edge, place):
            self._taken.append(self._edges)
        self._edges += 1
        label = f'|"{escaped(edge.label)}"|' if edge.label else ""
        return f"{source} {'-.->' if edge.kind == 'catch' else '-->'}{label} {target}"

    def _rules(self) -> Iterator[str]:
        colours = {**LIGHT.kinds, **LIGHT.statuses}
        for name, ids in self._classes.items():
            if name in colours:
                ground, border = colours[name]
                style = f"fill:{ground},stroke:{border},color:{LIGHT.ink}"
            elif name == "branch":
                style = f"fill:{LIGHT.frame},stroke:{LIGHT.line},color:{LIGHT.muted}"
            else:
                style = f"fill:{LIGHT.paper},stroke:{LIGHT.ink},color:{LIGHT.ink}"
            yield f"classDef k{name} {style}"
            yield f"class {','.join(ids)} k{name}"
        if self._errors:
            listed = ",".join(map(str, self._errors))
            yield f"linkStyle {listed} stroke:{LIGHT.error},color:{LIGHT.error}"
        if self._taken:
            listed = ",".join(map(str, self._taken))
            yield f"linkStyle {listed} stroke:{LIGHT.taken},stroke-width:3px"

    def _class(self, name: str, id_: str) -> None:
        self._classes.setdefault(name, []).append(id_)

    def _new_id(self) -> str:
        self._ids += 1
        return f"n{self._ids}"
