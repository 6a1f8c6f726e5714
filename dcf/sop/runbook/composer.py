"""Blocks of a runbook as what is to be done.

Each sentence is noted in one place while it is read. A list item, a heading that is numbered as a
step and an order in running text are steps; what only tells something belongs to the step before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from dcf.sop.procedure import Note
from dcf.sop.runbook.answers import read_answer, read_otherwise
from dcf.sop.runbook.approvals import read_consent
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.callouts import Callout, with_callouts
from dcf.sop.runbook.case_sections import (
    chooses_below,
    has_action,
    is_case,
    is_counted,
    states_case,
    with_actions,
    without_trigger,
)
from dcf.sop.runbook.cases import (
    decides,
    depends,
    has_cases,
    is_action,
    is_fault,
    is_variant,
    joined,
    names_what_follows,
    read_any_of,
    read_arrow,
    read_case,
    read_labelled,
    read_trigger,
    read_when_to,
)
from dcf.sop.runbook.command import comment_over, commented_parts, read_commands
from dcf.sop.runbook.conditions import (
    Decision,
    finds_out,
    opens,
    read_alone,
    read_aside,
    read_decision,
)
from dcf.sop.runbook.consequences import leads
from dcf.sop.runbook.declarations import Declarations
from dcf.sop.runbook.desk import Desk
from dcf.sop.runbook.ends import denies, hands_over, is_last_act, is_of_others
from dcf.sop.runbook.flow import NO, OTHERWISE, YES, Arm, Node
from dcf.sop.runbook.flowchart import asks_much, grow_chart, is_chart, read_chart
from dcf.sop.runbook.headings import asks, bare_title, is_name, is_step_heading, slug, step_number
from dcf.sop.runbook.items import (
    all_pieces,
    answer_of,
    are_steps,
    are_values,
    first_piece,
    firsts,
    has_commands,
    has_numbered_orders,
    is_answered,
    is_link,
    name_cases,
    tells_cases,
    turned_to,
    valued,
    whole,
)
from dcf.sop.runbook.loops import MAX_LOOPS, Loops, read_each
from dcf.sop.runbook.phrases import say
from dcf.sop.runbook.rules import is_hard_rule, is_rule
from dcf.sop.runbook.rulings import are_rungs, in_full, read_among_rulings, read_rung
from dcf.sop.runbook.scope import Scope
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.sequence import is_sequence, read_sequence
from dcf.sop.runbook.steering import Steering
from dcf.sop.runbook.tables import Row, read_table
from dcf.sop.runbook.wording import (
    Piece,
    core,
    is_clear_order,
    is_duty_of_reader,
    is_order,
    is_statement,
    pieces,
    plain,
    question_of,
    title_of,
    word_stems,
)
from dcf.sop.runbook.writer import Writer

_MOSTLY = 2 / 3
"""Of the words of a flowchart, when the text tells what it draws."""
_LONGEST_ARM = 4
"""Sentences between a condition and what is done otherwise."""
_OPEN = re.compile(r"\b(?:TODO|TBD|FIXME|XXX|to be (?:determined|defined|written|completed))\b")
_BEFORE_THIS = re.compile(
    r"(?:but |and )?before (?:(?:doing|starting) )?(?:so|this|that|it|you (?:do|start))\b",
    re.IGNORECASE,
)
_IS_IT = re.compile(
    r"(?:is|are|was|were|does|do|did|has|have|can|could)\s(?!you\b|we\b)[^.!]{8,200}\?$",
    re.IGNORECASE,
)
"""A question to which whoever does the steps finds the answer."""
_QUOTES = re.compile(r"[^:\"“]{2,30}:\s*[\"“].+")
_TOLD = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|would|does|do|did|can|could|should|must|may"
    r"|might|fires?|contains?|shows?|means?|it|this|these|that|there|we|you|they)\b|\w+(?:ed|es"
    r"|s)\b",
    re.IGNORECASE,
)


class Composer:
    """Reads sections into nodes. ``by_cases``: sections beside one another are cases, as in a
    policy, and do not follow one another. ``words`` are those of the text beside its flowcharts, by
    their beginnings. ``targets`` and ``asides`` are those of `Steering`."""

    def __init__(self, desk: Desk, targets: dict[str, str], asides: dict[str, str]) -> None:
        self.writer = Writer(desk)
        self.loops = Loops(self.writer, self)
        self.steering = Steering(self.writer, self, self.loops, targets, asides)
        self.declarations = Declarations(self.writer, self)
        self.by_cases = False
        self.words: frozenset[str] = frozenset()
        self._others: list[Node] = []
        self._sections = 0
        self._ruling = False

    def section(
        self, section: Section, aside: bool = False, counted: bool = False, case: bool = False
    ) -> list[Node]:
        """The nodes of a section whose blocks are steps, and of those below it. ``counted``: its
        heading is one of several that are numbered, and so a step. ``case``: it is one of several
        that name something that is wrong."""
        self._sections += 1
        scope = Scope([], self._sections)
        self.writer.desk.path = section.path
        self._ruling = section.purpose == "guardrails"
        heading = Piece(section.line, section.last or section.line, section.title)
        decision = read_case(section.title)
        aside_said = read_aside(section.title)
        if decision is None and aside_said is not None:
            decision = replace(aside_said, then=aside_said.then if is_order(section.title) else "")
        if decision is None and (behind := read_decision(bare_title(section.title))):
            decision = behind
        if decision is None and (case or asks(section.title)):
            decision = Decision(section.title, "")
        if decision is None and has_action(section):
            decision = Decision(section.title, "")
        if decision and not decision.then and states_case(section):
            decision = None  # it names the case that its first sentence tells
        if section.level and not aside and decision:
            return self._decided(section, heading, decision, scope)
        node = None if aside else self._open_heading(section, heading, scope, counted)
        inner = scope if node is None else Scope(node.inside, scope.section, 0, node)
        blocks = section.blocks
        then = read_when_to(bare_title(section.title))
        over = then and blocks and blocks[0].kind == "list" and not are_steps(blocks[0].children)
        if over:
            self.steering.any_of(heading, then, blocks[0], inner)
        self.blocks(blocks[1:] if over else blocks, inner)
        self._below(section.children, inner, chooses_below(blocks))
        self.writer.desk.path = section.path
        self._anchor(section, scope.nodes)
        if scope.nodes:
            scope.nodes[0].anchors += [f"step:h:{number}" for number in inner.numbers]
        if section.level and node is None and not over:
            self.writer.desk.note(heading, "note", scope.nodes[0] if scope.nodes else None)
        return scope.nodes

    def _below(self, children: Sequence[Section], scope: Scope, chooses: bool) -> None:
        """Sections below one that is read; ``chooses``: it says that one of them is done."""
        cases = [one for one in children if self.by_cases and is_case(one)]
        counted = len(children) > 1 and all(is_counted(one) for one in children)
        children = with_actions(children)
        titles = [bare_title(one.title) for one in children]
        of_cases = is_variant if sum(map(is_variant, titles)) > 1 else is_fault
        faults = [one for one, said in zip(children, titles, strict=True) if of_cases(said)]
        # A number alone makes no step of the name of a phase: ``1.1 Initial assessment``.
        ordered = any(map(is_order, titles))
        if not counted and (self._in_cases() or chooses):
            faults = [one for one in children if one.purpose == "unknown"]
        alike = len(faults) > 1 and 2 * len(faults) >= len(children)
        for child in children:
            if alike and child in faults:
                scope.nodes += self.section(child, case=True)
            elif counted:
                scope.nodes += self.section(child, counted=ordered or child.purpose == "unknown")
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
        if not self.by_cases or not is_of_others(piece.text):
            return False
        node = Node(piece.line, title_of(piece.text), end="finish")
        self._others.append(node)
        self.writer.desk.note(piece, "condition", node)
        return True

    def section_or_note(self, section: Section, node: Node | None) -> list[Node]:
        """A section below one of steps: steps too, unless its heading says what else it is."""
        told = ("note", "guardrails", "inputs", "roles", "objective")
        is_step = is_step_heading(section.title) or has_numbered_orders(section)
        if section.purpose in ("guardrails", "objective"):
            is_step = is_step or decides(section)
        if section.purpose in told and not is_step:
            return self.declarations.declare(section, node)
        return self.section(section)

    def _open_heading(
        self, section: Section, heading: Piece, scope: Scope, counted: bool
    ) -> Node | None:
        """The step that a heading names, which its section tells more of."""
        title = bare_title(section.title)
        is_phase = section.purpose != "unknown" and len(title.split()) < 3
        said = counted or is_step_heading(section.title)
        is_step = said or (
            is_order(title)
            and not (is_phase or is_name(title))
            and (section.blocks or section.children)
        )
        if not section.level or not is_step:
            return None
        node = self.writer.act(heading, title, scope)
        number = step_number(section.title)
        if number:
            self._number(node, number, scope)
        return node

    def _anchor(self, section: Section, nodes: Sequence[Node]) -> None:
        if nodes and section.level:
            nodes[0].anchors.append(f"#{slug(section.title)}")
            self.steering.passed.append(f"#{slug(section.title)}")
            number = step_number(section.title)
            if number:
                named = "h" if is_step_heading(section.title) else "*"
                nodes[0].anchors += [f"step:{named}:{number}", f"part:*:{number}"]

    def _decided(
        self, section: Section, heading: Piece, decision: Decision, scope: Scope
    ) -> list[Node]:
        """A heading that is a condition, over what is done then."""
        trigger, blocks = without_trigger(section.blocks)
        told = f"{decision.condition}: {read_trigger(trigger.text)}" if trigger else ""
        line = trigger.line if trigger else heading.line
        node = Node(line, question_of(told or decision.condition))
        noted = self.writer.desk.note(heading, "condition", node)
        if trigger:
            self.writer.desk.note(trigger, "condition", node)
        inner = Scope([], scope.section, scope.loops)
        arms = self._answers(blocks, node, inner)
        if not arms:
            within = inner
            if decision.then:
                act = self.writer.act(heading, decision.then, inner)
                self.writer.desk.noted.remove(noted)
                within = Scope(act.inside, scope.section, scope.loops, act)
            self.blocks(blocks, within)
            self._below(section.children, within, chooses_below(blocks))
            node.arms = [Arm(NO if decision.negated else YES, inner.nodes)]
            if not inner.nodes:  # there is nothing to do in that case
                noted.place, noted.node = "note", None
                return []
        self._anchor(section, [node])
        return [node]

    def blocks(self, blocks: Sequence[Block], scope: Scope, in_step: bool = False) -> None:
        """Add what ``blocks`` tell to ``scope``. ``in_step``: they tell more of its last node."""
        told = list(with_callouts(blocks))
        taken = False
        for at, block in enumerate(told):
            if taken:
                taken = False
                continue
            if isinstance(block, Callout):
                self.callout(block, scope)
                continue
            following = told[at + 1] if at + 1 < len(told) else None
            if self.declarations.asked_for(block, told[at - 1] if at else None):
                continue
            match block.kind:
                case "text" | "heading":
                    names = not in_step and has_commands(following)
                    taken = self._paragraph(block, scope, in_step, names, following)
                case "list":
                    self._list(block, scope, in_step)
                case "code":
                    self.code(block, scope)
                case "table":
                    self._table(block, scope)
                case "quote":
                    self._quote(block, scope)
                case _:
                    self.writer.say(whole(block), scope.told)

    def _paragraph(
        self,
        block: Block,
        scope: Scope,
        in_step: bool,
        names: bool,
        following: Block | Callout | None,
    ) -> bool:
        """Whether what stands below it was read with it. ``names``: commands stand below it, so
        what ends with a colon is what they are for."""
        said = joined(list(pieces(block.lines)))
        at = 0
        while at < len(said):
            piece, rest = said[at], said[at + 1 :]
            at += 1
            if not rest and self._over(piece, following, scope):
                return True
            if names and piece.text.endswith(":") and not is_order(piece.text):
                if not self.steering.move(piece, scope, [], []):
                    self.writer.act(piece, piece.text, scope)
            elif (case := _explained_case(piece, rest)) and self.steering.decide(
                piece, case, scope, [], rest
            ):
                at = len(said)
            elif (count := _belonging(piece, rest, self.writer.settles)) and self.steering.move(
                piece, scope, [], rest[:count]
            ):
                at += count
            else:
                self.sentence(piece, scope, in_step=in_step)
        return False

    def _over(self, piece: Piece, following: Block | Callout | None, scope: Scope) -> bool:
        """Whether ``piece`` says what the list below it is for, and both were taken: what is done
        in a case or for each of several things, the cases of an act, one of several things."""
        if following is None or isinstance(following, Callout):
            return False
        if following.kind != "list" and not has_commands(following):
            return False
        if not piece.text.rstrip(" *_").endswith(":"):
            return False
        then = read_any_of(piece.text) if following.kind == "list" else None
        if then is not None and not are_steps(following.children):
            self.steering.any_of(piece, then, following, scope)
            return True
        decision = read_decision(piece.text)
        if decision is not None and not decision.then:
            return self.steering.decide(piece, decision, scope, [following], [])
        if following.kind != "list":
            return False
        named = piece.text.startswith("**") or not is_order(piece.text)
        if self._in_cases() and named and are_steps(following.children):
            case = Decision(piece.text.strip(" *_:"), "")
            return self.steering.decide(piece, case, scope, [following], [])
        each = read_each(piece.text)
        if each and scope.loops < MAX_LOOPS and are_steps(following.children):
            node = self.writer.act(piece, piece.text, scope)
            if node.kind == "manual":
                self.loops.repeat(node, each, piece, [], [following], scope)
            else:
                self.more([], [following], scope)
            return True
        if depends(piece.text) and _are_cases(following.children):
            self.writer.say(piece, scope.told)
            self._list(following, scope, False, cases=True)
            return True
        return False

    def _in_cases(self) -> bool:
        path = self.writer.desk.path
        return bool(path) and has_cases(bare_title(path[-1]))

    def _passes_on(self) -> bool:
        """Whether the heading above says that others take over."""
        path = self.writer.desk.path
        return bool(path) and "escal" in path[-1].lower()

    def _quote(self, block: Block, scope: Scope) -> None:
        for inner in block.children:
            if inner.kind == "code":
                self.code(inner, scope)
            else:
                self.writer.tell([inner], scope.told)

    def callout(self, callout: Callout, scope: Scope) -> None:
        """A warning is a rule; a note, what somebody should know who does the step."""
        if callout.title:
            self.writer.say(callout.title, scope.told)
        for block in callout.blocks:
            is_text = block.kind == "text"
            if not is_text and not (callout.is_warning and block.kind in ("list", "item")):
                self.writer.tell([block], scope.told)
                continue
            for piece in all_pieces(block):
                decision = read_decision(piece.text) if scope.told else None
                if decision and leads(decision.then) and not is_hard_rule(decision.then):
                    self.steering.decide(piece, decision, scope, [], [])
                elif callout.is_warning:
                    self.writer.rule(piece, scope.told)
                else:
                    self.writer.say(piece, scope.told)

    def code(self, block: Block, scope: Scope) -> None:
        """A block of code belongs to the step before; it is one of its own where none is open."""
        if is_sequence(block):
            self.writer.charts.append(block)
            return
        if is_chart(block):
            if self.draws_more(block):
                nodes = grow_chart(block)
                self.writer.desk.note(whole(block), "step", nodes[0])
                scope.nodes += nodes
            else:
                self.writer.charts.append(block)
            return
        parts = commented_parts(block)
        if len(parts) > 1:
            self._scripted(parts, scope)
            return
        piece = Piece(block.line, block.last, block.text)
        inner = block.lines[1:-1]
        text = "\n".join(row for _, row in inner)
        commands = read_commands(text, block.info, inner[0][0] if inner else block.line)
        node = scope.last.newest if scope.last else scope.owner
        if node is scope.owner and node is not None and node.arms:
            node = None  # they are what is done in a case
        # A comment that is an order begins a step, unless the code is that of a step told before.
        is_apart = node is not None and node.texts and (node is scope.owner or _is_code(node))
        comment = comment_over(inner) if node is None or is_apart else ""
        if commands and (node is None or comment):
            node = Node(block.line, comment or f"Run `{_first_line(commands[0].text)}`")
            scope.nodes.append(node)
            self.writer.desk.note(piece, "step", node)
        else:
            self.writer.desk.note(piece, "step" if node and commands else "note", node)
        if node is None:
            self.writer.found.notes.append(
                Note(" / ".join(self.writer.desk.path) or "Note", block.text, block.line)
            )
            self.writer.take_inputs(text, None, is_code=True, line=block.line)
            return
        node.texts.append(block.text)
        node.commands += commands
        self.writer.take_inputs(text, node, is_code=True)

    def _scripted(self, parts: Sequence[Block], scope: Scope) -> None:
        """Commands below comments that say what they are for: each comment is a step, inside of the
        step that was told before them."""
        owner = scope.last.newest if scope.last else scope.owner
        is_open = owner is not None and owner.is_open and not owner.texts
        nodes = owner.inside if owner is not None and is_open else scope.nodes
        for part in parts:
            rows = part.lines[1:-1]
            text = "\n".join(row for _, row in rows)
            node = Node(part.line, comment_over(rows) or "Run the commands", texts=[part.text])
            node.commands += read_commands(text, part.info, rows[0][0])
            nodes.append(node)
            self.writer.desk.note(Piece(part.line, part.last, part.text), "step", node)
            self.writer.take_inputs(text, node, is_code=True)

    def draws_more(self, block: Block) -> bool:
        """Whether a flowchart decides, in words that the text does not have."""
        drawn = read_chart(block)
        told = [len(word_stems(one.title) & self.words) for one in drawn]
        known = sum(told) / max(sum(len(word_stems(one.title)) for one in drawn), 1)
        return asks_much(drawn) and known < _MOSTLY

    def _table(self, block: Block, scope: Scope) -> None:
        table = read_table(block, ladder=self._passes_on())
        for piece in table.others:
            self.writer.say(piece, scope.told)
        for row in table.rows:
            if row.condition:
                self._case(row, scope)
            elif row.is_step:
                if row.approver:
                    self._agreed(row, scope)
                if not row.action:
                    continue
                node = self.writer.act(row.piece, row.action, scope, said=row.said)
                node.role = row.role or node.role
                if row.number:
                    self._number(node, row.number, scope)
            else:
                scope.numbers += [row.number] if row.number else []
                self.writer.say(row.piece, scope.told)

    def _agreed(self, row: Row, scope: Scope) -> None:
        """The consent that a row asks for; it is all that the row says where nothing is done."""
        said = " ".join(row.said)
        title = row.approver if row.action or not said else f"{row.approver}: {said}"
        node = Node(row.piece.line, title_of(title), "approval", approvers=(row.approver,))
        scope.nodes.append(node)
        if not row.action:
            self.writer.desk.note(row.piece, "step", node)

    def _case(self, row: Row, scope: Scope) -> None:
        node = Node(row.piece.line, question_of(row.condition))
        self.writer.desk.note(row.piece, "condition", node)
        node.texts += row.said
        arm = Arm(YES, line=row.piece.line)
        if row.approver:
            who = (row.approver,)
            title = title_of(f"Approval by {row.approver}")
            arm.nodes.append(Node(row.piece.line, title, "approval", approvers=who))
        if row.action:
            then = in_full(row.action)
            self.steering.consequence(row.piece, then, arm.nodes, scope, node)
        node.arms = [arm]
        scope.nodes.append(node)

    def _list(self, block: Block, scope: Scope, in_step: bool, cases: bool = False) -> None:
        """``cases``: its items are cases, of which one is so."""
        node = scope.last
        if all(is_link(item) for item in block.children):
            self.writer.tell([block], None)  # a table of contents
            return
        asking = node or scope.owner
        if asking is not None and asking.is_open and self._answers([block], asking, scope):
            return
        items = block.children
        inner = scope
        if in_step and node is not None and node.kind != "end":
            # What a step consists of: orders, and decisions; the rest tells more of it.
            inside = node.body if node.kind == "loop" else node.inside
            loops = scope.loops + (node.kind == "loop")
            inner = Scope(inside, scope.section, loops, node)
        told = are_steps(items)
        within = scope.owner is not None and scope.owner.arms
        cases = cases or (len(items) > 1 and not within and self._in_cases())
        over = name_cases(items)
        turned = len(items) > 1 and all(map(turned_to, items))
        values = node is not None and finds_out(node.title) and are_values(items)
        cases = cases or (len(items) > 1 and _are_cases(items) and any(map(_is_evident, items)))
        ruled = self._ruled(block)
        for item in items:
            if (values and self._valued(item, inner)) or self._ruled_item(item, inner, ruled):
                continue
            if not ((over and self._named_case(item, inner)) or self._turned(item, inner, turned)):
                self._item(item, inner, told, cases)

    def _named_case(self, item: Block, scope: Scope) -> bool:
        """Whether an item names a case over what is done then, and was taken."""
        first, rest = first_piece(item)
        if first is None or opens(first.text):
            return False
        case = Decision(first.text.strip(" *_:."), "")
        return self.steering.decide(first, case, scope, item.children[1:], rest)

    def _ruled(self, block: Block) -> Callable[[str], Decision | None] | None:
        """What reads the items of a list that are rulings, or rungs of an escalation ladder."""
        if self._passes_on() and are_rungs(firsts(block.children)):
            return read_rung
        return read_among_rulings if tells_cases(block) else None

    def _ruled_item(
        self, item: Block, scope: Scope, read: Callable[[str], Decision | None] | None
    ) -> bool:
        """Whether ``read`` finds a case in an item, and it was taken."""
        first, rest = first_piece(item)
        if read is None or first is None or is_hard_rule(first.text):
            return False
        case = read_decision(first.text) or read(first.text)
        if case is None and is_rule(first.text) and not is_duty_of_reader(first.text):
            self.writer.rule(first, scope.told, scope)
            self._after_rule(rest, item.children[1:], scope)
            return True
        if case is None:
            return False
        return self.steering.decide(first, case, scope, item.children[1:], rest)

    def _valued(self, item: Block, scope: Scope) -> bool:
        """Whether an item is a value of what was looked at before, and was taken."""
        first, rest = first_piece(item)
        case = valued(item)
        if first is None or case is None:
            return False
        return self.steering.decide(first, case, scope, item.children[1:], rest)

    def _turned(self, item: Block, scope: Scope, turned: bool) -> bool:
        """Whether an item says who is turned to, and in which case, and was taken."""
        first, rest = first_piece(item)
        case = turned_to(item) if turned else None
        if first is None or case is None:
            return False
        title = bare_title(self.writer.desk.path[-1]) if self.writer.desk.path else ""
        then = f"{title} {case.then}" if is_order(title) else case.then
        case = replace(case, then=then)
        return self.steering.decide(first, case, scope, item.children[1:], rest)

    def _answers(self, blocks: Sequence[Block], node: Node, scope: Scope) -> bool:
        """Whether ``blocks`` are answers (``Yes: …``, ``No: …``) to what ``node`` asks; then they
        are its arms."""
        items = [item for block in blocks if block.kind == "list" for item in block.children]
        if not items or len(blocks) != 1 or not all(answer_of(item) for item in items):
            return False
        for item in items:
            first, rest = first_piece(item)
            answer = read_answer(first.text) if first else None
            if first is not None and answer is not None:
                self.steering.answered(first, answer, node, scope, item.children[1:], rest)
        return True

    def _item(self, item: Block, scope: Scope, is_step: bool, is_case: bool) -> None:
        first, rest = first_piece(item)
        before = len(scope.nodes)
        below = item.children[1:]
        if first is None:
            self.blocks(item.children, scope)
        elif self._all_others(first):
            self.more(rest, below, scope)
        elif not rest and below and self._over(first, below[0], scope):
            self.more([], below[1:], scope)
        elif not rest and is_answered(item):
            node = self.writer.act(first, first.text, scope)
            self._answers(below[:1], node, scope)
            self.more([], below[1:], scope)
        elif (
            (case := _case_of(first, rest, below, is_step, is_case))
            and self.steering.decide(first, case, scope, below, rest)
        ) or self.steering.move(first, scope, below, rest):
            pass
        elif say(first, scope.told, self.writer.found.inputs):
            self.writer.desk.note(first, "note", scope.told)
            self.more(rest, below, scope)
        elif (
            scope.last
            and not rest
            and below
            and below[0].kind == "code"
            and names_what_follows(first.text)
        ):
            self.writer.say(first, scope.told)
            self.blocks(below, scope, in_step=True)
        elif (is_step and (item.number or item.is_checkbox or not _only_tells(first.text))) or (
            is_clear_order(first.text)
            or read_consent(first.text) is not None
            or self.writer.is_practised(first.text)
        ):
            self._step_item(item, first, rest, below, scope)
        elif is_hard_rule(first.text) or (self._ruling and is_rule(first.text)):
            self.writer.rule(first, scope.told, scope)
            self._after_rule(rest, below, scope)
        elif hands_over(first.text):
            self.writer.act(first, first.text, scope)
            self.more(rest, below, scope)
        else:
            self.writer.say(first, scope.told, bullet=True)
            self.more(rest, below, scope)
        if len(scope.nodes) > before and item.number:
            self._number(scope.nodes[before], item.number, scope)

    def _after_rule(self, rest: Sequence[Piece], below: Sequence[Block], scope: Scope) -> None:
        """What follows a rule is no part of the step before it."""
        for piece in rest:
            self.sentence(piece, scope)
        self.blocks(below, scope, in_step=True)

    def more(self, rest: Sequence[Piece], below: Sequence[Block], scope: Scope) -> None:
        case = read_alone(plain(rest[-1].text)) if rest and below and opens(rest[-1].text) else None
        if case is None or read_decision(rest[-1].text) is not None:
            case = None
        for piece in rest if case is None else rest[:-1]:
            self.sentence(piece, scope, in_step=True)
        node = scope.last
        if case is None or node is None or node.kind == "end":
            self.blocks(below, scope, in_step=True)
        else:
            inner = Scope(node.inside, scope.section, scope.loops, node)
            self.steering.decide(rest[-1], case, inner, below, [])

    def _step_item(
        self, item: Block, first: Piece, rest: list[Piece], below: list[Block], scope: Scope
    ) -> None:
        counted = item.number or item.is_checkbox
        if is_hard_rule(first.text) and (not counted or read_consent(first.text)):
            self.writer.rule(first, scope.told, scope)
            self._after_rule(rest, below, scope)
            return
        node = self.writer.act(first, first.text, scope)
        if below and self.declarations.asked_for(below[0], rest[-1] if rest else first):
            below = below[1:]
        told = (read_each(one.text) for one in (first, *rest))
        each = next((one for one in told if one), "")
        if each and scope.loops < MAX_LOOPS and node.kind == "manual":
            self.loops.repeat(node, each, first, rest, below, scope)
        else:
            self.more(rest, below, scope)

    def sentence(self, piece: Piece, scope: Scope, in_step: bool = False) -> None:
        """A sentence of running text. ``in_step``: it tells more of the last node."""
        if say(piece, scope.told, self.writer.found.inputs):
            self.writer.desk.note(piece, "note", scope.told)
            return
        if self._all_others(piece) or self.steering.move(piece, scope, [], []):
            return
        if is_hard_rule(piece.text) and not (is_action(piece.text) and hands_over(piece.text)):
            self.writer.rule(piece, scope.told, scope)
        elif in_step and self.writer.consent_first(piece, scope):
            pass
        elif in_step and scope.last and _BEFORE_THIS.match(piece.text):
            self.writer.act(piece, piece.text, scope)
            scope.nodes[-2:] = reversed(scope.nodes[-2:])
        elif read_consent(piece.text) is not None:
            self.writer.act(piece, piece.text, scope)
        elif is_action(piece.text) and not in_step:
            node = self.writer.act(piece, piece.text, scope)
            if is_last_act(piece.text) and node.is_open:
                node.end = "stop" if denies(piece.text) else "finish"
        elif scope.last and not in_step and _IS_IT.match(piece.text):
            self.writer.act(piece, piece.text, scope)
        elif (is_order(piece.text) or self.writer.is_practised(piece.text)) and not (
            in_step and scope.last
        ):
            if _is_reference(piece.text) and scope.last:
                self.writer.say(piece, scope.told)
            else:
                self._prose_act(piece, scope)
        elif is_order(piece.text):
            self.writer.retry(piece, scope.told)
            self.writer.say(piece, scope.told, as_step=True)
        elif _OPEN.search(piece.text) or not (scope.last or _TOLD.search(piece.text)):
            self.writer.unclear(piece, scope)
        elif is_rule(piece.text):
            self.writer.rule(piece, scope.told, scope)
        else:
            self.writer.say(piece, scope.told)

    def _number(self, node: Node, number: str, scope: Scope) -> None:
        sections = [
            str(scope.section),
            *(f"#{slug(title)}" for title in self.writer.desk.path[-1:]),
            "*",
        ]
        node.anchors += [f"step:{section}:{number.lower()}" for section in sections]

    def _prose_act(self, piece: Piece, scope: Scope) -> None:
        node = self.writer.act(piece, piece.text, scope)
        self.loops.repeat_alone(node, piece, piece.text, scope)

    def draw(self) -> list[Node]:
        """The steps of the diagrams; they are told in no other way."""
        nodes: list[Node] = []
        for block in self.writer.charts:
            found = read_sequence(block) if is_sequence(block) else read_chart(block)
            self.writer.desk.note(
                whole(block), "step" if found else "note", found[0] if found else None
            )
            nodes += found
        return nodes

    def show(self) -> None:
        """The diagrams as notes: they show what the steps tell."""
        for block in self.writer.charts:
            self.writer.say(whole(block), None)


def _is_code(node: Node) -> bool:
    """Whether a step was told by its commands alone."""
    return node.texts[0].startswith(("```", "~~~"))


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0].replace("`", "'")


def _belonging(piece: Piece, rest: Sequence[Piece], settles: Callable[[str], bool]) -> int:
    """How many sentences behind a condition tell what is done then: up to the one that says what is
    done otherwise, or the order behind what only tells how things are then, and settles nothing."""
    decision = read_decision(piece.text)
    if decision is None or not rest:
        return 0
    for at, one in enumerate(rest[:_LONGEST_ARM]):
        if read_otherwise(one.text) is not None:
            return at + 1 if at else 0
        if read_decision(one.text) is not None:
            break
    return int(decision.explains and not settles(decision.then) and is_order(rest[0].text))


def _explained_case(piece: Piece, rest: Sequence[Piece]) -> Decision | None:
    """``**Lamp is red** — no power. Switch it on.``: what is done stands behind what it means."""
    if not piece.text.startswith("**") or not any(is_order(one.text) for one in rest):
        return None
    return read_labelled(piece.text, explained=True)


def _case_of(
    first: Piece, rest: Sequence[Piece], below: Sequence[Block], is_step: bool, is_case: bool
) -> Decision | None:
    """The case that an item names, over what is done then. ``is_step``: it is one of steps."""
    explained = is_case and any(is_order(one.text) for one in rest)
    if labelled := read_labelled(first.text, is_case, explained) or (
        is_step and read_aside(first.text)
    ):
        return labelled
    said = first.text.strip()
    marked = said.endswith(":") or (said.startswith("**") and said.endswith("**"))
    has_orders = any(one.kind == "list" and are_steps(one.children) for one in below)
    if marked and has_orders and is_fault(said.strip("*_: ")):
        return Decision(said.strip("*_: "), "")
    return None


def _are_cases(items: Sequence[Block]) -> bool:
    """Whether each item says what is done in one case."""
    found = [first_piece(item)[0] for item in items]
    return all(
        one is not None
        and bool(read_labelled(one.text, True) or read_decision(one.text) or read_arrow(one.text))
        for one in found
    )


def _is_evident(item: Block) -> bool:
    """Whether an item names a case by itself, so that those beside it are cases, too."""
    first, _ = first_piece(item)
    return first is not None and read_labelled(first.text) is not None


def _only_tells(text: str) -> bool:
    """Whether an item among orders is none: it says what something is, or quotes what is said."""
    return is_statement(text) or bool(_QUOTES.fullmatch(text))


def _is_reference(text: str) -> bool:
    return bool(
        re.match(r"(?:see|refer to|note|remember|consult|read)\b", core(text), re.IGNORECASE)
    )
