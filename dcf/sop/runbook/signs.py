"""What tells that a section, or what stands under the title, has steps."""

from __future__ import annotations

from dcf.sop.runbook.approvals import read_consent
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.cases import acts, decides
from dcf.sop.runbook.conditions import opens, read_decision
from dcf.sop.runbook.ends import hands_over
from dcf.sop.runbook.headings import is_step_heading
from dcf.sop.runbook.items import (
    all_pieces,
    has_commands,
    is_answered,
    is_command,
    tells_cases,
)
from dcf.sop.runbook.loops import read_each
from dcf.sop.runbook.rules import is_rule
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.tables import read_table
from dcf.sop.runbook.wording import Piece, pieces
from dcf.sop.runbook.writer import Writer

_SHELLS = frozenset({"bash", "sh", "shell", "console"})


class Signs:
    """``writer`` knows whether the text is about what people do."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def procedural(self, section: Section) -> bool:
        """Whether a section has steps: its heading says so, or what stands in it."""
        if is_step_heading(section.title):
            return True
        if section.purpose in ("note", "inputs", "roles", "guardrails", "objective"):
            return False
        if section.purpose in ("steps", "first", "aside"):
            return bool(section.blocks)
        if is_step_heading(section.title):
            return True
        return (
            any(self._tells_steps(block) for block in section.blocks)
            or decides(section)
            or any(self.procedural(child) for child in section.children)
        )

    def is_procedure(self, section: Section) -> bool:
        """Whether a section says of itself that it has steps: by its heading or by numbers."""
        lists = (one for one in section.blocks if one.kind == "list")
        return section.purpose == "steps" or any(
            item.number or item.is_checkbox for one in lists for item in one.children
        )

    def practise(self, section: Section) -> bool:
        """Whether rules or roles tell what people do in a case: clauses with a subject or orders,
        and not only what must and must not be."""
        if section.purpose not in ("guardrails", "roles") or not self._writer.of_people:
            return False
        said = [one.text for block in section.all_blocks() for one in all_pieces(block)]
        done = [one for one in said if self._acts(one) and not is_rule(one)]
        return bool(done) and (section.purpose == "guardrails" or 2 * len(done) > len(said))

    def begin_steps(self, block: Block, has_steps: bool) -> bool:
        """Whether steps begin with a block under the title: numbered ones, or where there are no
        others, orders and commands."""
        if block.kind == "list":
            numbered = any(item.number or item.is_checkbox for item in block.children)
            return numbered or (not has_steps and self._order_in(block))
        if block.kind == "table":
            return any(row.is_step for row in read_table(block).rows)
        if has_steps:
            return has_commands(block) or self._passes_on(block)
        return block.kind == "code" or self._order(block)

    def _passes_on(self, block: Block) -> bool:
        """Whether a paragraph says in which case somebody else takes over."""
        decisions = (read_decision(one.text) for one in pieces(block.lines))
        return block.kind == "text" and any(one and hands_over(one.then) for one in decisions)

    def introduce(self, block: Block) -> bool:
        """Whether a paragraph says what the commands below it are for."""
        return block.kind == "text" and (block.text.rstrip().endswith(":") or self._order(block))

    def _tells_steps(self, block: Block) -> bool:
        if block.kind == "list":
            return tells_cases(block) or self._lists_steps(block)
        if block.kind == "code":
            return block.info.split(" ")[0] in _SHELLS
        if block.kind == "table":
            return any(row.is_step for row in read_table(block).rows)
        return block.kind == "text" and (
            self._order(block)
            or any(read_consent(piece.text) is not None for piece in pieces(block.lines))
        )

    def _lists_steps(self, block: Block) -> bool:
        orders = 0
        for item in block.children:
            if item.number or item.is_checkbox:
                return True
            if item.children and item.children[0].lines:
                said = item.children[0].text
                if read_consent(said) is not None:
                    return True
                orders += self._acts(said) or is_command(Piece(item.line, item.line, said))
        if 2 * orders > len(block.children):
            return True
        if not self._writer.of_people:
            return False
        told = all_pieces(block)
        return 3 * sum(self._acts(one.text) for one in told) > len(told)

    def _order_in(self, block: Block) -> bool:
        """Whether an item is an order, or decides over what stands below it."""
        return any(
            item.children and (self._order(item.children[0]) or self._order_below(item))
            for item in block.children
        )

    def _order_below(self, item: Block) -> bool:
        lists = [block for block in item.children[1:] if block.kind == "list"]
        if is_answered(item) or (lists and opens(item.children[0].text)):
            return True
        return any(map(self._order_in, lists))

    def _order(self, block: Block) -> bool:
        if block.text.endswith(":") and read_each(block.text):
            return True
        return any(self._acts(piece.text) for piece in pieces(block.lines))

    def _acts(self, text: str) -> bool:
        return acts(text) or self._writer.is_practised(text)
