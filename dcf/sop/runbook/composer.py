"""Blocks of a runbook as what is to be done.

Each sentence is noted in one place while it is read. A list item, a heading that is numbered as a
step and an order in running text are steps; what only tells something belongs to the step before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dcf.sop.procedure import Guardrail, Note, Value
from dcf.sop.runbook import moves
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.callouts import Callout, with_callouts
from dcf.sop.runbook.command import inline_commands, read_commands
from dcf.sop.runbook.desk import Desk
from dcf.sop.runbook.flow import NO, OTHERWISE, YES, Arm, End, Node
from dcf.sop.runbook.flowchart import is_chart, read_chart
from dcf.sop.runbook.headings import bare_title, is_step_heading, slug, step_number
from dcf.sop.runbook.phrases import say
from dcf.sop.runbook.placeholders import input_name, placeholders
from dcf.sop.runbook.roles import role_in
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.tables import Row, read_table
from dcf.sop.runbook.wording import Piece, core, is_order, pieces

MAX_LOOPS = 4
"""Loops inside loops; a deeper one is done as one step."""
_PLACES = ("note", "step", "guardrail")
_OPEN = re.compile(r"\b(?:TODO|TBD|FIXME|XXX|to be (?:determined|defined|written|completed))\b")
_TOLD = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|would|does|do|did|can|could|should|must|may"
    r"|might|fires?|contains?|shows?|means?|it|this|these|that|there|we|you|they)\b|\w+(?:ed|es"
    r"|s)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:check|verify|see|determine|confirm|find out|decide|test|validate|establish|assess)\s+"
    r"(?:to see\s+)?(?:whether|if)\s+",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Scope:
    """The list of nodes that is being filled. ``section`` names the anchors of its numbers,
    ``owner`` is the step that the list is inside of, ``numbers`` are those that a table gives to
    the section."""

    nodes: list[Node]
    section: int
    loops: int = 0
    owner: Node | None = None
    numbers: list[str] = field(default_factory=list)

    @property
    def last(self) -> Node | None:
        return self.nodes[-1] if self.nodes else None

    @property
    def told(self) -> Node | None:
        """The node that a sentence is about which only tells something."""
        return self.last or self.owner


@dataclass(slots=True)
class Found:
    """What the whole runbook declares besides its steps."""

    guardrails: list[Guardrail] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    inputs: dict[str, Value] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)


class Composer:
    """Reads sections into nodes. ``by_cases``: sections beside one another are cases, as in a
    policy, and do not follow one another. ``charts`` are drawn once it is
    known whether there are other steps. ``targets`` are the anchors of headings, ``asides`` those
    of sections that are reached by jumps alone, by the kind of what leads there."""

    def __init__(self, desk: Desk, targets: dict[str, str], asides: dict[str, str]) -> None:
        self.desk = desk
        self.found = Found()
        self.by_cases = False
        self.charts: list[Block] = []
        self._others: list[Node] = []
        self._targets = targets
        self._asides = asides
        self._sections = 0

    # Sections

    def section(self, section: Section, aside: bool = False, counted: bool = False) -> list[Node]:
        """The nodes of a section whose blocks are steps, and of those below it. ``counted``: its
        heading is one of several that are numbered, and so a step."""
        self._sections += 1
        scope = Scope([], self._sections)
        self.desk.path = section.path
        heading = Piece(section.line, section.last or section.line, section.title)
        decision = moves.read_decision(section.title) or (
            moves.Decision(section.title, "") if section.title.endswith("?") else None
        )
        if section.level and not aside and decision and not decision.same:
            return self._decided(section, heading, decision, scope)
        node = None if aside else self._open_heading(section, heading, scope, counted)
        inner = scope if node is None else Scope(node.inside, scope.section, 0, node)
        self.blocks(section.blocks, inner)
        self._below(section.children, inner)
        self.desk.path = section.path
        self._anchor(section, scope.nodes)
        if scope.nodes:
            scope.nodes[0].anchors += [f"step:h:{number}" for number in inner.numbers]
        if section.level and node is None:
            self.desk.note(heading, "note", scope.nodes[0] if scope.nodes else None)
        return scope.nodes

    def _below(self, children: Sequence[Section], scope: Scope) -> None:
        cases = [one for one in children if self.by_cases and is_case(one)]
        counted = len(children) > 1 and all(_is_counted(one) for one in children)
        for child in children:
            if counted:
                scope.nodes += self.section(child, counted=True)
            elif len(cases) < 2 or child not in cases:
                scope.nodes += self.section_or_note(child, scope.owner or scope.last)
            elif child is cases[0]:
                scope.nodes.append(self.cases(cases))

    def cases(self, sections: Sequence[Section]) -> Node:
        """Sections of a policy that each say how one request is dealt with, as one decision."""
        titles = [bare_title(one.title) for one in sections]
        node = Node(sections[0].line, " / ".join(dict.fromkeys(titles)))
        for title, section in zip(titles, sections, strict=True):
            nodes = self.section(section)
            arm = node.arm(title)
            if arm is None:
                node.arms.append(Arm(title, nodes, section.line))
            else:
                arm.nodes += nodes
        if self._others:
            node.arms.append(Arm(OTHERWISE, self._others, self._others[0].line))
            self._others = []
        return node

    def _all_others(self, piece: Piece) -> bool:
        """Whether ``piece`` says what is done in no case of a policy, and was taken."""
        if not self.by_cases or not moves.is_of_others(piece.text):
            return False
        node = Node(piece.line, _title(piece.text), end="finish")
        self._others.append(node)
        self.desk.note(piece, "condition", node)
        return True

    def section_or_note(self, section: Section, node: Node | None) -> list[Node]:
        """A section below one of steps: steps too, unless its heading says what else it is."""
        told = ("note", "guardrails", "inputs", "roles", "objective")
        if section.purpose in told and not has_numbered_orders(section):
            self.declare(section, node)
            return []
        return self.section(section)

    def _open_heading(
        self, section: Section, heading: Piece, scope: Scope, counted: bool
    ) -> Node | None:
        """The step that a heading names, which its section tells more of."""
        title = bare_title(section.title)
        is_phase = section.purpose != "unknown" and len(title.split()) < 3
        is_step = counted or is_step_heading(section.title) or (is_order(title) and not is_phase)
        if not section.level or not is_step or not (section.blocks or section.children):
            return None
        node = self._act(heading, title, scope)
        number = step_number(section.title)
        if number:
            _number(node, number, scope)
        return node

    def _anchor(self, section: Section, nodes: Sequence[Node]) -> None:
        if nodes and section.level:
            nodes[0].anchors.append(f"#{slug(section.title)}")
            number = step_number(section.title)
            if number:
                named = "h" if is_step_heading(section.title) else "*"
                nodes[0].anchors.append(f"step:{named}:{number}")

    def _decided(
        self, section: Section, heading: Piece, decision: moves.Decision, scope: Scope
    ) -> list[Node]:
        """A heading that is a condition, over what is done then."""
        node = Node(heading.line, _question(decision.condition))
        self.desk.note(heading, "condition", node)
        inner = Scope([], scope.section, scope.loops)
        arms = self._answers(section.blocks, node, inner)
        if not arms:
            self.blocks(section.blocks, inner)
            self._below(section.children, inner)
            node.arms = [Arm(NO if decision.negated else YES, inner.nodes)]
        self._anchor(section, [node])
        return [node]

    # Blocks

    def blocks(self, blocks: Sequence[Block], scope: Scope, in_step: bool = False) -> None:
        """Add what ``blocks`` tell to ``scope``. ``in_step``: they tell more of its last node."""
        told = list(with_callouts(blocks))
        for at, block in enumerate(told):
            if isinstance(block, Callout):
                self.callout(block, scope)
                continue
            following = told[at + 1] if at + 1 < len(told) else None
            match block.kind:
                case "text" | "heading":
                    leads = not in_step and _has_commands(following)
                    self._paragraph(block, scope, in_step, leads)
                case "list":
                    self._list(block, scope, in_step)
                case "code":
                    self.code(block, scope)
                case "table":
                    self._table(block, scope)
                case "quote":
                    self._quote(block, scope)
                case _:
                    self._tell(_whole(block), scope.told)

    def _paragraph(self, block: Block, scope: Scope, in_step: bool, leads: bool) -> None:
        """``leads``: commands stand below it, so what ends with a colon is what they are for."""
        for piece in pieces(block.lines):
            if leads and piece.text.endswith(":") and not is_order(piece.text):
                if not self._move(piece, scope, [], []):
                    self._act(piece, piece.text, scope)
            else:
                self.sentence(piece, scope, in_step=in_step)

    def _quote(self, block: Block, scope: Scope) -> None:
        for inner in block.children:
            if inner.kind == "code":
                self.code(inner, scope)
            else:
                self.tell([inner], scope.told)

    def callout(self, callout: Callout, scope: Scope) -> None:
        """A warning is a rule; a note, what somebody should know who does the step."""
        if callout.title:
            self._tell(callout.title, scope.told)
        if not callout.is_warning:
            self.tell(callout.blocks, scope.told)
            return
        for block in callout.blocks:
            if block.kind not in ("text", "list", "item"):
                self.tell([block], scope.told)
                continue
            for piece in _all_pieces(block):
                self._rule(piece, scope.told)

    def code(self, block: Block, scope: Scope) -> None:
        """A block of code belongs to the step before; it is one of its own where none is open."""
        if is_chart(block):
            self.charts.append(block)
            return
        piece = Piece(block.line, block.last, block.text)
        inner = block.lines[1:-1]
        text = "\n".join(row for _, row in inner)
        commands = read_commands(text, block.info, inner[0][0] if inner else block.line)
        node = scope.last.newest if scope.last else scope.owner
        if node is None and commands:
            node = Node(block.line, f"Run `{_first_line(commands[0].text)}`")
            scope.nodes.append(node)
            self.desk.note(piece, "step", node)
        else:
            self.desk.note(piece, "step" if node and commands else "note", node)
        if node is None:
            self.found.notes.append(
                Note(" / ".join(self.desk.path) or "Note", block.text, block.line)
            )
            return
        node.texts.append(block.text)
        node.commands += commands
        self._take_inputs(text, node, is_code=True)

    def _table(self, block: Block, scope: Scope) -> None:
        table = read_table(block)
        for piece in table.others:
            self._tell(piece, scope.told)
        for row in table.rows:
            if row.condition:
                self._case(row, scope)
            elif row.action:
                node = self._act(row.piece, row.action, scope, said=row.said)
                node.role = row.role or node.role
                if row.number:
                    _number(node, row.number, scope)
            else:
                scope.numbers += [row.number] if row.number else []
                self._tell(row.piece, scope.told)

    def _case(self, row: Row, scope: Scope) -> None:
        node = Node(row.piece.line, _question(row.condition))
        self.desk.note(row.piece, "condition", node)
        node.texts += row.said
        arm = Arm(YES, line=row.piece.line)
        self._consequence(row.piece, row.action, arm.nodes, scope, node)
        node.arms = [arm]
        scope.nodes.append(node)

    # Lists

    def _list(self, block: Block, scope: Scope, in_step: bool) -> None:
        node = scope.last
        if all(_is_link(item) for item in block.children):
            self.tell([block], None)  # a table of contents
            return
        if node is not None and node.is_open and self._answers([block], node, scope):
            return
        items = block.children
        inner = scope
        if in_step and node is not None and node.kind != "end":
            # What a step consists of: orders, and decisions; the rest tells more of it.
            inside = node.body if node.kind == "loop" else node.inside
            loops = scope.loops + (node.kind == "loop")
            inner = Scope(inside, scope.section, loops, node)
        are_steps = _are_steps(items)
        for item in items:
            self._item(item, inner, are_steps)

    def _answers(self, blocks: Sequence[Block], node: Node, scope: Scope) -> bool:
        """Whether ``blocks`` are answers (``Yes: …``, ``No: …``) to what ``node`` asks; then they
        are its arms."""
        items = [item for block in blocks if block.kind == "list" for item in block.children]
        if not items or len(blocks) != 1 or not all(_answer_of(item) for item in items):
            return False
        for item in items:
            first, rest = _first_piece(item)
            answer = moves.read_answer(first.text) if first else None
            if first is not None and answer is not None:
                self._answered(first, answer, node, scope, item.children[1:], rest)
        return True

    def _item(self, item: Block, scope: Scope, is_step: bool) -> None:
        first, rest = _first_piece(item)
        before = len(scope.nodes)
        below = item.children[1:]
        if first is None:
            self.blocks(item.children, scope)
        elif self._all_others(first):
            self._more(rest, below, scope)
        elif self._move(first, scope, below, rest):
            pass
        elif say(first, scope.told, self.found.inputs):
            self.desk.note(first, "note", scope.told)
            self._more(rest, below, scope)
        elif is_step or is_order(first.text):
            self._step_item(item, first, rest, below, scope)
        elif moves.is_hard_rule(first.text):
            self._rule(first, scope.told)
            self._more(rest, below, scope)
        else:
            self._tell(first, scope.told, bullet=True)
            self._more(rest, below, scope)
        if len(scope.nodes) > before and item.number:
            _number(scope.nodes[before], item.number, scope)

    def _more(self, rest: list[Piece], below: list[Block], scope: Scope) -> None:
        for piece in rest:
            self.sentence(piece, scope, in_step=True)
        self.blocks(below, scope, in_step=True)

    def _step_item(
        self, item: Block, first: Piece, rest: list[Piece], below: list[Block], scope: Scope
    ) -> None:
        if moves.is_hard_rule(first.text) and not item.number and not item.is_checkbox:
            self._rule(first, scope.told)
            self._more(rest, below, scope)
            return
        node = self._act(first, first.text, scope)
        told = (moves.read_each(one.text) for one in (first, *rest))
        each = next((one for one in told if one), "")
        if each and scope.loops < MAX_LOOPS and node.kind == "manual":
            self._loop(node, each, first, rest, below, scope)
        else:
            self._more(rest, below, scope)

    def _loop(
        self,
        node: Node,
        each: str,
        first: Piece,
        rest: list[Piece],
        below: list[Block],
        scope: Scope,
    ) -> None:
        """Turn ``node`` into a loop: over what stands below it, or else over itself."""
        inner = Scope([], scope.section, scope.loops + 1)
        lists = [block for block in below if block.kind == "list"]
        over_steps = any(_are_steps(block.children) for block in lists)
        if not (over_steps and core(first.text).lower().startswith(("for ", "repeat", "on each"))):
            work = Node(node.line, node.title, role=node.role, commands=node.commands)
            work.reads, node.commands, node.reads = node.reads, [], []
            inner.nodes.append(work)
        self._more_of_loop(rest, below, inner)
        node.kind, node.body = "loop", inner.nodes
        if not node.body:
            node.body = [Node(node.line, node.title)]
        item = input_name(each.split()[-1] if len(each.split()) > 3 else each)
        node.item, node.items = _one(item), _many(item)
        if node.item == node.items or node.item in self.found.inputs:
            node.item = f"each_{node.item}"
        declared = self.found.inputs.get(node.items)
        if declared is None or declared.type != "array":
            self.found.inputs[node.items] = Value(node.items, "array", line=node.line)
        for work in node.body:
            if work.kind == "manual":
                work.reads.append(node.item)

    def _more_of_loop(self, rest: list[Piece], below: list[Block], inner: Scope) -> None:
        for piece in rest:
            self.sentence(piece, inner, in_step=bool(inner.nodes))
        self.blocks(below, inner, in_step=bool(inner.nodes))

    # Sentences

    def sentence(self, piece: Piece, scope: Scope, in_step: bool = False) -> None:
        """A sentence of running text. ``in_step``: it tells more of the last node."""
        if say(piece, scope.told, self.found.inputs):
            self.desk.note(piece, "note", scope.told)
            return
        if self._all_others(piece) or self._move(piece, scope, [], []):
            return
        if moves.is_hard_rule(piece.text):
            self._rule(piece, scope.told)
        elif is_order(piece.text) and not (in_step and scope.last):
            if _is_reference(piece.text) and scope.last:
                self._tell(piece, scope.told)
            else:
                self._prose_act(piece, scope)
        elif is_order(piece.text):
            self._tell(piece, scope.told, as_step=True)
        elif _OPEN.search(piece.text) or not (scope.last or _TOLD.search(piece.text)):
            self._unclear(piece, scope)
        elif moves.is_rule(piece.text):
            self._rule(piece, scope.told)
        else:
            self._tell(piece, scope.told)

    def _prose_act(self, piece: Piece, scope: Scope) -> None:
        node = self._act(piece, piece.text, scope)
        self._loop_alone(node, piece, piece.text, scope)

    def _loop_alone(self, node: Node, piece: Piece, said: str, scope: Scope) -> None:
        """Turn ``node`` into a loop where its sentence is to be done for each of several."""
        each = moves.read_each(said)
        if each and scope.loops < MAX_LOOPS and node.kind == "manual":
            self._loop(node, each, piece, [], [], scope)

    def _unclear(self, piece: Piece, scope: Scope) -> None:
        asks = "it is not clear what this is"
        place, answered = self.desk.ask(piece, asks, "note", _PLACES)
        if answered and place == "step":
            self._act(piece, piece.text, scope)
        elif answered and place == "guardrail":
            self._rule(piece, scope.told)
        elif answered:
            self._tell(piece, scope.told)
        else:
            self.desk.note(piece, "question", scope.told)
            self._add_text(piece, scope.told)

    def _act(self, piece: Piece, title: str, scope: Scope, said: Iterable[str] = ()) -> Node:
        """A new step that ``piece`` tells of."""
        role, told = role_in(title)
        node = Node(piece.line, _title(told), role=role or None)
        node.texts += said
        node.commands += inline_commands(title, piece.line)
        seconds = moves.read_wait(told)
        who = moves.read_approval(told)
        if seconds is not None:
            node.kind, node.seconds = "wait", seconds
        elif who is not None:
            node.kind, node.approvers = "approval", who
        if node.kind != "wait":
            node.deadline = moves.read_deadline(told)
        self._take_inputs(title, node, is_code=False)
        self.desk.note(piece, "step", node)
        scope.nodes.append(node)
        return node

    def _rule(self, piece: Piece, node: Node | None) -> None:
        self.desk.note(piece, "guardrail", node)
        self.found.guardrails.append(Guardrail(piece.text, piece.line))

    def _tell(
        self, piece: Piece, node: Node | None, as_step: bool = False, bullet: bool = False
    ) -> None:
        """A sentence that whoever does the step reads."""
        self.desk.note(piece, "step" if as_step and node else "note", node)
        self._add_text(piece, node, "- " if bullet else "")

    def _add_text(self, piece: Piece, node: Node | None, mark: str = "") -> None:
        if node is None:
            title = " / ".join(self.desk.path) or "Note"
            self.found.notes.append(Note(title, piece.text, piece.line))
            return
        node.texts.append(mark + piece.text)
        node.commands += inline_commands(piece.text, piece.line)
        self._take_inputs(piece.text, node, is_code=False)

    def tell(self, blocks: Iterable[Block], node: Node | None) -> None:
        """All that ``blocks`` say as text of ``node``, or as a note of the runbook."""
        for block in blocks:
            if block.kind == "code" and is_chart(block):
                self.charts.append(block)
            elif block.kind in ("code", "html", "table"):
                self._tell(_whole(block), node)
            elif block.lines:
                for piece in pieces(block.lines):
                    self._tell(piece, node)
            self.tell(block.children, node)

    def _take_inputs(self, text: str, node: Node, *, is_code: bool) -> None:
        for written in placeholders(text, is_code=is_code):
            name = input_name(written)
            if name not in self.found.inputs:
                described = f"What stands for {written}"
                self.found.inputs[name] = Value(
                    name, description=described, required=False, line=node.line
                )
            node.reads.append(name)

    # Moves

    def _move(
        self, piece: Piece, scope: Scope, below: Sequence[Block], rest: Sequence[Piece]
    ) -> bool:
        """Whether ``piece`` steers, and was taken: a decision, a jump, an end, a repetition.
        ``below`` is what stands inside the item that it begins, with the ``rest`` of its text."""
        otherwise = moves.read_otherwise(piece.text)
        if otherwise is not None and self._asked(scope) is not None:
            self._otherwise(piece, otherwise, scope, below, rest)
            return True
        answer = moves.read_answer(piece.text)
        asked = self._asked(scope) or scope.last
        if answer is not None and asked is not None and asked.kind == "manual":
            self._answered(piece, answer, asked, scope, below, rest)
            return True
        decision = moves.read_decision(piece.text) or moves.read_arrow(piece.text)
        if decision is not None:
            return self._decide(piece, decision, scope, below, rest)
        goal = moves.read_until(piece.text)
        if goal is not None and scope.last is not None and scope.last.is_open:
            self._until(piece, goal, scope)
            self._more(list(rest), list(below), scope)
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
        self.desk.note(piece, "condition", node)
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
        for noted in self.desk.noted:
            if noted.node in cases[1:]:
                noted.node = joined
        for one in cases[1:]:
            joined.anchors += one.anchors
        joined.title = " / ".join(one.title for one in cases)
        del scope.nodes[-count + 1 :]
        return joined

    def _answered(
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
        self.desk.note(piece, "condition", node)
        self._fill(piece, then, arm, node, scope, below, rest)

    def _decide(
        self,
        piece: Piece,
        decision: moves.Decision,
        scope: Scope,
        below: Sequence[Block],
        rest: Sequence[Piece],
    ) -> bool:
        if not decision.then and not below:
            return False
        if moves.forbids(decision.then):
            self._rule(piece, scope.told)
            self._more(list(rest), list(below), scope)
            return True
        before = scope.last
        if decision.same and before is not None and before.kind == "manual":
            node, label = before, decision.label
            if not node.is_open and node.arm(label) is not None:
                node = Node(piece.line, node.title)
                scope.nodes.append(node)
        else:
            node = Node(piece.line, _question(decision.condition))
            label = NO if decision.negated else YES
            scope.nodes.append(node)
        self.desk.note(piece, "condition", node)
        arm = Arm(label, line=piece.line)
        node.arms.append(arm)
        self._take_inputs(decision.condition, node, is_code=False)
        self._fill(piece, decision.then, arm, node, scope, below, rest)
        if decision.otherwise:
            other = Arm(NO if label == YES else YES, line=piece.line)
            node.arms.append(other)
            self._consequence(piece, decision.otherwise, other.nodes, scope, node)
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
        told = bool(then) and not moves.leads(then) and any(is_order(one.text) for one in rest)
        if not told:
            self._consequence(piece, then, arm.nodes, scope, node)
        for at, one in enumerate(rest):
            otherwise = moves.read_otherwise(one.text)
            if otherwise is not None and self._asked(scope) is node:
                self._otherwise(one, otherwise, scope, below, rest[at + 1 :])
                below = ()
                break
            self.sentence(one, inner, in_step=False)
        self.blocks(list(below), inner, in_step=False)
        if told and arm.nodes:
            arm.nodes[0].texts.insert(0, then)
        if arm.nodes and moves.is_helpless(node.title) and arm.nodes[-1].is_open:
            arm.nodes[-1].end = "finish"

    def _consequence(
        self, piece: Piece, text: str, nodes: list[Node], scope: Scope, asked: Node
    ) -> None:
        """Nodes for what follows from a condition; ``piece`` is noted already."""
        said = text.strip(" *_.;:")
        if moves.goes_on(text):
            return
        head, tail = _parted(said)
        end = moves.read_end(tail)
        jump = self._jump(tail, scope) if not end else ""
        if not (end or jump) and moves.is_last_act(tail) and head and self._jump(head, scope):
            end = "finish"
        if end or jump:
            first = self._jump(head, scope) if head else ""
            if head and not first:
                self._new(piece, head, nodes, scope)
            self._go(piece, nodes, first or jump, "" if first else end)
            return
        nested = moves.read_decision(said)
        if nested is not None and nested.then and not nested.same:
            node = Node(piece.line, _question(nested.condition))
            arm = Arm(NO if nested.negated else YES, line=piece.line)
            node.arms = [arm]
            nodes.append(node)
            self._consequence(piece, nested.then, arm.nodes, scope, node)
            return
        node = self._new(piece, said, nodes, scope)
        if moves.is_last_act(said):
            node.end = "finish"

    def _go(self, piece: Piece, nodes: list[Node], jump: str, end: End) -> None:
        """Go elsewhere after ``nodes``."""
        if not nodes or not nodes[-1].is_open or nodes[-1].inside or nodes[-1].kind == "end":
            # Nothing is done but to go there, unless something has to be left first.
            nodes.append(Node(piece.line, _title(piece.text) if nodes else ""))
        nodes[-1].jump, nodes[-1].end = jump, end

    def _new(self, piece: Piece, said: str, nodes: list[Node], scope: Scope) -> Node:
        """A step that part of a sentence tells of, which is noted already."""
        inner = Scope(nodes, scope.section, scope.loops)
        node = self._act(piece, said, inner)
        self.desk.noted.pop()
        self._loop_alone(node, piece, said, inner)
        return node

    def _jump(self, text: str, scope: Scope) -> str:
        """The anchor that ``text`` leads to, empty for none."""
        said = text.strip()
        step = moves.step_jump(said)
        if step is not None:
            number, skipped = step
            if skipped and number.isdigit():
                number = str(int(number) + 1)
            return f"step:{scope.section}:{number.lower()}"
        for anchor in moves.linked(said):
            if f"#{anchor}" in self._targets.values():
                return f"#{anchor}"
        if moves.restarts(said):
            return "start"
        for words, anchor in self._asides.items():
            if re.match(words, core(said), re.IGNORECASE):
                return anchor
        name = moves.named_place(said)
        return self._targets.get(bare_title(name).lower(), "") if name else ""

    def _until(self, piece: Piece, goal: str, scope: Scope) -> None:
        """Go back to the step before until something is so."""
        last = scope.nodes[-1]
        anchor = f"again:{id(last)}"
        last.anchors.append(anchor)
        node = Node(piece.line, _question(goal))
        node.arms = [
            Arm(YES),
            Arm(NO, [Node(piece.line, "", jump=self._jump(piece.text, scope) or anchor)]),
        ]
        self.desk.note(piece, "condition", node)
        scope.nodes.append(node)

    def _plain_move(self, piece: Piece, scope: Scope) -> bool:
        """A jump or an end without a condition."""
        end = moves.read_end(piece.text)
        jump = "" if end or not is_order(piece.text) else self._jump(piece.text, scope)
        if not end and not jump:
            return False
        last = scope.last
        if end or last is None or not last.is_open or last.inside:
            last = Node(piece.line, _title(piece.text), "end" if end else "manual")
            scope.nodes.append(last)
        else:
            last.texts.append(piece.text)
        last.end, last.jump, last.way_line = end, jump, piece.line
        self.desk.note(piece, "step", last)
        return True

    def draw(self) -> list[Node]:
        """The steps of the flowcharts; they are told in no other way."""
        nodes: list[Node] = []
        for block in self.charts:
            found = read_chart(block)
            self.desk.note(_whole(block), "step" if found else "note", found[0] if found else None)
            nodes += found
        return nodes

    def show(self) -> None:
        """The flowcharts as notes: they show what the steps tell."""
        for block in self.charts:
            self._tell(_whole(block), None)

    # What is declared

    def declare(self, section: Section, node: Node | None = None) -> None:
        """A section that has no steps: rules, inputs, roles, or notes; those below it too. What
        stands below a step is about that ``node``."""
        for one in section.all():
            self.desk.path = one.path
            heading = Piece(one.line, one.last or one.line, one.title)
            if one.level:
                self.desk.note(heading, "note", node)
            if section.purpose == "guardrails":
                self._rules(one, node)
            elif section.purpose == "inputs":
                self._inputs(one)
            else:
                self.tell(one.blocks, node)

    def _rules(self, section: Section, node: Node | None) -> None:
        for block in section.blocks:
            if block.kind in ("text", "list", "quote"):
                for piece in _all_pieces(block):
                    if node is None:
                        self._rule(piece, None)
                    else:
                        self.desk.note(piece, "guardrail", node)
                        node.texts.append(f"- {piece.text}")
            else:
                self.tell([block], None)

    def first(self, section: Section) -> list[Node]:
        """What is done before the steps; what one has to know by then is an input."""
        kept: list[Block] = []
        for block in section.blocks:
            if block.kind == "list":
                block.children = [item for item in block.children if not self._needed(item)]
            if block.kind != "list" or block.children:
                kept.append(block)
        section.blocks = kept
        return self.section(section)

    def _needed(self, item: Block) -> bool:
        """Whether an item names something that one has to know, and was taken as an input."""
        first, rest = _first_piece(item)
        if first is None or item.number or item.is_checkbox or is_order(first.text):
            return False
        found = _KNOWN.match(core(first.text).split(". ")[0])
        if found is None or len(item.children) > 1:
            return False
        coded = re.search(r"`([A-Z][A-Z0-9_]{2,})`", first.text)
        name = input_name(coded[1] if coded else found["what"])
        self.found.inputs.setdefault(
            name, Value(name, description=first.text, required=False, line=first.line)
        )
        for piece in (first, *rest):
            self.desk.note(piece, "input")
        return True

    def _inputs(self, section: Section) -> None:
        for block in section.blocks:
            items = block.children if block.kind == "list" else []
            for item in items:
                first, rest = _first_piece(item)
                if first is None or not self._input(first):
                    self.tell([item], None)
                    continue
                for piece in rest:
                    self._tell(piece, None)
                self.tell(item.children[1:], None)
            if block.kind == "table":
                for row in read_table(block).all_rows:
                    if not self._input(row):
                        self._tell(row, None)
            elif not items:
                self.tell([block], None)

    def _input(self, piece: Piece) -> bool:
        found = _INPUT.match(piece.text)
        if found is None:
            return False
        name = input_name(found["name"])
        told = piece.text[found.end() :].strip(" :–—-|")
        optional = bool(re.search(r"\b(?:optional|default)\b", piece.text[:200], re.IGNORECASE))
        self.found.inputs[name] = Value(
            name, description=told, required=not optional, line=piece.line
        )
        self.desk.note(piece, "input")
        return True


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


def _is_counted(section: Section) -> bool:
    told = ("note", "guardrails", "inputs", "roles", "objective", "aside")
    return bool(step_number(section.title)) and section.purpose not in told


def has_numbered_orders(section: Section) -> bool:
    """Whether a section has steps whatever its heading says: a numbered list of orders."""
    return any(
        block.kind == "list" and _counted_orders(block.children) for block in section.all_blocks()
    )


def _counted_orders(items: Sequence[Block]) -> bool:
    numbered = all(item.number or item.is_checkbox for item in items)
    found = [_first_piece(item)[0] for item in items]
    return numbered and 2 * sum(one is not None and is_order(one.text) for one in found) > len(
        items
    )


def is_case(section: Section) -> bool:
    """Whether the heading of a section is an order, as ``Cancel an order``."""
    return section.purpose == "unknown" and is_order(bare_title(section.title))


def _number(node: Node, number: str, scope: Scope) -> None:
    node.anchors += [f"step:{scope.section}:{number.lower()}", f"step:*:{number.lower()}"]


def _title(text: str) -> str:
    said = text.strip().rstrip(":.;").strip()
    if said.count("**") % 2:
        said = said.replace("**", "")
    return said or text.strip() or "Do this"


def _question(condition: str) -> str:
    said = condition.strip().strip("*_ ").rstrip("?:.,;")
    if said.count("**") % 2:
        said = said.replace("**", "")
    return f"{said[:1].upper()}{said[1:]}?"


def _whole(block: Block) -> Piece:
    return Piece(block.line, block.last, block.text)


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0].replace("`", "'")


def _first_piece(item: Block) -> tuple[Piece | None, list[Piece]]:
    """The first sentence of an item, and the others of its first paragraph."""
    if not item.children or item.children[0].kind not in ("text", "heading"):
        return None, []
    found = list(pieces(item.children[0].lines))
    return (found[0], found[1:]) if found else (None, [])


def _has_commands(block: Block | Callout | None) -> bool:
    if block is None or isinstance(block, Callout) or block.kind != "code":
        return False
    text = "\n".join(row for _, row in block.lines[1:-1])
    return bool(read_commands(text, block.info, block.line))


def _is_link(item: Block) -> bool:
    """Whether an item and those below it are nothing but links to places in this text."""
    said = [block for block in item.children if block.kind != "list"]
    below = [one for block in item.children if block.kind == "list" for one in block.children]
    links = all(block.kind == "text" and _LINK_ALONE.fullmatch(block.text) for block in said)
    return bool(said) and links and all(_is_link(one) for one in below)


_LINK_ALONE = re.compile(r"\W*\[[^\]\n]*\]\(#[^)\s]*\)\W*")


def _answer_of(item: Block) -> tuple[str, str] | None:
    first, _ = _first_piece(item)
    return moves.read_answer(first.text) if first else None


def _all_pieces(block: Block) -> list[Piece]:
    found = list(pieces(block.lines)) if block.kind in ("text", "heading") else []
    if block.kind in ("code", "html", "table"):
        found = [_whole(block)]
    for child in block.children:
        found += _all_pieces(child)
    return found


def _are_steps(items: Sequence[Block]) -> bool:
    """Whether the items of a list are steps, whatever they sound like: numbered, to be ticked off,
    or orders as a rule."""
    orders = 0
    for item in items:
        if item.number or item.is_checkbox:
            return True
        first, _ = _first_piece(item)
        orders += first is not None and is_order(first.text)
    return 3 * orders >= 2 * len(items)


def _is_reference(text: str) -> bool:
    return bool(
        re.match(r"(?:see|refer to|note|remember|consult|read)\b", core(text), re.IGNORECASE)
    )


def _parted(text: str) -> tuple[str, str]:
    """A consequence without its last part, and that part, where it ends or jumps."""
    for found in reversed(list(_JOINT.finditer(text))):
        tail = text[found.end() :]
        if moves.read_end(tail) or moves.step_jump(tail) or moves.linked(tail):
            return text[: found.start()].strip(), tail.strip()
    return "", text


_JOINT = re.compile(r"\s*[,;]\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+|\.\s+")
_SUFFIX = re.compile(r"(?:ies|s)$")


def _one(name: str) -> str:
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _many(name: str) -> str:
    if name.endswith("s") and not name.endswith("ss"):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
