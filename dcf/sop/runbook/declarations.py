"""Sections without steps: rules, inputs, roles, notes; and what has to be known first."""

from __future__ import annotations

import re

from dcf.sop.procedure import Value
from dcf.sop.runbook.blocks import Block
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.items import all_pieces, first_piece
from dcf.sop.runbook.placeholders import input_name
from dcf.sop.runbook.scope import Reader
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.tables import read_table
from dcf.sop.runbook.wording import Piece, core, is_order
from dcf.sop.runbook.writer import Writer

_KNOWN = re.compile(
    r"(?:you (?:will )?(?:need|have|know) )?(?:a |an |the |your |list of |their )*"
    r"(?P<what>(?:[\w'’/-]+ ){0,4}?(?:names?|ids?|identifiers?|versions?|tags?|tokens?|numbers?"
    r"|address(?:es)?|urls?|dates?|regions?|tickets?|requests?|lists?|paths?|passwords?|credentials"
    r"|reasons?|e-?mails?|usernames?|accounts?|keys?|notifications?|environment))\b",
    re.IGNORECASE,
)
_INPUT = re.compile(
    r"\|?\s*[*_]{0,2}`?[<{$]{0,2}(?P<name>[A-Za-z_][\w.-]{0,60})[>}]{0,2}`?[*_]{0,2}(?=\s*(?:\("
    r"|:|–|—|-|\||$))"
)


class Declarations:
    """Reads what is told once for the whole runbook, or for one step of it."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self.writer = writer
        self.reader = reader

    def declare(self, section: Section, node: Node | None = None) -> None:
        """A section that has no steps: rules, inputs, roles, or notes; those below it too. What
        stands below a step is about that ``node``."""
        for one in section.all():
            self.writer.desk.path = one.path
            heading = Piece(one.line, one.last or one.line, one.title)
            if one.level:
                self.writer.desk.note(heading, "note", node)
            if section.purpose == "guardrails":
                self._rules(one, node)
            elif section.purpose == "inputs":
                self._inputs(one)
            else:
                self.writer.tell(one.blocks, node)

    def _rules(self, section: Section, node: Node | None) -> None:
        for block in section.blocks:
            if block.kind in ("text", "list", "quote"):
                for piece in all_pieces(block):
                    if node is None:
                        self.writer.rule(piece, None)
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
        if first is None or item.number or item.is_checkbox or is_order(first.text):
            return False
        found = _KNOWN.match(core(first.text).split(". ")[0])
        if found is None or len(item.children) > 1:
            return False
        coded = re.search(r"`([A-Z][A-Z0-9_]{2,})`", first.text)
        name = input_name(coded[1] if coded else found["what"])
        self.writer.found.inputs.setdefault(
            name, Value(name, description=first.text, required=False, line=first.line)
        )
        for piece in (first, *rest):
            self.writer.desk.note(piece, "input")
        return True

    def _inputs(self, section: Section) -> None:
        for block in section.blocks:
            items = block.children if block.kind == "list" else []
            for item in items:
                first, rest = first_piece(item)
                if first is None or not self._input(first):
                    self.writer.tell([item], None)
                    continue
                for piece in rest:
                    self.writer.say(piece, None)
                self.writer.tell(item.children[1:], None)
            if block.kind == "table":
                for row in read_table(block).all_rows:
                    if not self._input(row):
                        self.writer.say(row, None)
            elif not items:
                self.writer.tell([block], None)

    def _input(self, piece: Piece) -> bool:
        found = _INPUT.match(piece.text)
        if found is None:
            return False
        name = input_name(found["name"])
        told = piece.text[found.end() :].strip(" :–—-|")
        optional = bool(re.search(r"\b(?:optional|default)\b", piece.text[:200], re.IGNORECASE))
        self.writer.found.inputs[name] = Value(
            name, description=told, required=not optional, line=piece.line
        )
        self.writer.desk.note(piece, "input")
        return True
