"""Items of lists, and what they are together: steps, answers, links."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcf.sop.language.phrase import MAX_PHRASE
from dcf.sop.runbook.answers import read_answer
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.callouts import Callout
from dcf.sop.runbook.cases import is_case_like, is_fault, joined
from dcf.sop.runbook.command import read_commands
from dcf.sop.runbook.conditions import Decision
from dcf.sop.runbook.consequences import bids
from dcf.sop.runbook.rulings import are_rulings
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.tables import is_table_of_steps, rules_by_case
from dcf.sop.runbook.wording import Piece, is_duty_of_reader, is_order, pieces

_COMMAND = re.compile(r"`(?P<command>[a-z./][^`\n]*\s[^`\n]+)`[.;:]?")
_TURNED_TO = re.compile(
    r"[*_]*(?P<who>to [^:;.]{2,60}?)[*_]*\s*:[*_]*\s+(?:for|if|when|in case of)\s+"
    r"(?P<what>\S[^\n]*)",
    re.IGNORECASE,
)
_VALUED = re.compile(
    r"(?P<value>[*_]*`[^`\n]+`[^\n]{0,120}?)\s*(?:\s--|\s?—|\s–|:|\s-)\s+(?P<then>[A-Z(][^\n]*)"
)
_LINK_ALONE = re.compile(r"\W*\[[^\]\n]*\]\(#[^)\s]*\)\W*")


def whole(block: Block) -> Piece:
    return Piece(block.line, block.last, block.text)


def first_piece(item: Block) -> tuple[Piece | None, list[Piece]]:
    """The first sentence of an item, and the others of its first paragraph."""
    if not item.children or item.children[0].kind not in ("text", "heading"):
        return None, []
    found = joined(list(pieces(item.children[0].lines)))
    return (found[0], found[1:]) if found else (None, [])


def all_pieces(block: Block) -> list[Piece]:
    found = list(pieces(block.lines)) if block.kind in ("text", "heading") else []
    if block.kind in ("code", "html", "table"):
        found = [whole(block)]
    for child in block.children:
        found += all_pieces(child)
    return found


def are_steps(items: Sequence[Block]) -> bool:
    """Whether the items of a list are steps, whatever they sound like: numbered, to be ticked off,
    or orders as a rule."""
    orders = 0
    for item in items:
        if item.number or item.is_checkbox:
            return True
        first, _ = first_piece(item)
        orders += first is not None and (is_order(first.text) or is_command(first))
    return 3 * orders >= 2 * len(items)


def name_cases(items: Sequence[Block]) -> bool:
    """Whether items name cases, each over what is done then: none is an order, and most tell that
    something is wrong, or how it is."""
    cases = 0
    for item in items:
        first, rest = first_piece(item)
        over = item.children[1:]
        listed = len(over) == 1 and over[0].kind == "list" and _are_told(over[0].children)
        ordered = any(one is not None and is_order(one.text) for one in (first, *rest))
        if first is None or not listed or ordered or item.number:
            return False
        said = first.text.strip("*_:. ")
        cases += is_fault(re.split(r"\s*[,(]", said)[0]) or is_case_like(said)
    return len(items) > 1 and 2 * cases > len(items)


def turned_to(item: Block) -> Decision | None:
    """``To the workshop: for broken locks``: who is turned to, and in which case."""
    first, _rest = first_piece(item)
    found = _TURNED_TO.fullmatch(first.text) if first else None
    return Decision(found["what"].strip(" *_."), found["who"].strip(" *_")) if found else None


def valued(item: Block) -> Decision | None:
    """```state: idle` -- Restart it``: a value of what was looked at, and what is done then."""
    first, _rest = first_piece(item)
    found = _VALUED.fullmatch(first.text) if first and len(first.text) <= MAX_PHRASE else None
    return Decision(found["value"].strip(" :"), found["then"]) if found else None


def are_values(items: Sequence[Block]) -> bool:
    """Whether items are values of what was looked at, and most of them say what is done then."""
    told = 0
    for item in items:
        first, rest = first_piece(item)
        case = valued(item)
        if first is None or case is None:
            return False
        told += any(bids(one) for one in (case.then, *(more.text for more in rest)))
    return len(items) > 1 and 2 * told >= len(items)


def firsts(items: Sequence[Block]) -> list[str]:
    """The first sentences of items."""
    found = (first_piece(item)[0] for item in items)
    return [one.text for one in found if one is not None]


def tells_cases(block: Block) -> bool:
    """Whether a table or a list says what is done in each of several cases."""
    if block.kind == "table":
        return rules_by_case(block)
    if block.kind != "list" or any(item.is_checkbox for item in block.children):
        return False
    return are_rulings(firsts(block.children))


def _are_told(items: Sequence[Block]) -> bool:
    """Whether the items of a list are steps, or all say what somebody has to do."""
    firsts = [first_piece(item)[0] for item in items]
    return are_steps(items) or all(one is not None and bids(one.text) for one in firsts)


def is_duties(block: Block) -> bool:
    """Whether a list says what somebody must do: ``You MUST verify …``."""
    if block.kind != "list":
        return False
    firsts = [first_piece(item)[0] for item in block.children]
    return any(one is not None and is_duty_of_reader(one.text) for one in firsts)


def is_command(piece: Piece) -> bool:
    """Whether a sentence is nothing but a command in backticks."""
    found = _COMMAND.fullmatch(piece.text)
    return found is not None and bool(read_commands(found["command"], "sh", piece.line))


def counted_orders(items: Sequence[Block]) -> bool:
    numbered = all(item.number or item.is_checkbox for item in items)
    found = [first_piece(item)[0] for item in items]
    return numbered and 2 * sum(one is not None and is_order(one.text) for one in found) > len(
        items
    )


def has_numbered_orders(section: Section) -> bool:
    """Whether a section has steps whatever its heading says: a numbered list of orders, or a table
    of steps."""
    return any(
        counted_orders(block.children)
        if block.kind == "list"
        else block.kind == "table" and is_table_of_steps(block)
        for block in section.all_blocks()
    )


def answer_of(item: Block) -> tuple[str, str] | None:
    first, _ = first_piece(item)
    return read_answer(first.text) if first else None


def is_answered(item: Block) -> bool:
    """Whether an item asks something, over a list of answers alone."""
    below = item.children[1].children if len(item.children) > 1 else []
    asks = item.children[0].text.rstrip(" *_:").endswith("?") if below else False
    return asks and all(map(answer_of, below))


def is_link(item: Block) -> bool:
    """Whether an item and those below it are nothing but links to places in this text."""
    said = [block for block in item.children if block.kind != "list"]
    below = [one for block in item.children if block.kind == "list" for one in block.children]
    links = all(block.kind == "text" and _LINK_ALONE.fullmatch(block.text) for block in said)
    return bool(said) and links and all(is_link(one) for one in below)


def has_commands(block: Block | Callout | None) -> bool:
    if block is None or isinstance(block, Callout) or block.kind != "code":
        return False
    text = "\n".join(row for _, row in block.lines[1:-1])
    return bool(read_commands(text, block.info, block.line))
