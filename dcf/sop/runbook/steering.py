"""Sentences that steer: decisions with their arms, jumps, ends, repetitions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcf.sop.runbook.blocks import Block
from dcf.sop.runbook.conditions import (
    Decision,
    leads,
    read_answer,
    read_arrow,
    read_decision,
    read_otherwise,
)
from dcf.sop.runbook.ends import is_helpless, is_last_act, read_end
from dcf.sop.runbook.flow import NO, OTHERWISE, YES, Arm, End, Node
from dcf.sop.runbook.headings import bare_title
from dcf.sop.runbook.jumps import goes_on, linked, named_place, restarts, step_jump
from dcf.sop.runbook.loops import Loops, read_until
from dcf.sop.runbook.rules import forbids
from dcf.sop.runbook.scope import Reader, Scope
from dcf.sop.runbook.wording import Piece, core, is_order, question_of, title_of
from dcf.sop.runbook.writer import Writer

_JOINT = re.compile(r"\s*[,;]\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+|\.\s+")


class Steering:
    """``targets`` are the anchors of headings, ``asides`` those of sections that are reached by
    jumps alone, by the kind of what leads there."""

    def __init__(
        self,
        writer: Writer,
        reader: Reader,
        loops: Loops,
        targets: dict[str, str],
        asides: dict[str, str],
    ) -> None:
        self.writer = writer
        self.reader = reader
        self.loops = loops
        self._targets = targets
        self._asides = asides

    def move(
        self, piece: Piece, scope: Scope, below: Sequence[Block], rest: Sequence[Piece]
    ) -> bool:
        """Whether ``piece`` steers, and was taken: a decision, a jump, an end, a repetition.
        ``below`` is what stands inside the item that it begins, with the ``rest`` of its text."""
        otherwise = read_otherwise(piece.text)
        if otherwise is not None and self._asked(scope) is not None:
            self._otherwise(piece, otherwise, scope, below, rest)
            return True
        answer = read_answer(piece.text)
        asked = self._asked(scope) or scope.last
        if answer is not None and asked is not None and asked.kind == "manual":
            self.answered(piece, answer, asked, scope, below, rest)
            return True
        decision = read_decision(piece.text) or read_arrow(piece.text)
        if decision is not None:
            return self._decide(piece, decision, scope, below, rest)
        goal = read_until(piece.text)
        if goal is not None and scope.last is not None and scope.last.is_open:
            self._until(piece, goal, scope)
            self.reader.more(list(rest), list(below), scope)
            return True
        if below or rest:
            return False
        return self._plain_move(piece, scope)

    def _asked(self, scope: Scope) -> Node | None:
        """The decision that was told last, whose other way is still open."""
        node = scope.last
        if node is None or not node.arms:
            return None
        labels = {arm.label for arm in node.arms}
        return None if {YES, NO} <= labels or OTHERWISE in labels else node

    def _otherwise(
        self,
        piece: Piece,
        then: str,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> None:
        node = self._joined(scope)
        label = OTHERWISE
        if {arm.label for arm in node.arms} <= {YES, NO}:
            label = NO if node.arm(YES) else YES
        arm = Arm(label, line=piece.line)
        node.arms.append(arm)
        self.writer.desk.note(piece, "condition", node)
        self._fill(piece, then, arm, node, scope, below, rest)

    def _joined(self, scope: Scope) -> Node:
        """The decision before; of several in a row, one that asks which of them it is."""
        count = 0
        for node in reversed(scope.nodes):
            alone = len(node.arms) == 1 and node.arms[0].label == YES and not node.inside
            counted = any(anchor.startswith("step:") for anchor in node.anchors)
            if not alone or counted or node.commands or node.texts:
                break
            count += 1
        if count < 2:
            return scope.nodes[-1]
        cases = scope.nodes[-count:]
        joined = cases[0]
        labels = [one.title.rstrip("?") for one in cases]
        if len(set(labels)) < len(labels):
            return scope.nodes[-1]
        joined.arms = [
            Arm(label, one.arms[0].nodes) for label, one in zip(labels, cases, strict=True)
        ]
        for noted in self.writer.desk.noted:
            if noted.node in cases[1:]:
                noted.node = joined
        for one in cases[1:]:
            joined.anchors += one.anchors
        joined.title = " / ".join(one.title for one in cases)
        del scope.nodes[-count + 1 :]
        return joined

    def answered(
        self,
        piece: Piece,
        answer: tuple[str, str],
        node: Node,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> None:
        label, then = answer
        arm = node.arm(label)
        if arm is None:
            arm = Arm(label, line=piece.line)
            node.arms.append(arm)
        self.writer.desk.note(piece, "condition", node)
        self._fill(piece, then, arm, node, scope, below, rest)

    def _decide(
        self,
        piece: Piece,
        decision: Decision,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> bool:
        if not decision.then and not below:
            return False
        if forbids(decision.then):
            self.writer.rule(piece, scope.told)
            self.reader.more(list(rest), list(below), scope)
            return True
        before = scope.last
        if decision.same and before is not None and before.kind == "manual":
            node, label = before, decision.label
            if not node.is_open and node.arm(label) is not None:
                node = Node(piece.line, node.title)
                scope.nodes.append(node)
        else:
            node = Node(piece.line, question_of(decision.condition))
            label = NO if decision.negated else YES
            scope.nodes.append(node)
        self.writer.desk.note(piece, "condition", node)
        arm = Arm(label, line=piece.line)
        node.arms.append(arm)
        self.writer.take_inputs(decision.condition, node, is_code=False)
        self._fill(piece, decision.then, arm, node, scope, below, rest)
        if decision.otherwise:
            other = Arm(NO if label == YES else YES, line=piece.line)
            node.arms.append(other)
            self.consequence(piece, decision.otherwise, other.nodes, scope, node)
        return True

    def _fill(
        self,
        piece: Piece,
        then: str,
        arm: Arm,
        node: Node,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> None:
        """What is done in ``arm``: what the sentence says, then what stands below it."""
        inner = Scope(arm.nodes, scope.section, scope.loops, node)
        # What only says how things are then is told with the first thing to do.
        told = bool(then) and not leads(then) and any(is_order(one.text) for one in rest)
        if not told:
            self.consequence(piece, then, arm.nodes, scope, node)
        for at, one in enumerate(rest):
            otherwise = read_otherwise(one.text)
            if otherwise is not None and self._asked(scope) is node:
                self._otherwise(one, otherwise, scope, below, rest[at + 1 :])
                below = ()
                break
            self.reader.sentence(one, inner, in_step=False)
        self.reader.blocks(list(below), inner, in_step=False)
        if told and arm.nodes:
            arm.nodes[0].texts.insert(0, then)
        if arm.nodes and is_helpless(node.title) and arm.nodes[-1].is_open:
            arm.nodes[-1].end = "finish"

    def consequence(
        self, piece: Piece, text: str, nodes: list[Node], scope: Scope, asked: Node
    ) -> None:
        """Nodes for what follows from a condition; ``piece`` is noted already."""
        said = text.strip(" *_.;:")
        if goes_on(text):
            return
        head, tail = _parted(said)
        end = read_end(tail)
        jump = self._jump(tail, scope) if not end else ""
        if not (end or jump) and is_last_act(tail) and head and self._jump(head, scope):
            end = "finish"
        if end or jump:
            first = self._jump(head, scope) if head else ""
            if head and not first:
                self._new(piece, head, nodes, scope)
            self._go(piece, nodes, first or jump, "" if first else end)
            return
        nested = read_decision(said)
        if nested is not None and nested.then and not nested.same:
            node = Node(piece.line, question_of(nested.condition))
            arm = Arm(NO if nested.negated else YES, line=piece.line)
            node.arms = [arm]
            nodes.append(node)
            self.consequence(piece, nested.then, arm.nodes, scope, node)
            return
        node = self._new(piece, said, nodes, scope)
        if is_last_act(said):
            node.end = "finish"

    def _go(self, piece: Piece, nodes: list[Node], jump: str, end: End) -> None:
        """Go elsewhere after ``nodes``."""
        if not nodes or not nodes[-1].is_open or nodes[-1].inside or nodes[-1].kind == "end":
            # Nothing is done but to go there, unless something has to be left first.
            nodes.append(Node(piece.line, title_of(piece.text) if nodes else ""))
        nodes[-1].jump, nodes[-1].end = jump, end

    def _new(self, piece: Piece, said: str, nodes: list[Node], scope: Scope) -> Node:
        """A step that part of a sentence tells of, which is noted already."""
        inner = Scope(nodes, scope.section, scope.loops)
        node = self.writer.act(piece, said, inner)
        self.writer.desk.noted.pop()
        self.loops.repeat_alone(node, piece, said, inner)
        return node

    def _jump(self, text: str, scope: Scope) -> str:
        """The anchor that ``text`` leads to, empty for none."""
        said = text.strip()
        step = step_jump(said)
        if step is not None:
            number, skipped = step
            if skipped and number.isdigit():
                number = str(int(number) + 1)
            return f"step:{scope.section}:{number.lower()}"
        for anchor in linked(said):
            if f"#{anchor}" in self._targets.values():
                return f"#{anchor}"
        if restarts(said):
            return "start"
        for words, anchor in self._asides.items():
            if re.match(words, core(said), re.IGNORECASE):
                return anchor
        name = named_place(said)
        return self._targets.get(bare_title(name).lower(), "") if name else ""

    def _until(self, piece: Piece, goal: str, scope: Scope) -> None:
        """Go back to the step before until something is so."""
        last = scope.nodes[-1]
        anchor = f"again:{id(last)}"
        last.anchors.append(anchor)
        node = Node(piece.line, question_of(goal))
        node.arms = [
            Arm(YES),
            Arm(NO, [Node(piece.line, "", jump=self._jump(piece.text, scope) or anchor)]),
        ]
        self.writer.desk.note(piece, "condition", node)
        scope.nodes.append(node)

    def _plain_move(self, piece: Piece, scope: Scope) -> bool:
        """A jump or an end without a condition."""
        end = read_end(piece.text)
        jump = "" if end or not is_order(piece.text) else self._jump(piece.text, scope)
        if not end and not jump:
            return False
        last = scope.last
        if end or last is None or not last.is_open or last.inside:
            last = Node(piece.line, title_of(piece.text), "end" if end else "manual")
            scope.nodes.append(last)
        else:
            last.texts.append(piece.text)
        last.end, last.jump, last.way_line = end, jump, piece.line
        self.writer.desk.note(piece, "step", last)
        return True


def _parted(text: str) -> tuple[str, str]:
    """A consequence without its last part, and that part, where it ends or jumps."""
    for found in reversed(list(_JOINT.finditer(text))):
        tail = text[found.end() :]
        if read_end(tail) or step_jump(tail) or linked(tail):
            return text[: found.start()].strip(), tail.strip()
    return "", text
