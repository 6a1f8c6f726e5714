"""The tree of what is to be done as numbered steps.

A procedure has lists of steps and jumps by number, so the arms of a decision are laid out one
behind the other, each with a jump behind all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dcf.sop.condition import Comparison, Constant, Name
from dcf.sop.conduct import Approval, Transfer, Wait
from dcf.sop.direction import CONTINUE, Continue, Direction, Finish, GoTo, Stop
from dcf.sop.prose import one_line
from dcf.sop.runbook.flow import NO, OTHERWISE, YES, Node, Part
from dcf.sop.step import YES_OR_NO, Branch, Handler, Loop, Step

STOPPED = "Stopped"
_TRIES = 8
"""To lead to steps that nothing leads to, before all of them follow one another."""
ENDED = "Ended"
_FAILING = frozenset({"manual", "task", "approval", "loop", "parallel"})


@dataclass(slots=True, eq=False)
class _Mark:
    """A place among the steps of a list: known when all of it is laid out."""

    at: int = -1


_Way = _Mark | str
"""Where a step goes on: a mark, the name of an anchor, or how it ends: ``!over`` with the list,
``!finish`` with the procedure, ``!stop`` as a failure."""
_END_WAYS: dict[str, _Way] = {"finish": "!finish", "stop": "!stop"}


@dataclass(slots=True, eq=False)
class _Place:
    node: Node
    ways: list[tuple[str, _Way]] = field(default_factory=list)
    then: _Way = "!over"


@dataclass(slots=True)
class Numbered:
    """``steps`` of the procedure. ``lost`` are jumps to places that are not there; they go on with
    the next step. ``led`` are nodes that nothing led to, so that the one before them does now.
    ``endless`` are those that led back each time, so that a person says now when they do not."""

    steps: tuple[Step, ...] = ()
    lost: list[tuple[Node, str]] = field(default_factory=list)
    led: list[Node] = field(default_factory=list)
    endless: list[Node] = field(default_factory=list)


def number_steps(parts: Sequence[Part]) -> Numbered:
    """The steps of all ``parts``, one list behind the other: those after the first are reached by
    jumps alone."""
    found = Numbered()
    found.steps = _List(parts, "", found, None).steps()
    return found


class _List:
    """One list of steps. Jumps stay in it: one that leaves a loop is an error of its turn, which
    the loop handles."""

    def __init__(
        self, parts: Sequence[Part], parent: str, found: Numbered, outer: _List | None
    ) -> None:
        self._found = found
        self._outer = outer
        self._parent = parent
        self._places: list[_Place] = []
        self._escapes: dict[str, _Way] = {}
        self._counts: dict[str, int] = {}
        for part in parts:
            self._lay(part.nodes, "!stop" if part.end == "stop" else "!over", parent)
        self._anchors: dict[str, int] = {}
        for at, place in enumerate(self._places):
            for anchor in place.node.anchors:
                self._anchors.setdefault(anchor, at)

    def _lay(self, nodes: Sequence[Node], after: _Way, parent: str) -> None:
        """Lay ``nodes`` out behind what is there; they are numbered inside step ``parent``."""
        nodes = [one for node in nodes for one in _asking_apart(node)]
        for index, node in enumerate(nodes):
            last = index + 1 == len(nodes)
            following: _Way = after if last else _Mark()
            count = self._counts[parent] = self._counts.get(parent, 0) + 1
            node.number = f"{parent}.{count}" if parent else str(count)
            place = _Place(node, then=_own_way(node) or following)
            self._places.append(place)
            within: _Way = _Mark() if node.inside else following
            self._lay_arms(place, within)
            if isinstance(within, _Mark) and node.inside:
                within.at = len(self._places)
                inner_way = place.then
                place.then = within
                self._lay(node.inside, inner_way, node.number)
            if isinstance(following, _Mark) and not last:
                following.at = len(self._places)

    def _lay_arms(self, place: _Place, following: _Way) -> None:
        node = place.node
        for arm in node.arms:
            if not arm.nodes:
                way: _Way = following
            elif _is_jump(arm.nodes[0]):
                way = _own_way(arm.nodes[0]) or following
            else:
                way = _Mark(len(self._places))
                self._lay(arm.nodes, following, node.number)
            place.ways.append((arm.label, way))

    def steps(self) -> tuple[Step, ...]:
        made = [self._step(place, at) for at, place in enumerate(self._places)]
        return tuple(self._all_ended(self._all_reached(made)))

    def _step(self, place: _Place, at: int) -> Step:
        node = place.node
        inner = _List([Part(node.body)], node.number, self._found, self) if node.body else None
        inside = inner.steps() if inner else ()
        handlers = [
            Handler((error,), self._direction(place, way, at), node.line)
            for error, way in (inner.escapes if inner else ())
        ]
        if node.failing and node.kind in _FAILING:
            handlers.append(Handler((), self._direction(place, node.failing, at), node.line))
        then = self._direction(place, place.then, at)
        branches: list[Branch] = []
        writes = node.writes
        choices: tuple[str, ...] = ()
        if place.ways:
            answer = f"answer_{node.number.replace('.', '_')}"
            writes = (Transfer("answer", answer), *writes)
            labels = [label for label, _ in place.ways]
            is_plain = set(labels) <= YES_OR_NO
            for (label, way), arm in zip(place.ways, node.arms, strict=True):
                # Of yes and no a procedure keeps true and false.
                value = Constant(label == YES if is_plain else label)
                asked = Comparison(Name(answer), "==", value)
                way_on = self._direction(place, way, at)
                branches.append(Branch(asked, way_on, arm.line or node.line))
            if set(labels) == YES_OR_NO or OTHERWISE in labels:
                # Nothing else can be answered, so the last one is what is done otherwise.
                last = branches.pop()
                then = self._told(last.then, last.line, at)
            elif not is_plain:
                labels.append(OTHERWISE)
            choices = (YES, NO) if is_plain else tuple(labels)
        is_work = node.kind in ("manual", "task")
        return Step(
            node.number,
            one_line(node.title),
            node.kind,
            "\n".join(node.texts),
            role=node.role if is_work or node.kind == "approval" else None,
            skills=node.skills if node.kind == "task" else (),
            reads=_transfers(node.reads) if is_work else (),
            writes=writes if is_work else (),
            branches=tuple(branches),
            then=then,
            wait=Wait(node.seconds) if node.kind == "wait" else None,
            approval=Approval(node.approvers) if node.kind == "approval" else None,
            choices=choices,
            loop=Loop(node.items, node.item) if node.kind == "loop" else None,
            steps=inside,
            retries=node.retries if is_work else (),
            deadline=node.deadline if is_work or node.kind == "approval" else None,
            handlers=tuple(handlers),
            tier=node.tier if node.kind == "task" else None,
            budget=node.budget if node.kind == "task" else None,
            line=node.line,
            commands=tuple(node.commands),
        )

    def _told(self, way: Direction, line: int, at: int) -> Direction:
        """``way`` with the line that says it, where that is not the step's own."""
        if line == self._places[at].node.line or isinstance(way, Finish):
            return way
        if isinstance(way, Continue) and at + 1 < len(self._places):
            return GoTo(self._places[at + 1].node.number, line)
        return replace(way, line=line) if isinstance(way, GoTo | Stop) else way

    @property
    def escapes(self) -> Iterator[tuple[str, _Way]]:
        """The errors by which turns of a loop lead out of it, with where to."""
        yield from self._escapes.items()

    def _direction(self, place: _Place, way: _Way, at: int) -> Direction:
        line = place.node.way_line
        if isinstance(way, _Mark):
            index = way.at
        elif way == "!stop":
            # Whoever reads that a run stopped wants to know at what. Words in backticks would be
            # names of values.
            return Stop(STOPPED, place.node.title.replace("`", "'"), line=line)
        elif way == "!finish" and self._outer is not None:
            return self._escape(ENDED, way)
        elif way == "!finish":
            return Finish(of_procedure=True)
        elif way == "!over" and at + 1 < len(self._places):
            return Finish()
        elif way == "!over":
            return Finish() if place.node.kind == "end" else CONTINUE
        elif way in self._anchors:
            return GoTo(self._places[self._anchors[way]].node.number, line)
        elif self._outer is not None and self._outer.knows(way):
            return self._escape(_error(way), way)
        else:
            self._found.lost.append((place.node, way))
            index = at + 1
        if index >= len(self._places):
            return Finish()
        return CONTINUE if index == at + 1 else GoTo(self._places[index].node.number, line)

    def _escape(self, error: str, way: _Way) -> Direction:
        self._escapes[error] = way
        return Stop(error)

    def knows(self, anchor: str) -> bool:
        """Whether a jump from inside this list gets to ``anchor``."""
        return anchor in self._anchors or (self._outer is not None and self._outer.knows(anchor))

    def _all_reached(self, steps: list[Step]) -> list[Step]:
        """``steps``, each led to: by the one before it where nothing else does. That takes a jump
        away, on which other steps may have depended; then all of them follow one another."""
        for _ in range(_TRIES):
            reached = _reached(steps)
            lost = [at for at in range(1, len(steps)) if at not in reached and at - 1 in reached]
            if not lost:
                return steps
            self._found.led += [self._places[at].node for at in lost]
            for at in lost:
                steps[at - 1] = _going_on(steps[at - 1])
        return [_going_on(step) for step in steps]

    def _all_ended(self, steps: list[Step]) -> list[Step]:
        """``steps``, each with a way to the end. A jump back that takes the last one is asked for
        by a step behind all others."""
        asked: list[Step] = []
        while endless := _endless(steps):
            # The last of them jumps: the step behind it, if any, has a way to the end.
            at = max(endless)
            step, back = steps[at], steps[at].then
            assert isinstance(back, GoTo)
            self._found.endless.append(self._places[at].node)
            count = self._counts[self._parent] = self._counts[self._parent] + 1
            number = f"{self._parent}.{count}" if self._parent else str(count)
            asked.append(_asking_again(number, back, step))
            steps[at] = replace(step, then=GoTo(number, back.line))
        return [*_closed(steps), *asked] if asked else steps


def _asking_again(number: str, back: GoTo, step: Step) -> Step:
    answer = f"answer_{number.replace('.', '_')}"
    again = Comparison(Name(answer), "==", Constant(True))
    return Step(
        number,
        f"Is step {back.step} to be done again?",
        "manual",
        role=step.role,
        writes=(Transfer("answer", answer),),
        branches=(Branch(again, back, back.line or step.line),),
        then=Finish(),
        choices=(YES, NO),
        line=step.line,
    )


def _closed(steps: list[Step]) -> list[Step]:
    """``steps`` that end with the last of them, where others follow."""
    *before, last = steps
    branches = tuple(replace(one, then=_over(one.then)) for one in last.branches)
    handlers = tuple(replace(one, then=_over(one.then)) for one in last.handlers)
    return [*before, replace(last, branches=branches, handlers=handlers, then=_over(last.then))]


def _over(way: Direction) -> Direction:
    return Finish() if isinstance(way, Continue) else way


def _going_on(step: Step) -> Step:
    return replace(step, kind="manual" if step.kind == "end" else step.kind, then=CONTINUE)


def _reached(steps: Sequence[Step]) -> set[int]:
    index = {step.number: at for at, step in enumerate(steps)}
    reached: set[int] = set()
    ahead = [0]
    while ahead:
        at = ahead.pop()
        if at in reached or at >= len(steps):
            continue
        reached.add(at)
        for way in _directions(steps[at]):
            if isinstance(way, GoTo):
                ahead.append(index[way.step])
            elif isinstance(way, Continue):
                ahead.append(at + 1)
    return reached


def _endless(steps: Sequence[Step]) -> set[int]:
    """The steps that never get to an end, unless they fail."""
    index = {step.number: at for at, step in enumerate(steps)}
    before: dict[int, list[int]] = {at: [] for at in range(len(steps))}
    ended: list[int] = []
    for at, step in enumerate(steps):
        for way in (*(branch.then for branch in step.branches), step.then):
            to = at + 1 if isinstance(way, Continue) else len(steps)
            if isinstance(way, GoTo):
                to = index.get(way.step, len(steps))
            if to < len(steps):
                before[to].append(at)
            else:
                ended.append(at)
    found: set[int] = set()
    while ended:
        at = ended.pop()
        if at not in found:
            found.add(at)
            ended += before[at]
    return set(range(len(steps))) - found


def _directions(step: Step) -> Iterator[Direction]:
    yield from (branch.then for branch in step.branches)
    yield from (handler.then for handler in step.handlers)
    yield step.then


def _is_jump(node: Node) -> bool:
    """Whether a node does nothing but go elsewhere."""
    return not node.title and bool(node.jump or node.end)


def _asking_apart(node: Node) -> Iterator[Node]:
    """``node``; what is decided after a loop or a wait is asked in a step of its own."""
    yield node
    if node.arms and node.kind not in ("manual", "task"):
        apart = Node(node.arms[0].line or node.line, node.title, arms=node.arms, inside=node.inside)
        apart.jump, apart.end, apart.way_line = node.jump, node.end, node.way_line
        node.arms, node.inside, node.jump, node.end = [], [], "", ""
        yield apart


def _own_way(node: Node) -> _Way:
    return node.jump or (_END_WAYS[node.end] if node.end else "")


def _transfers(names: Sequence[str]) -> tuple[Transfer, ...]:
    return tuple(Transfer(name, name) for name in dict.fromkeys(names))


def _error(anchor: str) -> str:
    """An anchor as the name of an error."""
    words = re.findall(r"[A-Za-z0-9]+", anchor)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else f"Go{name}"
