"""Sections that are cases: a condition as a heading, and what is done then below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.cases import acts, depends_on, is_action, read_case, read_trigger
from dcf.sop.runbook.conditions import opens, read_decision
from dcf.sop.runbook.consequences import leads
from dcf.sop.runbook.headings import bare_title, is_name, is_step_heading, step_number
from dcf.sop.runbook.items import all_pieces
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.wording import Piece, is_clear_order, is_order, pieces


def chooses_below(blocks: Sequence[Block]) -> bool:
    """Whether the last sentence over sections says that what is done depends on something."""
    last = blocks[-1] if blocks and blocks[-1].kind == "text" else None
    told = list(pieces(last.lines)) if last else []
    return bool(told) and depends_on(told[-1].text)


def states_case(section: Section) -> bool:
    """Whether the first sentence of a section says in full in which case what is done."""
    first = section.blocks[0] if section.blocks and section.blocks[0].kind == "text" else None
    told = next(pieces(first.lines), None) if first else None
    decision = read_decision(told.text) if told and opens(told.text) else None
    return decision is not None and leads(decision.then) and not section.children


def is_counted(section: Section) -> bool:
    told = ("note", "guardrails", "inputs", "roles", "objective", "aside")
    if is_step_heading(section.title):
        return True
    return bool(step_number(section.title)) and section.purpose not in told


def with_actions(children: Sequence[Section]) -> list[Section]:
    """``children``; a case without steps has those of the section behind it: ``If this fails``,
    ``Action``."""
    found: list[Section] = []
    for child in children:
        before = found[-1] if found else None
        if before and child.purpose == "steps" and not before.children and _is_bare(before):
            before.children.append(child)
        else:
            found.append(child)
    return found


def has_action(section: Section) -> bool:
    """Whether a section says under a label what is done, and its heading in which case."""
    title = bare_title(section.title)
    if section.purpose != "unknown" or is_step_heading(section.title):
        return False
    if without_trigger(section.blocks)[0] is not None:
        return True
    told = (one for block in section.blocks if block.kind == "text" for one in pieces(block.lines))
    return not is_clear_order(title) and any(is_action(one.text) for one in told)


def without_trigger(blocks: Sequence[Block]) -> tuple[Piece | None, list[Block]]:
    """The sentence that says under a label when a case is so, and the blocks without it."""
    first = blocks[0] if blocks and blocks[0].kind == "text" else None
    told = list(pieces(first.lines)) if first else []
    if first is None or read_trigger(told[0].text) is None:
        return None, list(blocks)
    if len(told) == 1:
        return told[0], list(blocks[1:])
    begin = told[1].line
    if begin == told[0].last:
        return None, list(blocks)
    rest = replace(first, line=begin, lines=[row for row in first.lines if row[0] >= begin])
    return told[0], [rest, *blocks[1:]]


def _is_bare(section: Section) -> bool:
    """Whether a heading is a case, and nothing below it is to be done."""
    said = (piece.text for block in section.blocks for piece in all_pieces(block))
    return read_case(section.title) is not None and not any(acts(one) for one in said)


def is_case(section: Section) -> bool:
    """Whether the heading of a section is an order, as ``Cancel an order``."""
    title = bare_title(section.title)
    return section.purpose == "unknown" and is_order(title) and not is_name(title)
