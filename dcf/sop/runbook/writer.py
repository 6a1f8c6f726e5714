"""What a sentence became: a step, a rule, text of a step, a note, a question."""

from __future__ import annotations

from collections.abc import Iterable

from dcf.sop.conduct import Retry
from dcf.sop.procedure import Guardrail, Note, Value
from dcf.sop.runbook.approvals import read_approval
from dcf.sop.runbook.blocks import Block
from dcf.sop.runbook.command import inline_commands
from dcf.sop.runbook.desk import Desk
from dcf.sop.runbook.durations import read_deadline, read_times, read_wait
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.flowchart import is_chart
from dcf.sop.runbook.items import whole
from dcf.sop.runbook.placeholders import input_name, placeholders
from dcf.sop.runbook.roles import role_in
from dcf.sop.runbook.scope import Found, Scope
from dcf.sop.runbook.wording import Piece, pieces, title_of

_PLACES = ("note", "step", "guardrail")


class Writer:
    """``charts`` are drawn once it is known whether there are other steps."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.found = Found()
        self.charts: list[Block] = []

    def act(self, piece: Piece, title: str, scope: Scope, said: Iterable[str] = ()) -> Node:
        """A new step that ``piece`` tells of."""
        role, told = role_in(title)
        node = Node(piece.line, title_of(told), role=role or None)
        node.texts += said
        node.commands += inline_commands(title, piece.line)
        seconds = read_wait(told)
        who = read_approval(told)
        if seconds is not None:
            node.kind, node.seconds = "wait", seconds
        elif who is not None:
            node.kind, node.approvers = "approval", who
        times = read_times(told)
        if times and node.kind == "manual":
            node.retries = (Retry(times),)
        if node.kind != "wait":
            node.deadline = read_deadline(told)
        self.take_inputs(title, node, is_code=False)
        self.desk.note(piece, "step", node)
        scope.nodes.append(node)
        return node

    def rule(self, piece: Piece, node: Node | None) -> None:
        self.desk.note(piece, "guardrail", node)
        self.found.guardrails.append(Guardrail(piece.text, piece.line))

    def say(
        self, piece: Piece, node: Node | None, as_step: bool = False, bullet: bool = False
    ) -> None:
        """A sentence that whoever does the step reads."""
        self.desk.note(piece, "step" if as_step and node else "note", node)
        self.add_text(piece, node, "- " if bullet else "")

    def add_text(self, piece: Piece, node: Node | None, mark: str = "") -> None:
        if node is None:
            title = " / ".join(self.desk.path) or "Note"
            self.found.notes.append(Note(title, piece.text, piece.line))
            return
        node.texts.append(mark + piece.text)
        node.commands += inline_commands(piece.text, piece.line)
        self.take_inputs(piece.text, node, is_code=False)

    def tell(self, blocks: Iterable[Block], node: Node | None) -> None:
        """All that ``blocks`` say as text of ``node``, or as a note of the runbook."""
        for block in blocks:
            if block.kind == "code" and is_chart(block):
                self.charts.append(block)
            elif block.kind in ("code", "html", "table"):
                self.say(whole(block), node)
            elif block.lines:
                for piece in pieces(block.lines):
                    self.say(piece, node)
            self.tell(block.children, node)

    def take_inputs(self, text: str, node: Node, *, is_code: bool) -> None:
        for written in placeholders(text, is_code=is_code):
            name = input_name(written)
            if name not in self.found.inputs:
                described = f"What stands for {written}"
                self.found.inputs[name] = Value(
                    name, description=described, required=False, line=node.line
                )
            node.reads.append(name)

    def unclear(self, piece: Piece, scope: Scope) -> None:
        asks = "it is not clear what this is"
        place, answered = self.desk.ask(piece, asks, "note", _PLACES)
        if answered and place == "step":
            self.act(piece, piece.text, scope)
        elif answered and place == "guardrail":
            self.rule(piece, scope.told)
        elif answered:
            self.say(piece, scope.told)
        else:
            self.desk.note(piece, "question", scope.told)
            self.add_text(piece, scope.told)
