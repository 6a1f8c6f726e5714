"""Sentences that steer: decisions with their arms, jumps, ends, repetitions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dcf.sop.runbook.answers import read_answer, read_otherwise
from dcf.sop.runbook.approvals import read_consent
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.cases import read_case_of
from dcf.sop.runbook.conditions import Decision, read_decision, read_inside
from dcf.sop.runbook.consequences import is_denied, leads
from dcf.sop.runbook.ends import denies, hands_over, is_helpless, is_last_act, read_end
from dcf.sop.runbook.flow import NO, OTHERWISE, YES, Arm, End, Node
from dcf.sop.runbook.headings import bare_title, slug
from dcf.sop.runbook.items import first_piece
from dcf.sop.runbook.jumps import (
    goes_on,
    in_active,
    is_part,
    is_previous,
    like_step,
    linked,
    named_place,
    repeats,
    restarts,
    same_as,
    step_jump,
    step_of_place,
)
from dcf.sop.runbook.loops import Loops, read_each, read_until
from dcf.sop.runbook.rules import forbids
from dcf.sop.runbook.scope import Reader, Scope
from dcf.sop.runbook.subjects import read_subject
from dcf.sop.runbook.wording import Piece, core, is_order, plain, question_of, title_of
from dcf.sop.runbook.writer import Writer, approval

_ONLY = re.compile(r"\bonly\s+(?:if|when|once|after)\b", re.IGNORECASE)
_SHORT = 7
"""Letters of a name that many headings may have."""
_LONGEST_CASE = 6
_MOST_NESTED = 8
"""Commas of a consequence that may be a decision again; each would be looked at in each."""
_CASE = re.compile(r"(?:with|without|from|for|on|in)\b", re.IGNORECASE)
_BY_WHOM = re.compile(r"\sby\s", re.IGNORECASE)
"""``When it has been approved by the vet``: the condition is that somebody agrees."""
_OR = re.compile(r",?\s+or\s+(?:else\s+)?")
_JOINT = re.compile(r"\s*[,;]\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+|\.\s+")


class Steering:
    """``targets`` are the anchors of headings, ``asides`` those of sections that are reached by
    jumps alone, by the kind of what leads there. ``passed`` are the anchors of sections that are
    read already."""

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
        self.passed: list[str] = []

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
        inside = read_inside(piece.text)
        if inside is not None:
            self._inside(piece, inside, scope, below, rest)
            return True
        decision = read_decision(piece.text) or read_case_of(piece.text) or self._led(piece, scope)
        if decision is None and self.writer.of_people:
            decision = read_subject(piece.text)
        if decision is not None:
            return self.decide(piece, decision, scope, below, rest)
        until = read_until(piece.text)
        if until is not None:
            self._until(piece, *until, scope)
            self.reader.more(list(rest), list(below), scope)
            return True
        if below or rest or read_each(piece.text):
            return False
        return self._plain_move(piece, scope)

    def _led(self, piece: Piece, scope: Scope) -> Decision | None:
        """``With a spare disk, go to Replace the disk``: a case, and the place of this text that it
        leads to."""
        head, _, tail = piece.text.partition(", ")
        if not tail or len(head.split()) > _LONGEST_CASE or not _CASE.match(plain(head)):
            return None
        return Decision(head.strip(" *_"), tail) if self._jump(tail, scope) else None

    def _inside(
        self,
        piece: Piece,
        inside: tuple[str, str],
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> None:
        """An order and the condition behind it, in one sentence."""
        head, tail = inside
        self.writer.act(piece, head, scope)
        decision = read_decision(tail)
        if decision is not None:
            self._ask(piece, decision, scope, below, rest)

    def _asked(self, scope: Scope) -> Node | None:
        """The decision that was told last, whose other way is still open."""
        node = scope.last
        while node is not None and node.arms:
            labels = {arm.label for arm in node.arms}
            if not ({YES, NO} <= labels or OTHERWISE in labels):
                return node
            # ``Else if …``: what is still open is asked where the first one does not hold.
            last = node.arms[-1]
            node = last.nodes[0] if last.label == NO and len(last.nodes) == 1 else None
        return None

    def _otherwise(
        self,
        piece: Piece,
        then: str,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> None:
        asked = self._asked(scope)
        node = self._joined(scope) if asked is None or asked is scope.last else asked
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
            Arm(label, one.arms[0].nodes, one.line)
            for label, one in zip(labels, cases, strict=True)
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

    def decide(
        self,
        piece: Piece,
        decision: Decision,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> bool:
        """Whether ``decision`` decides anything, and was taken."""
        if not decision.then and not below:
            return False
        practised = self.writer.is_practised(decision.then)
        settled = self.writer.settles(decision.then)
        if decision.explains and not (below or rest or practised or settled):
            return False
        if settled:
            pass
        elif forbids(decision.then) and (rest_of_it := _besides(decision.then)):
            decision = replace(decision, then=rest_of_it)
        if forbids(decision.then) and not (settled or is_denied(decision.then)):
            self.writer.rule(piece, scope.told)
            self.reader.more(list(rest), list(below), scope)
            return True
        alone = not (below or rest or decision.otherwise or decision.further)
        if alone and self._waits(piece, decision):
            self.writer.act(piece, piece.text, scope)
            return True
        node = self._ask(piece, decision, scope, below, rest)
        self.writer.desk.note(piece, "condition", node)
        return True

    def _waits(self, piece: Piece, decision: Decision) -> bool:
        """Whether nothing is done until somebody agrees: ``unless the lead approves``."""
        only = decision.negated or _ONLY.search(piece.text) is not None
        return only and read_consent(piece.text) is not None and read_consent(decision.then) is None

    def _ask(
        self,
        piece: Piece,
        decision: Decision,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> Node:
        """The node that asks what ``decision`` is about; ``piece`` is noted by others."""
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
        arm = Arm(label, line=piece.line)
        node.arms.append(arm)
        self.writer.take_inputs(decision.condition, node, is_code=False)
        consent = read_consent(decision.condition) if decision.then else None
        if consent is not None and consent.by and _BY_WHOM.search(consent.text) and label == YES:
            arm.nodes.append(approval(piece, consent))
        self._fill(piece, decision.then, arm, node, scope, below, rest)
        opposite = Arm(NO if label == YES else YES, line=piece.line)
        further = read_decision(decision.further) if decision.further else None
        if further is not None and node.arm(opposite.label) is None:
            node.arms.append(opposite)
            inner = Scope(opposite.nodes, scope.section, scope.loops, node)
            self._ask(piece, further, inner, [], [])
        elif decision.otherwise or decision.further:
            node.arms.append(opposite)
            said = decision.otherwise or decision.further
            self.consequence(piece, said, opposite.nodes, scope, node)
        return node

    def any_of(self, piece: Piece, then: str, cases: Block, scope: Scope) -> None:
        """``Contact support if:`` over a list: it is done in each of these cases."""
        node = Node(piece.line, question_of(then))
        self.writer.desk.note(piece, "condition", node)
        scope.nodes.append(node)
        done: list[Node] = []
        self.consequence(piece, then, done, scope, node)
        anchor = f"case:{id(node)}"
        if done and done[0].title:
            done[0].anchors.append(anchor)
        for item in cases.children:
            first, rest = first_piece(item)
            if first is None or node.arm(title_of(first.text)) is not None:
                self.writer.tell([item], node)
                continue
            nodes = done
            if node.arms and done:
                led = not done[0].title
                to = done[0].jump if led else anchor
                nodes = [Node(first.line, "", jump=to, end=done[0].end if led else "")]
            self.writer.desk.note(first, "condition", node)
            node.arms.append(Arm(title_of(first.text), nodes, first.line))
            for one in rest:
                self.writer.say(one, node)
            self.writer.tell(item.children[1:], node)

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
        last = arm.nodes[-1] if arm.nodes else None
        by_sentence = last is not None and rest and not below and last.kind == "manual"
        if last and by_sentence and last.is_open and hands_over(last.title):
            last.end = "finish"
        if arm.nodes and is_helpless(node.title) and arm.nodes[-1].is_open:
            arm.nodes[-1].end = "finish"

    def consequence(
        self, piece: Piece, text: str, nodes: list[Node], scope: Scope, asked: Node
    ) -> None:
        """Nodes for what follows from a condition; ``piece`` is noted already."""
        said = text.strip(" *_.;:")
        if goes_on(text):
            return
        if self._choice(piece, said, nodes, scope):
            return
        whole = read_end(said)
        head, tail = ("", said) if whole else _parted(said)
        end = whole or read_end(tail)
        jump = self._jump(tail, scope) if not end else ""
        if not (end or jump) and (number := like_step(said)):
            kind = "part" if is_part(said) else "step"
            jump = f"{kind}:{scope.section}:{number.lower()}"
        if not (end or jump) and is_last_act(tail) and head and self._jump(head, scope):
            end = "finish"
        if end or jump:
            first = self._jump(head, scope) if head else ""
            if end == "stop" and head and hands_over(head):
                end = "finish"
            if head and not first:
                self._new(piece, head, nodes, scope)
            self._go(piece, nodes, first or jump, "" if first else end)
            return
        nested = read_decision(said) if said.count(",") <= _MOST_NESTED else None
        if nested is not None and nested.then and not nested.same:
            node = Node(piece.line, question_of(nested.condition))
            arm = Arm(NO if nested.negated else YES, line=piece.line)
            node.arms = [arm]
            nodes.append(node)
            self.consequence(piece, nested.then, arm.nodes, scope, node)
            return
        node = self._new(piece, said, nodes, scope)
        if is_last_act(said) and node.is_open:
            node.end = "stop" if denies(said) else "finish"

    def _choice(self, piece: Piece, said: str, nodes: list[Node], scope: Scope) -> bool:
        """``Repeat step 2 or escalate``: a choice of whoever does it, which was taken."""
        ways = _OR.split(said)
        if len(ways) != 2 or not any(self._jump(one, scope) for one in ways):
            return False
        if not all(self._jump(one, scope) or is_last_act(one) or read_end(one) for one in ways):
            return False
        node = Node(piece.line, title_of(said))
        nodes.append(node)
        for one in ways:
            arm = Arm(title_of(one), line=piece.line)
            node.arms.append(arm)
            self.consequence(piece, one, arm.nodes, scope, node)
        return True

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
        said = in_active(text.strip())
        placed = step_of_place(said)
        if placed is not None and (section := self._section(placed[1])):
            return f"step:{section}:{placed[0]}"
        step = step_jump(said)
        if step is not None:
            number, skipped = step
            if skipped and number.isdigit():
                number = str(int(number) + 1)
            kind = "part" if is_part(said) else "step"
            return f"{kind}:{scope.section}:{number.lower()}"
        for text, anchor in linked(said):
            if place := self._place(text, anchor):
                return place
        if restarts(said):
            return "start"
        if (same := same_as(said)) is not None:
            return self._section(same)
        if is_previous(said) and (before := self._before(scope)) is not None:
            return _marked(before)
        for words, anchor in self._asides.items():
            inside = any(anchor == f"#{slug(title)}" for title in self.writer.desk.path)
            if re.match(words, core(said), re.IGNORECASE) and not inside:
                return anchor
        name = named_place(said)
        return self._named(name) if name else ""

    def _place(self, text: str, anchor: str) -> str:
        """The anchor of the heading that a link leads to, by its address or else its words."""
        if f"#{anchor}" in self._targets.values():
            return f"#{anchor}"
        letters = re.sub(r"\W|_", "", anchor)
        alike = (one for one in self._targets.values() if re.sub(r"\W|_", "", one) == letters)
        return next(alike, "") or self._targets.get(bare_title(text).lower(), "")

    def _named(self, name: str) -> str:
        """The anchor of the heading that ``name`` names: the same words, or else the only one that
        has them all."""
        said = bare_title(name).lower()
        if said in self._targets:
            return self._targets[said]
        words = set(said.split())
        having = {anchor for title, anchor in self._targets.items() if words <= set(title.split())}
        return having.pop() if len(having) == 1 and len("".join(words)) > _SHORT else ""

    def _section(self, name: str) -> str:
        """The anchor of the section that ``name`` names: its heading, or the number in it; the one
        before for none."""
        if not name:
            return self.passed[-1] if self.passed else ""
        counted = (
            at for title, at in self._targets.items() if re.split(r"[.):\s]", title)[0] == name
        )
        return self._named(name) or next(counted, "")

    def _before(self, scope: Scope) -> Node | None:
        """The step before the one that is being read."""
        told = [node for node in scope.nodes if not node.arms or node is not scope.last]
        numbered = [one for one in told if any(name.startswith("step:") for name in one.anchors)]
        found = numbered or told
        return found[-1] if found else None

    def _until(self, piece: Piece, goal: str, again: bool, scope: Scope) -> None:
        """Do something until ``goal`` is so. ``again``: the step before, else what ``piece`` says
        itself."""
        last = scope.last
        if again and last is not None and last.is_open:
            node = Node(piece.line, question_of(goal))
            back = self._jump(piece.text, scope) or _marked(last)
            self.writer.desk.note(piece, "condition", node)
            scope.nodes.append(node)
        else:
            node = self.writer.act(piece, piece.text, scope)
            if node.kind != "manual":
                return
            node.texts.append(question_of(goal))
            back = _marked(node)
        node.arms = [Arm(YES), Arm(NO, [Node(piece.line, "", jump=back)])]

    def _plain_move(self, piece: Piece, scope: Scope) -> bool:
        """A jump or an end without a condition."""
        end = read_end(piece.text)
        again = repeats(piece.text)
        moves = again or is_order(piece.text)
        jump = self._jump(piece.text, scope) if moves and not end else ""
        if not end and not jump:
            return False
        if again:
            # What stands behind it is done when the other steps are.
            node = Node(piece.line, f"{title_of(piece.text)}: is that done?")
            node.arms = [Arm(YES), Arm(NO, [Node(piece.line, "", jump=jump)])]
            scope.nodes.append(node)
            self.writer.desk.note(piece, "condition", node)
            return True
        last = scope.last
        if end or last is None or not last.is_open or last.inside:
            last = Node(piece.line, title_of(piece.text), "end" if end else "manual")
            scope.nodes.append(last)
        else:
            last.texts.append(piece.text)
        last.end, last.jump, last.way_line = end, jump, piece.line
        self.writer.desk.note(piece, "step", last)
        return True


def _besides(text: str) -> str:
    """What is to be done besides what must not be: ``Do not sign; call security``."""
    clauses = re.split(r"\s*;\s*|\s+[–—-]\s+|,\s+(?:but|instead)\s+", text)
    return next((one for one in clauses[1:] if leads(one) and not forbids(one)), "")


def _marked(node: Node) -> str:
    """An anchor of ``node`` for jumps back to it."""
    anchor = f"again:{id(node)}"
    if anchor not in node.anchors:
        node.anchors.append(anchor)
    return anchor


def _parted(text: str) -> tuple[str, str]:
    """A consequence without its last part, and that part, where it ends or jumps."""
    for found in reversed(list(_JOINT.finditer(text))):
        tail = text[found.end() :]
        if read_end(tail) or step_jump(tail) or linked(tail) or restarts(tail):
            return text[: found.start()].strip(), tail.strip()
    return "", text
