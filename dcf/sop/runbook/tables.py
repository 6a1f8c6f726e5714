"""Tables of steps (step, owner, action), of cases (symptom, action), and others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.conditions import finds_out
from dcf.sop.runbook.consequences import bids
from dcf.sop.runbook.rulings import answers_first, is_body, is_measured, rules, settles
from dcf.sop.runbook.wording import Piece, is_clear_order

_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)*")
_NUMBER = re.compile(
    r"(?:#|no\.?|nr\.?|num(?:ber)?|step ?(?:#|no\.?|number|id(?:entifier)?)?|order|id|phase)", re.I
)
_ACTION = re.compile(
    r"(?:(?:key |main |required |concrete )?actions?|tasks?|activit(?:y|ies)|what(?: to do)?"
    r"|instructions?|do|steps?|description"
    r"|details?"
    r"|procedure|actions? (?:required|needed|to take|taken)|recommended actions?|fix(?:es)?"
    r"|solutions?"
    r"|resolutions?|mitigations?|remed(?:y|iation)|response|how to fix|next steps?|then\b.*|todo"
    r"|do this|action items?|commands?|what to check|checks?|verifications?|mitigation steps?)",
    re.I,
)
_ROLE = re.compile(
    r"(?:owners?|who|roles?|responsible|responsibility|assignee|assigned to|by|team|person"
    r"|actor|contact)",
    re.I,
)
_APPROVER = re.compile(
    r"(?:approvers?|approved by|approval|approvals? (?:from|by|needed|required|levels?"
    r"|authority)|sign"
    r"(?:ed)?-?\s?offs?"
    r"(?: by)?|authori[sz]ed by|authori[sz]er|authority|signator(?:y|ies)|reviewers?|reviewed by"
    r"|decided by|decision(?: maker| by)?|who (?:decides|approves|signs|authori[sz]es|releases))",
    re.I,
)
_COUNTED = re.compile(r"(?:step\s+)?(?P<number>[0-9]+(?:\.[0-9]+)*)[.):\s–-]*(?P<name>.*)", re.I)
_NOBODY = re.compile(r"(?:\W*|n/?a|none|no(?:body| one)?|not (?:needed|required))", re.I)
_GIVEN = re.compile(
    r"compensation|refunds?|reimbursement|credits?|exchanges?|returns?", re.IGNORECASE
)
"""Over a column of what somebody gets, or nothing."""
_CASE = re.compile(
    r"(?:symptoms?|(?:if|when|in case)\b.*|what (?:you|one) sees?|conditions?|problems?|issues?"
    r"|errors?(?: messages?)?|scenarios?"
    r"|cases?|situations?|alerts?"
    r"|signs?|observations?|failures?|causes?|possible causes?|trigger|status|result|outcome"
    r"|finding)",
    re.I,
)

_PASSES_ON = re.compile(
    r"(?:escalat(?:e|ion|ed)|hand(?:ed)? (?:over|off)|rout(?:e|ed)|refer(?:red)?|forward(?:ed)?"
    r"|transfer(?:red)?|report(?:ed)?|assign(?:ed)?|send|sent|goes)(?: it)? to"
    r"|notify|page|call|inform|alert|escalate|who to (?:notify|page|call|contact|inform)",
    re.I,
)
"""Over a column of those who are told, or take over."""
_KINDS = re.compile(
    r"(?:[\w/-]+ ){0,3}(?:types?|kinds?|categor(?:y|ies)|class(?:es)?|requests?|levels?|sever"
    r"ity|priority|amounts?|values?|totals?|costs?|spend(?:ing)?|tiers?|segments?|delays?"
    r"|quantity|roles?|customers?|guests?|patients?|items?|reasons?|stages?|ages?|durations?"
    r"|risks?|impact|exceptions?|codes?|faults?|readings?|signals?)"
    r"(?: (?:of|in|per) [\w ]{1,40}| \([^)]*\))?",
    re.IGNORECASE,
)
"""Over a column that tells cases apart."""
_RUNGS = re.compile(
    r"(?:escalation )?(?:levels?|tiers?|stages?|severity|priority|steps?|order|#)|(?:time|after"
    r"|when|elapsed|trigger|if|condition|situation|issue|problem)\b.*",
    re.IGNORECASE,
)
_OF_RECORDS = re.compile(
    r"(?:names?|versions?|dates?|documents?|revisions?|phases?|tasks?|activit(?:y|ies)|actions?"
    r"|milestones?|deliverables?|gates?|#|no\.?|id)(?: \w+)?",
    re.IGNORECASE,
)
"""Over a column of what was agreed to, or when, and no case."""
_SEQUENCE = re.compile(r"(?:\w+ )?(?:order|priority|sequence|seq\.?)", re.I)
_THINGS = re.compile(
    r"(?:[\w -]+ )?(?:services?|systems?|components?|servers?|hosts?|nodes?|applications?|apps?"
    r"|databases?|clusters?|sites?)",
    re.I,
)
_STATUS = re.compile(r"status|result|outcome|finding", re.I)


@dataclass(slots=True)
class Row:
    """``said`` are the other cells, each after the name of its column."""

    piece: Piece
    action: str = ""
    condition: str = ""
    role: str = ""
    approver: str = ""
    number: str = ""
    said: list[str] = field(default_factory=list)

    @property
    def is_step(self) -> bool:
        """Whether something is done, or somebody has to agree."""
        return bool(self.action or self.approver)


@dataclass(slots=True)
class Table:
    """``others`` are its head and the line below it; ``all_rows`` its rows as they are written."""

    rows: list[Row]
    others: list[Piece]
    all_rows: list[Piece]


def read_table(block: Block, ladder: bool = False) -> Table:
    """The rows of a table; what they are is told by the names of the columns, else by the cells.
    ``ladder``: it may be one of those who take over, one after the other."""
    lines = block.lines
    head = _cells(lines[0][1])
    # Cells of a row may stand on several lines.
    ends = [max(number, below - 1) for (number, _), (below, _) in pairwise(lines)] + [block.last]
    others = [Piece(number, ends[0], text) for number, text in lines[:1]]
    body = [(number, text) for number, text in lines[1:] if text]
    if body and _RULE.fullmatch(body[0][1]):
        body = body[1:]
    rows_told = [_cells(text) for _, text in body]
    found = _by_sequence(head, rows_told) or _by_rulings(head, rows_told)
    found = found or _by_orders(head, rows_told) or _by_cases(head, rows_told)
    rungs = {} if found or not ladder else _by_rungs(head, rows_told)
    found = found or rungs
    ends = ends[len(ends) - len(body) :]
    rows = [
        _row(Piece(number, end, text), head, found)
        for (number, text), end in zip(body, ends, strict=True)
    ]
    for row in rows if rungs else ():
        if row.action and not any(map(answers_first, row.said)):
            row.action = f"Escalate to {row.action}"
        else:
            row.condition = row.action = ""
    return Table(rows, others, [row.piece for row in rows])


def rules_by_case(block: Block) -> bool:
    """Whether most rows of a table say what is done in a case, or who has to agree then."""
    rows = read_table(block).rows
    found = [one for one in rows if one.condition and (one.approver or settles(one.action))]
    return len(found) > 1 and 2 * len(found) > len(rows)


def is_table_of_steps(block: Block) -> bool:
    """Whether a table has a column for steps or their numbers, and one for what is done."""
    found = _columns(_cells(block.lines[0][1]))
    return {"number", "action"} <= found.keys()


def _columns(head: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, pattern in (
        ("approver", _APPROVER),
        ("role", _ROLE),
        ("number", _NUMBER),
        ("condition", _CASE),
        ("action", _ACTION),
    ):
        for at, title in enumerate(head):
            if at not in found.values() and _is_named(title, pattern):
                found[name] = at
                break
    titles = [title.strip("*_ ").lower() for title in head]
    if "action" not in found and "number" in found and titles[found["number"]] in ("step", "steps"):
        found["action"] = found.pop("number")
    if "condition" in found and "action" not in found:
        decided = found.get("approver", -1)
        if decided >= 0 and titles[decided] in ("decision", "decisions"):
            found["action"] = found.pop("approver")
        elif (to := _passing_on(head)) is not None and to != found["condition"]:
            return {"condition": found["condition"], "action": to}
    if "action" not in found:
        return {name: at for name, at in found.items() if name in ("number", "approver")}
    vague = titles[found["action"]] in ("description", "details", "what", "procedure")
    if vague and not {"number", "role"} & found.keys():
        return {}  # a table that explains something
    return found


def _by_rulings(head: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, int]:
    """The columns by their names, with that of the cases; where no name says what is done, the
    column that does."""
    named = _columns(head)
    if named.keys() & {"condition", "number"} or (named.keys() >= {"action", "role"}):
        return named
    done = dict(named)
    if "action" not in done:
        counts = [_count(_deals, body, at) for at in range(len(head))]
        most = max(range(len(head)), key=lambda at: counts[at])
        if counts[most] > 1 and 2 * counts[most] > len(body):
            done = {"action": most}
        elif "approver" not in done or 2 * _count(is_body, body, done["approver"]) <= len(body):
            return named
    case = _case_column(head, body, done)
    return named if case is None else {**done, "condition": case}


def _case_column(
    head: Sequence[str], body: Sequence[Sequence[str]], used: dict[str, int]
) -> int | None:
    """The column that tells cases apart: by its name, else the first one, by its cells."""
    free = [at for at in range(len(head)) if at not in used.values()]
    for pattern in (_CASE, _KINDS):
        for at in free:
            if _is_named(head[at], pattern) and _count(bool, body, at) == len(body) > 1:
                return at
    if 0 not in free or len(body) < 2 or _OF_RECORDS.fullmatch(head[0].strip("*_ ")):
        return None
    # Where each row allows, refuses or asks for consent, what it is about is the case.
    ruled = "approver" in used or 2 * _count(rules, body, used["action"]) > len(body)
    return 0 if ruled or 2 * _count(is_measured, body, 0) > len(body) else None


def _deals(cell: str) -> bool:
    """Whether a cell says how a case is dealt with, and not what one has to look at; a verb
    alone is as often a name: ``Read``."""
    return rules(cell) or (" " in cell and settles(cell) and not finds_out(cell))


def _by_rungs(head: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, int]:
    """The columns of an escalation ladder: how far it went, and who takes over then."""
    rung = next((at for at, title in enumerate(head) if _is_named(title, _RUNGS)), None)
    for at in range(len(head)):
        if rung not in (None, at) and 2 * _count(is_body, body, at) > len(body) > 1:
            return {"condition": int(rung or 0), "action": at}
    return {}


def _count(told: Callable[[str], bool], body: Sequence[Sequence[str]], at: int) -> int:
    return sum(at < len(cells) and told(cells[at]) for cells in body)


def _passing_on(head: Sequence[str]) -> int | None:
    """The column that says who takes over, or is told."""
    return next((at for at, title in enumerate(head) if _is_named(title, _PASSES_ON)), None)


def _is_named(title: str, pattern: re.Pattern[str]) -> bool:
    """Whether the title of a column, or a part of it, is one of ``pattern``: ``Command/Action``."""
    said = title.strip("*_ ").strip()
    parts = re.split(r"\s*(?:/|&|\bor\b|\band\b)\s*", said)
    return any(pattern.fullmatch(part) for part in (said, *parts) if part)


def _by_sequence(head: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, int]:
    """The columns of a table that says in which order things are dealt with, and nothing else."""
    titles = [title.strip("*_ ") for title in head]
    if len(titles) != 2 or not (_SEQUENCE.fullmatch(titles[0]) and _THINGS.fullmatch(titles[1])):
        return {}
    numbers = [int(cells[0]) for cells in body if cells[0].isdecimal() and len(cells) == 2]
    rising = all(before < after for before, after in pairwise(numbers))
    return {"number": 0, "action": 1} if 1 < len(numbers) == len(body) and rising else {}


def _by_orders(head: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, int]:
    """The column whose cells are orders as a rule, where no heading says so."""
    for at in range(len(head)):
        orders = sum(at < len(cells) and is_clear_order(cells[at]) for cells in body)
        if orders > 1 and 2 * orders > len(body):
            return {"action": at}
    return {}


def _by_cases(head: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, int]:
    """Columns of cases, which the first heading says, and of what is done in each of them."""
    if not _is_named(head[0], _CASE) or _is_named(head[0], _STATUS):
        return {}
    for at in range(1, len(head)):
        told = sum(at < len(cells) and bids(cells[at]) for cells in body)
        if told > 1 and 2 * told > len(body):
            return {"condition": 0, "action": at}
    return {}


def _row(piece: Piece, head: Sequence[str], columns: dict[str, int]) -> Row:
    cells = _cells(piece.text)
    row = Row(piece)
    if not columns:
        return row
    for name, at in columns.items():
        setattr(row, name, cells[at] if at < len(cells) else "")
    told = head[columns["action"]].strip("*_ ") if "action" in columns else ""
    if row.condition and _GIVEN.fullmatch(told) and _NOBODY.fullmatch(row.action):
        row.action = f"No {told.lower()}"
    if row.action and _PASSES_ON.fullmatch(told):
        row.action = f"{re.sub('^who to ', '', told, flags=re.I).capitalize()} {row.action}"
    counted = _COUNTED.match(row.number)
    if row.number and counted:
        row.number = counted["number"]
        row.said += [counted["name"]] if counted["name"] else []
    elif row.number:
        row.said.append(row.number)
        row.number = ""
    row.number = row.number.rstrip(".)")
    if _NOBODY.fullmatch(row.approver):
        row.approver = ""
    if "condition" in columns and not (row.action or row.approver):
        row.condition = ""
    if row.condition.isdecimal():
        row.condition = f"{head[columns['condition']].strip('*_ ')} {row.condition}"
    used = set(columns.values())
    for at, cell in enumerate(cells):
        if at not in used and cell:
            name = head[at] if at < len(head) else ""
            row.said.append(f"{name}: {cell}" if name else cell)
    return row


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(text.strip().strip("|"))]
