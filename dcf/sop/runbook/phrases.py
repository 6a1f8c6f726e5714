"""Our own phrases in a runbook of others: they keep their meaning.

A file of its own: it alone of this room knows the language of our procedures.
"""

from __future__ import annotations

from collections.abc import Collection

from dcf.sop.language.labels import read_label
from dcf.sop.language.phrase import Unreadable
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.wording import Piece


def say(piece: Piece, node: Node | None, known: Collection[str]) -> bool:
    """Whether ``piece`` is a line with one of our labels about ``node``, and was taken."""
    if node is None or node.kind not in ("manual", "task"):
        return False
    try:
        clauses = read_label(piece.text.rstrip("."))
    except Unreadable:
        return False
    if not clauses:
        return False
    for clause in clauses:
        match clause.member:
            case "skills":
                node.skills += clause.value
                node.kind = "task"
            case "reads":
                node.reads += [one.source for one in clause.value if one.source in known]
            case "writes":
                node.writes += clause.value
            case "deadline":
                node.deadline = clause.value
            case "retry":
                node.retries += (clause.value,)
            case "tier":
                node.tier = clause.value
            case "budget":
                node.budget = clause.value
            case "role":
                node.role = clause.value.replace("`", "")[:80]
            case _:
                return False
    return True
