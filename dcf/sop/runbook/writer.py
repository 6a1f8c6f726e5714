"""What a sentence became: a step, a rule, text of a step, a note, a question."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dcf.sop.conduct import Retry
from dcf.sop.procedure import Guardrail, Note, Value
from dcf.sop.runbook.approvals import Consent, read_consent
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.clauses import is_practice
from dcf.sop.runbook.command import inline_commands
from dcf.sop.runbook.consequences import changes_right
from dcf.sop.runbook.desk import Desk
from dcf.sop.runbook.durations import read_deadline, read_times, read_wait
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.flowchart import is_chart
from dcf.sop.runbook.items import whole
from dcf.sop.runbook.placeholders import given_values, input_name, placeholders
from dcf.sop.runbook.roles import role_in
from dcf.sop.runbook.rules import is_rule
from dcf.sop.runbook.scope import Found, Scope
from dcf.sop.runbook.sequence import is_sequence
from dcf.sop.runbook.wording import Piece, core, pieces, title_of

_IT = re.compile(r"(?:it|they|this|these)(?= (?:is|are)\b)", re.IGNORECASE)
_PLACES = ("note", "step", "guardrail")


def approval(piece: Piece, consent: Consent) -> Node:
    """Somebody's consent, in the words that ask for it."""
    return Node(piece.line, title_of(consent.text), "approval", approvers=consent.by)


class Writer:
    """``charts`` are drawn once it is known whether there are other steps. ``given`` are variables
    that the runbook sets. ``of_people``: it is about what people do, and has no code."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.found = Found()
        self.charts: list[Block] = []
        self.given: frozenset[str] = frozenset()
        self.of_people = False

    def is_practised(self, text: str) -> bool:
        """Whether ``text`` tells what people do as a rule: ``Lost badges are destroyed``."""
        return self.of_people and is_practice(core(text)) and not is_rule(text)

    def settles(self, then: str) -> bool:
        """Whether ``then`` says what becomes of somebody's request or right: ``it is returned``."""
        dealt_with = self.is_practised(_IT.sub("the request", then, count=1))
        return self.of_people and (changes_right(then) or dealt_with)

    def act(self, piece: Piece, title: str, scope: Scope, said: Iterable[str] = ()) -> Node:
        """A new step that ``piece`` tells of, behind the consent that it takes."""
        role, told = role_in(title)
        node = Node(piece.line, title_of(told), role=role or None)
        node.texts += said
        node.commands += inline_commands(title, piece.line)
        seconds = read_wait(told)
        consent = read_consent(told) if seconds is None else None
        if seconds is not None:
            node.kind, node.seconds = "wait", seconds
        elif consent is not None and consent.alone:
            node.kind, node.approvers = "approval", consent.by
        elif consent is not None:
            scope.nodes.append(approval(piece, consent))
        times = read_times(told)
        if times and node.kind == "manual":
            node.retries = (Retry(times),)
        if node.kind != "wait":
            node.deadline = read_deadline(told)
        self.take_inputs(title, node, is_code=False)
        self.desk.note(piece, "step", node)
        scope.nodes.append(node)
        return node

    def retry(self, piece: Piece, node: Node | None) -> None:
        """Let ``node`` be tried again as often as ``piece`` says, if it does."""
        times = read_times(piece.text)
        if times and node is not None and node.kind == "manual" and not node.retries:
            node.retries = (Retry(times),)

    def rule(self, piece: Piece, node: Node | None, scope: Scope | None = None) -> None:
        """A rule; the consent that it asks for is got at this place of ``scope``, else before the
        step that it is about."""
        consent = read_consent(piece.text)
        self.take_inputs(piece.text, node, is_code=False, line=piece.line)
        if consent is not None:
            node = approval(piece, consent)
            (self.found.consents if scope is None else scope.nodes).append(node)
        self.desk.note(piece, "guardrail", node)
        self.found.guardrails.append(Guardrail(piece.text, piece.line))

    def consent_first(self, piece: Piece, scope: Scope) -> bool:
        """Whether ``piece`` says that somebody has to agree to the last step, and was taken."""
        consent = read_consent(piece.text)
        if consent is None or not scope.nodes or scope.nodes[-1].kind == "approval":
            return False
        node = approval(piece, consent)
        node.texts.append(piece.text)
        scope.nodes.insert(len(scope.nodes) - 1, node)
        self.desk.note(piece, "step", node)
        return True

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
            self.take_inputs(piece.text, None, is_code=False, line=piece.line)
            return
        node.texts.append(mark + piece.text)
        node.commands += inline_commands(piece.text, piece.line)
        self.take_inputs(piece.text, node, is_code=False)

    def tell(self, blocks: Iterable[Block], node: Node | None) -> None:
        """All that ``blocks`` say as text of ``node``, or as a note of the runbook."""
        for block in blocks:
            if block.kind == "code" and (is_chart(block) or is_sequence(block)):
                self.charts.append(block)
            elif block.kind in ("code", "html", "table"):
                self.say(whole(block), node)
            elif block.lines:
                for piece in pieces(block.lines):
                    self.say(piece, node)
            self.tell(block.children, node)

    def take_inputs(self, text: str, node: Node | None, *, is_code: bool, line: int = 0) -> None:
        """The placeholders in ``text``, which ``node`` reads, and what somebody has to tell."""
        line = node.line if node else line
        written = list(placeholders(text, is_code=is_code, given=self.given))
        names = {name: f"What stands for {name}" for name in written}
        if not is_code:
            names |= dict.fromkeys(given_values(text), text)
        for told, described in names.items():
            name = input_name(told)
            if name not in self.found.inputs:
                self.found.inputs[name] = Value(
                    name, description=described, required=False, line=line
                )
            if node is not None:
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
