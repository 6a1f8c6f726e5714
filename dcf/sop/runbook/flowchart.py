"""Flowcharts that a runbook draws in Mermaid, where it tells its steps in no other way."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.ends import hands_over
from dcf.sop.runbook.flow import NO, YES, Arm, Node

_HEAD = re.compile(r"\s*(?:graph|flowchart)\b", re.IGNORECASE)
_SHAPE = re.compile(
    r"(?P<id>[A-Za-z_][\w-]*?)(?P<shape>\s*(?:\(\[|\[\[|\[\(|\(\(|\{\{|\[/|\[|\(|\{|>)"
    r"\s*\"?(?P<text>[^\"\]\)\}\n]{1,300})\"?\s*[\]\)\}/]+)?(?=\s|$|-|=|&|:::|;)"
)
_ARROW = re.compile(
    r"\s*(?:--+\s*\"?(?P<inner>[^-|>\n\"]{1,80})\"?\s*--+>"
    r"|[-=.]{2,}>?)\s*(?:\|\"?(?P<label>[^|\n\"]{1,80})\"?\|)?\s*"
)
_YES = frozenset({"yes", "y", "true", "ok", "pass", "passed", "ja", "oui", "sí"})
_NO = frozenset({"no", "n", "false", "fail", "failed", "nein", "non"})


def is_chart(block: Block) -> bool:
    """Whether a block of code is a flowchart."""
    language = (block.info.split() or [""])[0].strip("{}").lower()
    rows = [text for _, text in block.lines[1:-1] if text.strip()]
    return language == "mermaid" and bool(rows) and bool(_HEAD.match(rows[0]))


@dataclass(slots=True)
class _Box:
    node: Node
    ways: list[tuple[str, str]] = field(default_factory=list)


def read_chart(block: Block) -> list[Node]:
    """The boxes of a flowchart in the order in which they are drawn. One with several arrows asks
    which of them to follow."""
    boxes = _boxes(block)
    for name, box in boxes.items():
        _lead(name, box, block.line, boxes)
    return [box.node for box in boxes.values()]


def _boxes(block: Block) -> dict[str, _Box]:
    boxes: dict[str, _Box] = {}
    for line, row in block.lines[2:-1]:
        _read_row(row.strip().rstrip(";"), line, block.line, boxes)
    return boxes


def grow_chart(block: Block) -> list[Node]:
    """The boxes of a flowchart as a tree, after which the text goes on: what is done in a case
    stands in the arm of the box that asks."""
    boxes = _boxes(block)
    drawn: set[str] = set()
    return [
        node
        for name in boxes
        if name not in drawn
        for node in _grown(name, block.line, boxes, drawn)
    ]


def asks_much(nodes: list[Node]) -> bool:
    """Whether several boxes are questions that are answered with yes or no."""
    labels = [{arm.label for arm in node.arms} for node in nodes]
    return sum(said == {YES, NO} for said in labels) > 1


def _grown(name: str, chart: int, boxes: dict[str, _Box], drawn: set[str]) -> list[Node]:
    found: list[Node] = []
    while name not in drawn:
        drawn.add(name)
        box = boxes[name]
        found.append(box.node)
        if len(box.ways) == 1 and not box.ways[0][0]:
            name = box.ways[0][1]
            continue
        if not box.ways and hands_over(box.node.title):
            box.node.end = "finish"
        for label, to in box.ways:
            kept = _label(label, boxes[to].node)
            if box.node.arm(kept) is None:
                arm = Arm(kept, line=boxes[to].node.line)
                box.node.arms.append(arm)
                arm.nodes = _grown(to, chart, boxes, drawn)
        return found
    # What is drawn already is gone back to.
    if found:
        found[-1].jump = _anchor(chart, name)
        return found
    return [Node(boxes[name].node.line, "", jump=_anchor(chart, name))]


def _label(label: str, to: Node) -> str:
    said = label.lower()
    return YES if said in _YES else NO if said in _NO else label or to.title


def _anchor(line: int, name: str) -> str:
    return f"chart:{line}:{name}"


def _read_row(row: str, line: int, chart: int, boxes: dict[str, _Box]) -> None:
    if not row or row.startswith(("%%", "subgraph", "end", "style", "class", "click", "linkStyle")):
        return
    at, before, label = 0, "", ""
    while found := _SHAPE.match(row, at):
        name = found["id"]
        box = boxes.get(name)
        if box is None:
            title = (found["text"] or name).strip().replace("<br>", " ").replace("<br/>", " ")
            box = boxes[name] = _Box(Node(line, title, anchors=[_anchor(chart, name)]))
        elif found["text"] and box.node.title == name:
            box.node.title = found["text"].strip()
        if before:
            boxes[before].ways.append((label, name))
        arrow = _ARROW.match(row, found.end())
        if arrow is None or arrow.end() == found.end():
            return
        at, before = arrow.end(), name
        label = (arrow["label"] or arrow["inner"] or "").strip()


def _lead(name: str, box: _Box, chart: int, boxes: dict[str, _Box]) -> None:
    node = box.node
    if not box.ways:
        node.end = "finish"
    elif len(box.ways) == 1 and not box.ways[0][0]:
        node.jump = _anchor(chart, box.ways[0][1])
    for label, to in box.ways if not node.jump else ():
        kept = _label(label, boxes[to].node)
        arm = Arm(kept, [Node(node.line, "", jump=_anchor(chart, to))], node.line)
        if node.arm(kept) is None:
            node.arms.append(arm)
