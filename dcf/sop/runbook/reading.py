"""From the text of any runbook to a draft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from dcf.sop.limits import MAX_STEPS
from dcf.sop.parse import form_of, parse
from dcf.sop.procedure import Note, Role, Sop
from dcf.sop.runbook.approvals import read_consent
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.blocks import read_blocks
from dcf.sop.runbook.callouts import callout_of
from dcf.sop.runbook.case_sections import is_case
from dcf.sop.runbook.cases import decides
from dcf.sop.runbook.composer import Composer
from dcf.sop.runbook.desk import Desk
from dcf.sop.runbook.drafted import Draft, NoDraft
from dcf.sop.runbook.ends import denies, is_last_act
from dcf.sop.runbook.exact import exact_draft
from dcf.sop.runbook.flow import Node, Part
from dcf.sop.runbook.flowchart import is_chart
from dcf.sop.runbook.front import MEMBER, front_end, front_members
from dcf.sop.runbook.headings import bare_title, is_step_heading, slug
from dcf.sop.runbook.items import has_commands, has_numbered_orders, tells_cases
from dcf.sop.runbook.joined import joined
from dcf.sop.runbook.numbering import number_steps
from dcf.sop.runbook.placeholders import assigned
from dcf.sop.runbook.scope import Scope
from dcf.sop.runbook.sections import Section, read_sections
from dcf.sop.runbook.signs import Signs
from dcf.sop.runbook.source import Source, no_draft, readable
from dcf.sop.runbook.verbs import base_of
from dcf.sop.runbook.wording import Piece, pieces, word_stems
from dcf.sop.step import Step

_WORD = re.compile(r"[^\W_]")
_OWNER = re.compile(
    r"[*_]{0,2}(?:owner|team|owned by|maintainers?|responsible)[*_]{0,2}\s*:\s*[*_]{0,2}\s*"
    r"(?P<who>@?[\w][\w /&.-]{0,40}?)\s*(?:[·|,;(*]|$)",
    re.IGNORECASE,
)
_POLICY = re.compile(r"\bpolic(?:y|ies)\b|\b(?:as|are) an? [\w -]{0,30}agent\b", re.IGNORECASE)
_WHOLE = word_stems(
    "change procedure process operation activity maintenance intervention request work task needs"
    " requires must with only without before approval approved authorised consent permission agreed"
)
"""Words by which a rule about consent names all that is done, or that there is a rule."""
_OBJECTIVE = 2_000
"""Characters of an objective; what is longer is a note."""


def draft(text: str, file: str = "", answers: Mapping[str, str] | None = None) -> Draft:
    """The draft of the runbook in ``text``, Markdown or YAML. ``file`` is the name that problems
    carry, ``answers`` what somebody said to questions of an earlier draft, by their ids. A text
    that is a procedure in our own form is read as ``parse`` reads it, with a question for each name
    that several branches write without a rule. Raises ``NoDraft`` for a text that is empty, no
    text, too large, or YAML with errors."""
    return draft_of(Source(text, file), answers)


def draft_of(source: Source, answers: Mapping[str, str] | None = None) -> Draft:
    """The draft of a runbook in any format, as ``draft`` makes it. Raises ``NoDraft``."""
    if source.blocks is not None:
        found = _Reader(source, source.blocks, answers or {}).draft()
    else:
        found = _draft_of_text(source.text, source.file, answers or {})
    return replace(found, problems=source.problems)


def _draft_of_text(text: str, file: str, answers: Mapping[str, str]) -> Draft:
    reading = parse(text, file)
    if reading.sop is not None:
        return exact_draft(text, reading.sop, answers)
    if (kept := joined(text, file, reading, answers)) is not None:
        return kept
    if form_of(file) == "yaml":
        raise NoDraft(reading.problems)
    text = readable(text, file)
    end = front_end(text)
    blocks = read_blocks(text[end:], text.count("\n", 0, end) + 1)
    return _Reader(Source(text, file, front=text[:end]), blocks, answers).draft()


class _Reader:
    def __init__(self, source: Source, blocks: Sequence[Block], answers: Mapping[str, str]) -> None:
        self._source = source
        self._blocks = blocks
        self._file = source.file
        self._desk = Desk(answers)
        self._title = ""
        self._objective: list[str] = []
        self._owner = ""
        self._practised: list[Section] = []

    def draft(self) -> Draft:
        root = read_sections(self._blocks)
        top = self._take_title(root)
        sections = [section for section in root.all() if section.level]
        targets, asides = _anchors(sections)
        composer = Composer(self._desk, targets, asides)
        self._composer = composer
        self._signs = Signs(composer.writer)
        codes = [block.text for block in _all(self._blocks) if block.kind == "code"]
        told = [block.text for block in _all(self._blocks) if not is_chart(block)]
        composer.words = word_stems(" ".join(told))
        composer.writer.given = assigned("\n".join(codes))
        composer.writer.of_people = not any(has_commands(one) for one in _all(self._blocks))
        for piece in front_members(self._source.front):
            self._front_member(piece)
        main, aside = self._parts(root, top, composer)
        if main:
            composer.show()
        else:
            main = composer.draw()
        self._cover()
        return self._made(composer, main, aside)

    # The frame

    def _front_member(self, piece: Piece) -> None:
        found = MEMBER.match(piece.text)
        name = found["name"].lower() if found else ""
        value = found["value"].strip("\"' ") if found else ""
        if name == "title" and value:
            self._title = self._title or value
            self._desk.note(piece, "objective")
        elif name in ("description", "summary", "objective", "purpose", "goal") and value:
            self._objective.insert(0, value)
            self._desk.note(piece, "objective")
        else:
            if name in ("owner", "team", "responsible", "role") and value:
                self._owner = value.replace("`", "")
            self._desk.note(piece, "note")
            self._composer.writer.found.notes.append(Note("Front matter", piece.text, piece.line))

    def _take_title(self, root: Section) -> Section:
        """The section of the title: the first heading of the highest level, where all stand
        below it."""
        if root.children:
            first = root.children[0]
            rest = root.children[1:]
            is_title = first.level == 1 and first.purpose in ("unknown", "note", "objective")
            if is_title or not rest:
                self._title = " ".join(first.title.split())
                return first
        return root

    def _cover(self) -> None:
        """Note every line with words that was read into nothing, so that no sentence is lost."""
        covered = bytearray(self._source.text.count("\n") + 3)
        for noted in self._desk.noted:
            for line in range(noted.piece.line, noted.piece.last + 1):
                covered[line] = 1
        for line, row in enumerate(self._source.text.split("\n"), start=1):
            if not covered[line] and _WORD.search(row):
                piece = Piece(line, line, " ".join(row.split()))
                self._desk.note(piece, "note")
                self._composer.writer.found.notes.append(Note("Note", piece.text, line))

    # The parts

    def _parts(
        self, root: Section, top: Section, composer: Composer
    ) -> tuple[list[Node], list[list[Node]]]:
        main: list[Node] = []
        aside: list[list[Node]] = []
        if top is not root:
            heading = Piece(top.line, top.last or top.line, top.title)
            self._desk.note(heading, "objective")
        has_steps = any(
            self._signs.procedural(section) for section in root.all() if section not in (root, top)
        )
        is_policy = _is_policy(root, top)
        if not any(self._signs.is_procedure(section) for section in root.all()):
            self._practised = [one for one in root.all() if self._signs.practise(one)]
        beside = root.children if top is root else (*root.children, *top.children)
        cases = [one for one in beside if is_policy and one is not top and is_case(one)]
        if is_policy:
            has_steps, composer.by_cases = False, True
        for section in (root, top) if top is not root else (root,):
            self._desk.path = section.path
            self._preamble(section, composer, main, has_steps)
        for parent in (root, top) if top is not root else (root,):
            for section in parent.children:
                if section in cases:
                    main += [composer.cases(cases)] if section is cases[0] else []
                elif section is not top:
                    self._section(section, composer, main, aside, has_steps)
        return main, aside

    def _preamble(
        self, section: Section, composer: Composer, main: list[Node], has_steps: bool
    ) -> None:
        """What stands under the title: the objective, or the steps where there are no others."""
        blocks = section.blocks
        for block in blocks:
            for _, text in block.lines if block.kind == "text" else ():
                owner = _OWNER.search(text)
                if owner and not self._owner:
                    self._owner = owner["who"].strip(" *_@")
        scope = Scope(main, 0)
        at = 0
        while at < len(blocks) and not self._signs.begin_steps(blocks[at], has_steps):
            at += 1
        if (
            at
            and at < len(blocks)
            and blocks[at].kind == "code"
            and self._signs.introduce(blocks[at - 1])
        ):
            at -= 1
        self._describe(blocks[:at], composer, main)
        composer.blocks(blocks[at:], scope)

    def _describe(self, blocks: list[Block], composer: Composer, main: list[Node]) -> None:
        """The objective, as far as it is prose; what is done in each of several cases is part of
        the steps."""
        for at, block in enumerate(blocks):
            if tells_cases(block):
                composer.blocks([block], Scope(main, 0))
                continue
            if block.kind == "list":
                block = composer.declarations.without_rules(block)
            long = sum(map(len, self._objective)) > _OBJECTIVE
            is_member = block.kind == "text" and bool(_OWNER.search(block.text))
            if block.kind == "quote" or callout_of(block) is not None:
                composer.blocks([block], Scope([], 0))
                continue
            if composer.declarations.asked_for(block, blocks[at - 1] if at else None):
                continue
            if block.kind != "text" or long or is_member:
                composer.writer.tell([block], None)
                continue
            for piece in pieces(block.lines):
                if not _is_ability(piece.text) and read_consent(piece.text) is not None:
                    composer.writer.rule(piece, None)
                    continue
                self._objective.append(piece.text)
                self._desk.note(piece, "objective")
                composer.writer.take_inputs(piece.text, None, is_code=False, line=piece.line)

    def _section(
        self,
        section: Section,
        composer: Composer,
        main: list[Node],
        aside: list[list[Node]],
        has_steps: bool,
    ) -> None:
        purpose = section.purpose
        self._desk.path = section.path
        if is_step_heading(section.title):
            main += composer.section(section)
        elif purpose == "objective" and not has_numbered_orders(section):
            heading = Piece(section.line, section.last, section.title)
            self._desk.note(heading, "note")
            self._describe(section.blocks, composer, main)
            for child in section.children:
                self._section(child, composer, main, aside, has_steps)
        elif purpose == "aside" and (main or has_steps):
            nodes = composer.section(section, aside=True)
            if nodes:
                aside.append(nodes)
        elif purpose in ("guardrails", "inputs", "roles", "note"):
            ruling = purpose == "guardrails" and decides(section)
            if ruling or has_numbered_orders(section) or section in self._practised:
                main += composer.section(section)
            else:
                main += composer.declarations.declare(section)
        elif purpose == "first":
            main += composer.declarations.first(section)
        elif (
            purpose in ("steps", "aside")
            or self._signs.procedural(section)
            or _draws(section, composer)
        ):
            main += composer.section(section)
        else:
            main += composer.declarations.declare(section)

    # The draft

    def _made(self, composer: Composer, main: list[Node], aside: list[list[Node]]) -> Draft:
        if not main and aside:
            main = aside.pop(0)
        title = self._title or bare_title(PurePath(self._file).stem.replace("-", " ")) or "Runbook"
        if not main:
            main = [self._entry(title)]
        self._agree(main, title)
        main[0].anchors.append("start")
        for nodes in (main, *aside):
            _close(nodes[-1])
        self._resolve([main, *aside])
        self._reach(main, aside)
        parts = [Part(main), *(Part(nodes, "finish") for nodes in aside)]
        numbered = number_steps(parts)
        for node, target in numbered.lost:
            piece = Piece(node.line, node.line, node.title)
            asks = f"there is no place {target.removeprefix('#')!r} to go to"
            self._desk.ask(piece, asks, "go on with the next step", ("go on with the next step",))
        for node in numbered.led:
            piece = Piece(node.line, node.line, node.title)
            asks = "nothing leads to this step"
            self._desk.ask(piece, asks, "after the step before it", ("after the step before it",))
        for node in numbered.endless:
            piece = Piece(node.line, node.line, node.title)
            asks = "nothing says when this is no longer repeated"
            self._desk.ask(piece, asks, "when a person says so", ("when a person says so",))
        found = composer.writer.found
        roles = {self._owner: ""} if self._owner else {}
        steps = tuple(_owned(step, self._owner) for step in numbered.steps)
        objective = "\n".join(self._objective) or title
        sop = Sop(
            title,
            objective,
            steps,
            inputs=tuple(found.inputs.values()),
            guardrails=tuple(found.guardrails),
            roles=tuple(Role(name) for name in roles),
            notes=_notes(found.notes),
        )
        count = sum(1 for _ in sop.all_steps())
        if count > MAX_STEPS:
            message = f"there are {count:,} steps, over {MAX_STEPS:,}"
            raise no_draft("SOP_LIMIT", message, "split it into several runbooks", self._file)
        desk = self._desk
        questions = tuple(sorted(desk.questions, key=lambda one: one.line))
        return Draft(sop, desk.sentences(), questions, answered=tuple(desk.answered))

    def _entry(self, title: str) -> Node:
        """A text without steps is followed by whoever is given it."""
        return Node(1, f"Follow: {title}")

    def _agree(self, main: list[Node], title: str) -> None:
        """Put the consent that a rule asks for before the step that it is about: the first with
        two of its words, else one. One that is about the whole, or about no step by its words,
        comes before all."""
        whole = word_stems(title) | _WHOLE
        for consent in reversed(self._composer.writer.found.consents):
            rule = next(one.piece.text for one in self._desk.noted if one.node is consent)
            about = word_stems(rule) - word_stems(" ".join(consent.approvers)) - whole
            shared = [len(about & word_stems(node.title)) for node in main]
            most = min(max(shared, default=0), 2)
            main.insert(next((at for at, count in enumerate(shared) if count >= most), 0), consent)

    def _resolve(self, lists: list[list[Node]]) -> None:
        """Jumps to numbers that their own section does not have, to those of another."""
        nodes = [node for one in lists for node in _walk(one)]
        known = {anchor for node in nodes for anchor in node.anchors}
        for node in nodes:
            if node.jump.startswith(("step:", "part:")):
                kind, section, number = node.jump.split(":", 2)
                own = f"step:{section}:{number}"
                if own in node.anchors:
                    own = ""  # the step of another section with that number
                tried = [f"step:h:{number}", own, f"step:*:{number}"]
                tried.insert(0 if kind == "part" else 3, f"part:*:{number}")
                node.jump = next((one for one in tried if one in known), node.jump)

    def _reach(self, main: list[Node], aside: list[list[Node]]) -> None:
        """A section that nothing jumps to is done when a step before it fails."""
        before = main
        for nodes in aside:
            wanted = {anchor for node in _walk(nodes) for anchor in node.anchors}
            others = [node for one in (main, *aside) if one is not nodes for node in _walk(one)]
            if not any(node.jump in wanted for node in others if node.jump):
                anchor = nodes[0].anchors[0] if nodes[0].anchors else f"aside:{id(nodes)}"
                if anchor not in nodes[0].anchors:
                    nodes[0].anchors.append(anchor)
                piece = Piece(nodes[0].line, nodes[0].line, nodes[0].title)
                self._desk.ask(
                    piece,
                    "nothing says when this section is done",
                    "when a step before it cannot be done",
                    ("when a step before it cannot be done",),
                )
                for node in before:
                    if node.kind in ("manual", "task", "approval", "loop"):
                        node.failing = node.failing or anchor
            before = nodes


def _is_ability(text: str) -> bool:
    """Whether a sentence without a subject tells what something does: ``Switches after approval``,
    ``Can switch when the user confirms``."""
    first = text.split(" ", 1)[0].lower()
    return first in ("can", "never") or (first.endswith("s") and bool(base_of(first)))


def _close(last: Node) -> None:
    """Say that the procedure ends with the last step of a list, where that is what it does."""
    if last.is_open and not last.inside and last.kind == "manual" and is_last_act(last.title):
        last.end = "stop" if denies(last.title) else "finish"


def _walk(nodes: list[Node]) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        found.append(node)
        found += _walk(node.body)
        found += _walk(node.inside)
        for arm in node.arms:
            found += _walk(arm.nodes)
    return found


def _all(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        yield from _all(block.children)


def _anchors(sections: list[Section]) -> tuple[dict[str, str], dict[str, str]]:
    """Where headings lead to, by their words; and what leads to sections that are set aside, as
    patterns of what is said."""
    targets: dict[str, str] = {}
    asides: dict[str, str] = {}
    for section in sections:
        anchor = f"#{slug(section.title)}"
        targets.setdefault(bare_title(section.title).lower(), anchor)
        targets.setdefault(section.title.lower(), anchor)
        if section.purpose == "aside":
            said = section.title.lower()
            if "escal" in said or "eskal" in said:
                asides.setdefault(r"(?:escalate|eskaliere|escalade)", anchor)
            else:
                asides.setdefault(
                    r"(?:roll(?:ing)? ?-?back|revert|back (?:it |the \w+ )?out|undo)\b", anchor
                )
    return targets, asides


def _is_policy(root: Section, top: Section) -> bool:
    """Whether a text has rules for an agent, and cases: no numbered steps, no commands."""
    told = " ".join(block.text for block in [*root.blocks, *top.blocks][:3])
    if not _POLICY.search(f"{top.title} {told[:500]}"):
        return False
    return not any(
        block.kind == "code" or (block.kind == "list" and any(one.number for one in block.children))
        for block in root.all_blocks()
    )


def _draws(section: Section, composer: Composer) -> bool:
    """Whether a section has a flowchart of what the text does not tell."""
    return any(is_chart(block) and composer.draws_more(block) for block in section.blocks)


def _owned(step: Step, owner: str) -> Step:
    if not owner:
        return step
    inside = tuple(_owned(one, owner) for one in step.steps)
    role = step.role or (owner if step.kind in ("manual", "task") else None)
    return replace(step, role=role, steps=inside)


def _notes(notes: list[Note]) -> tuple[Note, ...]:
    """Notes under one heading as one."""
    joined: dict[str, list[Note]] = {}
    for note in notes:
        joined.setdefault(note.title, []).append(note)
    return tuple(
        Note(title, "\n".join(one.text for one in found), found[0].line)
        for title, found in joined.items()
    )
