"""Tables of steps (step, owner, action), of cases (symptom, action), and others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dcf.sop.runbook.blocks import Block
from dcf.sop.runbook.wording import Piece, is_order

_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)*")
_NUMBER = re.compile(
    r"(?:#|no\.?|nr\.?|num(?:ber)?|step ?(?:#|no\.?|number|id(?:entifier)?)?|order|id|phase)", re.I
)
_ACTION = re.compile(
    r"(?:actions?|tasks?|activit(?:y|ies)|what(?: to do)?|instructions?|do|steps?|description"
    r"|details?"
    r"|procedure|actions? (?:required|needed|to take|taken)|recommended actions?|fix(?:es)?"
    r"|solutions?"
    r"|resolutions?|mitigations?|remed(?:y|iation)|response|how to fix|next steps?|then\b.*|todo"
    r"|action items?)",
    re.I,
)
_ROLE = re.compile(
    r"(?:owners?|who|roles?|responsible|responsibility|assignee|assigned to|by|team|person"
    r"|actor|contact)",
    re.I,
)
_CASE = re.compile(
    r"(?:symptoms?|(?:if|when)\b.*|what you see|conditions?|problems?|issues?"
    r"|errors?(?: messages?)?|scenarios?"
    r"|cases?|situations?|alerts?"
    r"|signs?|observations?|failures?|causes?|possible causes?|trigger|status|result|outcome"
    r"|finding)",
    re.I,
)


@dataclass(slots=True)
class Row:
    """``said`` are the other cells, each after the name of its column."""

    piece: Piece
    action: str = ""
    condition: str = ""
    role: str = ""
    number: str = ""
    said: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """``others`` are its head and the line below it; ``all_rows`` its rows as they are written."""

    rows: list[Row]
    others: list[Piece]
    all_rows: list[Piece]


def read_table(block: Block) -> Table:
    """The rows of a table; what they are is told by the names of the columns."""
    lines = block.lines
    head = _cells(lines[0][1])
    others = [Piece(number, number, text) for number, text in lines[:1]]
    body = [(number, text) for number, text in lines[1:] if text]
    if body and _RULE.fullmatch(body[0][1]):
        body = body[1:]
    found = _columns(head)
    rows = [_row(Piece(number, number, text), head, found) for number, text in body]
    return Table(rows, others, [row.piece for row in rows])


def _columns(head: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, pattern in (
        ("role", _ROLE),
        ("number", _NUMBER),
        ("condition", _CASE),
        ("action", _ACTION),
    ):
        for at, title in enumerate(head):
            if pattern.fullmatch(title.strip("*_ ").strip()) and at not in found.values():
                found[name] = at
                break
    titles = [title.strip("*_ ").lower() for title in head]
    if "action" not in found and "number" in found and titles[found["number"]] in ("step", "steps"):
        found["action"] = found.pop("number")
    if "action" not in found:
        return {"number": found["number"]} if "number" in found else {}
    vague = titles[found["action"]] in ("description", "details", "what", "procedure")
    if vague and not {"number", "role"} & found.keys():
        return {}  # a table that explains something
    return found


def _row(piece: Piece, head: Sequence[str], columns: dict[str, int]) -> Row:
    cells = _cells(piece.text)
    row = Row(piece)
    if not columns:
        return row
    for name, at in columns.items():
        setattr(row, name, cells[at] if at < len(cells) else "")
    if row.number and not row.number[:1].isdigit():
        row.said.append(row.number)
        row.number = ""
    row.number = row.number.rstrip(".)")
    if "condition" in columns and not (is_order(row.action) or row.action):
        row.condition = ""
    used = set(columns.values())
    for at, cell in enumerate(cells):
        if at not in used and cell:
            name = head[at] if at < len(head) else ""
            row.said.append(f"{name}: {cell}" if name else cell)
    return row


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(text.strip().strip("|"))]
