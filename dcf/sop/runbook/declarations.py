"""Sections without steps: rules, inputs, roles, notes; and what has to be known first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dcf.sop.procedure import Value
from dcf.sop.runbook.approvals import read_consent
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.callouts import Callout
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.items import all_pieces, first_piece, is_duties, tells_cases
from dcf.sop.runbook.placeholders import input_name, listed_names, needed_value, placeholders
from dcf.sop.runbook.rules import is_hard_rule
from dcf.sop.runbook.scope import Reader, Scope
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.tables import read_table
from dcf.sop.runbook.wording import Piece, is_clear_order, plain
from dcf.sop.runbook.writer import Writer

_INPUT = re.compile(
    r"\|?\s*[*_]{0,2}`?[<{$]{0,2}(?P<name>[A-Za-z_][\w.-]{0,60}"
    r"(?: [\w/-]{1,30}){0,4}?)[>}]{0,2}`?[*_]{0,2}"
    r"(?=\s*(?:\(|:|–|—|\s-\s|\||$))"
)
_FOLLOWING = re.compile(
    r"(?:^|\b(?:to|then|and|please)\s+|,\s+)(?:provide|state|supply|ask (?:[\w'’-]+ ){0,4}for)"
    r"(?: (?:the following|these|all of|us|me|them|with|your|their))*\s*:$"
    r"|\b(?:have|need|know|required?|ready|at hand|before you|collect|gather|obtain)\b.*"
    r"\b(?:following|these)\b.*"
    r"\b(?:information|details|values|data|parameters|inputs|variables|facts)\b"
    r"|\b(?:following|these)\b.*\b(?:information|details|values|data|parameters|inputs|variables"
    r"|facts)\b.*\b(?:is|are) (?:needed|required)\b",
    re.IGNORECASE,
)
_LONGEST_LEAD = 400
"""Characters ahead of a list in which it is told what the list is."""


class Declarations:
    """Reads what is told once for the whole runbook, or for one step of it."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self.writer = writer
        self.reader = reader

    def declare(self, section: Section, node: Node | None = None) -> list[Node]:
        """A section that has no steps: rules, inputs, roles, or notes; those below it too. What
        stands below a step is about that ``node``. What is done in each of several cases, as a
        table or a list of it says, is returned."""
        found: list[Node] = []
        for one in section.all():
            self.writer.desk.path = one.path
            heading = Piece(one.line, one.last or one.line, one.title)
            if one.level:
                self.writer.desk.note(heading, "note", node)
            if section.purpose in ("guardrails", "objective", "unknown"):
                self._take_cases(one, found)
            if section.purpose == "guardrails":
                self._rules(one, node)
            elif section.purpose == "inputs":
                self._inputs(one)
            else:
                self.writer.tell(one.blocks, node)
        return found

    def without_rules(self, block: Block) -> Block:
        """``block``, a list, without the items that forbid or demand something throughout, which
        are guardrails."""
        kept: list[Block] = []
        for item in block.children:
            first, rest = first_piece(item)
            if first is None or rest or len(item.children) > 1 or not is_hard_rule(first.text):
                kept.append(item)
            else:
                self.writer.rule(first, None)
        return replace(block, children=kept)

    def _take_cases(self, section: Section, nodes: list[Node]) -> None:
        """Read the tables and lists of cases of a section, and leave the rest of it."""
        kept: list[Block] = []
        for block in section.blocks:
            if tells_cases(block):
                self.reader.blocks([block], Scope(nodes, 0))
            else:
                kept.append(block)
        section.blocks = kept

    def _rules(self, section: Section, node: Node | None) -> None:
        """Rules; what must be done is part of the step that they stand below."""
        if node is not None and any(map(is_duties, section.blocks)):
            scope = Scope(node.inside, 0, 0, node)
            self.reader.blocks(section.blocks, scope)
            return
        for block in section.blocks:
            if block.kind in ("text", "list", "quote"):
                for piece in all_pieces(block):
                    if node is None or read_consent(piece.text) is not None:
                        self.writer.rule(piece, node)
                    else:
                        self.writer.desk.note(piece, "guardrail", node)
                        node.texts.append(f"- {piece.text}")
            else:
                self.writer.tell([block], None)

    def first(self, section: Section) -> list[Node]:
        """What is done before the steps; what one has to know by then is an input."""
        kept: list[Block] = []
        for block in section.blocks:
            if block.kind == "list":
                block.children = [item for item in block.children if not self._needed(item)]
            if block.kind != "list" or block.children:
                kept.append(block)
        section.blocks = kept
        return self.reader.section(section)

    def _needed(self, item: Block) -> bool:
        """Whether an item names something that one has to know, and was taken as an input."""
        first, rest = first_piece(item)
        if first is None or item.number or item.is_checkbox or is_clear_order(first.text):
            return False
        value = needed_value(plain(first.text).split(". ")[0])
        if not value or len(item.children) > 1:
            return False
        name = input_name(value)
        self.writer.found.inputs.setdefault(
            name, Value(name, description=first.text, required=False, line=first.line)
        )
        for piece in (first, *rest):
            self.writer.desk.note(piece, "input")
        return True

    def asked_for(self, block: Block | Callout, before: Block | Callout | Piece | None) -> bool:
        """Whether a list names what one has to know, as the text before it says, and was taken."""
        if not isinstance(block, Block) or block.kind != "list":
            return False
        if before is None or isinstance(before, Callout):
            return False
        if isinstance(before, Block) and before.kind != "text":
            return False
        if not _FOLLOWING.search(before.text[-_LONGEST_LEAD:]):
            return False
        self._listed(block.children)
        return True

    def _inputs(self, section: Section) -> None:
        for block in section.blocks:
            items = block.children if block.kind == "list" else []
            self._listed(items)
            if block.kind == "table":
                for row in read_table(block).all_rows:
                    if not self._input(row):
                        self.writer.say(row, None)
            elif not items:
                self.writer.tell([block], None)

    def _listed(self, items: Sequence[Block]) -> None:
        for item in items:
            first, rest = first_piece(item)
            if first is None or not self._input(first):
                self.writer.tell([item], None)
                continue
            for piece in rest:
                self.writer.say(piece, None)
            self.writer.tell(item.children[1:], None)

    def _input(self, piece: Piece) -> bool:
        names = [input_name(one) for one in listed_names(piece.text)]
        if len(names) > 1:
            for one in names:
                self.writer.found.inputs[one] = Value(
                    one, description=piece.text, required=False, line=piece.line
                )
            self.writer.desk.note(piece, "input")
            return True
        found = _INPUT.match(piece.text)
        if found is None:
            return False
        behind = list(placeholders(piece.text[found.end() :], is_code=False))
        name = input_name(behind[0] if len(behind) == 1 else found["name"])
        told = piece.text[found.end() :].strip(" :–—-|")
        optional = bool(re.search(r"\b(?:optional|default)\b", piece.text[:200], re.IGNORECASE))
        self.writer.found.inputs[name] = Value(
            name, description=told, required=not optional, line=piece.line
        )
        self.writer.desk.note(piece, "input")
        return True
