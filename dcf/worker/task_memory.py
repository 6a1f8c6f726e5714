"""What a Task reads and writes in the tree of the memory: through its own node, and no other."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from control_plane import JSON, Store, enclosing_joins
from dcf.memory import (
    SYSTEM,
    Actor,
    AnsweredCall,
    Found,
    Memory,
    MemoryProblem,
    NewEntry,
    Node,
    NodeEntry,
    NodeResult,
    OwnTurn,
    TreeNode,
    made_for,
)
from dcf.secret_form import without_secrets
from dcf.worker.agent_observer import observations_of_turn
from dcf.worker.lease_lost import LeaseLost
from dcf.worker.node_place import NodePlace, joins_of, place_of

if TYPE_CHECKING:
    from dcf.workflow import Task

log = logging.getLogger(__name__)

T = TypeVar("T")
_BY = SYSTEM.because("the node of a task")
_DIGITS = re.compile(r"([0-9]+)")
_NUMBER = re.compile(r"~[0-9]+$")
_NO_TEXT = re.compile(r"[\0\ud800-\udfff]")
"""Characters that no memory keeps: NUL, and halves of surrogate pairs."""
_ALL = 1_000_000
_CALL = "call"
_OBSERVED = "observation"
"""The kind of an entry that says what the calls of an agent showed."""
_LONGEST = 2_000
"""Characters of what is noted of a failure."""
_FAILURE = "failure"
_FAILURES = 5
"""The last ones, by which it is known what was seen before."""


@dataclass(frozen=True, slots=True)
class TaskMemory:
    """The memory of one Task of ``project``, which works at ``place``. Its node is made when
    something is written, or at the start of a Task that is tried again or whose workflow chose it.
    A ``call`` of this name writes once, however often it comes.
    """

    memory: Memory
    project: str
    place: NodePlace
    by: Actor = _BY
    call: str = ""

    def signed(self, by: Actor) -> TaskMemory:
        """The same, read and written to by somebody else."""
        return replace(self, by=by)

    @property
    def is_offered(self) -> bool:
        """Whether an agent is given tools to read and write it."""
        return self.place.is_chosen

    async def begin(self, state: str) -> Node | None:
        """The node that is read when work on the ``state`` begins; None while there is none. What
        keeps it from being had keeps no Task from its work."""
        steps = self.place.steps
        if self.place.is_chosen or (steps and steps[-1].made_for == "try"):
            return await _if_it_can_be(state, self.node())
        at = self.memory.nodes.nearest(self.project, self.place.checkpoint, steps)
        return await _if_it_can_be(state, at)

    async def node(self) -> Node:
        """Its node, made if it is missing. Raises a MemoryProblem."""
        nodes = self.memory.nodes
        return await nodes.reach(self.project, self.place.checkpoint, self.place.steps, by=_BY)

    async def write(self, text: str, kind: str = "note") -> NodeEntry:
        """Write a text into the node. Raises a MemoryProblem."""
        node, nodes = await self.node(), self.memory.nodes
        said = {_CALL: self.call} if self.call else {}
        if said:
            own = await nodes.entries(node.id, inherited=False, limit=_ALL, by=self.by)
            known = [one for one in own if one.metadata.get(_CALL) == self.call]
            if known:
                return known[0]
        (entry,) = await nodes.write(node.id, NewEntry(text, kind, said), by=self.by)
        return entry

    async def promote(self, entry_id: str) -> NodeEntry:
        """An entry of the node for the one right above it too. Raises a MemoryProblem."""
        node = await self.node()
        return await self.memory.nodes.promote(node.id, entry_id, by=self.by, current=node.id)

    async def note_failure(self, state: str, error: str, cause: str) -> None:
        """Keep why a try failed, for the next one to read."""
        text = _text_of(state, f"{_failed(state)}{error}: {cause}")
        # Of a secret that is cut nobody could tell that it was one.
        kept = self.write(without_secrets(text)[:_LONGEST], _FAILURE)
        await _if_it_can_be(state, kept)

    async def failures(self, node: Node | None, state: str | None = None) -> list[str]:
        """Why tries failed that the Task can read of in its ``node``, those of ``state`` (None: of
        any), the last one first."""
        if node is None:
            return []
        found = await self.memory.nodes.entries(
            node.id, kinds=(_FAILURE,), limit=_FAILURES, newest=True, by=self.by
        )
        texts = [one.text for one in reversed(found)]
        return texts if state is None else [one for one in texts if one.startswith(_failed(state))]

    async def observe(self, state: str, calls: Sequence[AnsweredCall]) -> None:
        """Keep in the node what the calls of the agent that does the Task leave to be known, by the
        rules for turns outside of runs, whose observations are the project's. Once, whoever does
        the work again."""
        found = observations_of_turn(OwnTurn("", 0, self.project, 0, tuple(calls)))
        texts = ["\n".join([f"{state}: {it.title}", it.subtitle, *it.facts]) for it in found]
        if texts:
            await _if_it_can_be(state, self._write_new(texts))

    async def _write_new(self, texts: Sequence[str]) -> None:
        node, nodes = await self.node(), self.memory.nodes
        own = await nodes.entries(
            node.id, inherited=False, kinds=(_OBSERVED,), limit=_ALL, by=self.by
        )
        known = {one.text for one in own}
        new = [NewEntry(one, _OBSERVED) for one in texts if one not in known]
        await nodes.write(node.id, *new, by=self.by)

    async def keep(self, task: Task, result: JSON) -> None:
        """Keep in the node of the branch what the workflow says of the ``result`` of ``task``: all
        that follows in the branch reads it. Once, whoever does the work again. What keeps it from
        being kept is reported: the work is done."""
        policy, lease = task.state.memory, task.lease
        if policy is None or not policy.keeps:
            return
        text, score = _text_of(lease.path, policy.noted(result)), policy.scored(result)
        if text or score is not None:
            of = f"{lease.path}@{lease.visit}"
            kept = self._keep(NodeResult(of, lease.fence, text, score))
            await _if_it_can_be(lease.path, kept)

    async def _keep(self, result: NodeResult) -> None:
        nodes, place = self.memory.nodes, self.place
        node = await nodes.reach(self.project, place.checkpoint, place.branch, by=self.by)
        await nodes.keep(node.id, result, by=self.by)

    async def search(self, query: str, k: int) -> list[Found]:
        """What fits best of the entries that its node reads, and of those that it gathers: not of
        the project's observations and threads, which may be of other workflows and of people.
        Raises a MemoryProblem."""
        node, find = await self.node(), self.memory.search.find
        found = list(await find(query, k=k, node=node.id, kinds=("entry",), by=self.by))
        below = [one.id for one in await self.gathered(node)]
        if below:
            found += await find(query, k=k, nodes=below, by=self.by)
        return sorted(found, key=lambda one: -one.score)[:k]

    async def read(self) -> list[NodeEntry]:
        """All that its node reads, oldest first; then what it gathers. Raises a MemoryProblem."""
        node, nodes = await self.node(), self.memory.nodes
        found = list(await nodes.entries(node.id, limit=_ALL, by=self.by))
        for one in await self.gathered(node):
            found += await nodes.entries(one.id, inherited=False, limit=_ALL, by=self.by)
        return found

    async def gathered(self, node: Node | None) -> list[Node]:
        """The nodes whose entries the Task is shown side by side: those of the iterations and
        branches below its own ``node``, none where it does not ask for them."""
        if node is None or not self.place.gathers:
            return []
        found = _branches(await self.memory.nodes.tree(node.id, by=self.by))
        return sorted(found, key=lambda one: _in_order(one.name))


@dataclass(frozen=True, slots=True)
class HandlerNotes:
    """The memory of the Task that a handler works on, looked for when it is used first. Methods
    raise a MemoryProblem, and NoMemory where the workflow says that the Task has none."""

    store: Store
    memory: Memory
    project: str
    task: Task

    async def write(self, text: str, kind: str = "note") -> NodeEntry:
        """Write a text into the node of the Task."""
        return await (await self._own()).write(text, kind)

    async def promote(self, entry_id: str, to: str | None = None) -> NodeEntry:
        """An entry of the node for the one above it too, or for the ancestor with the id ``to``."""
        node = await (await self._own()).node()
        return await self.memory.nodes.promote(node.id, entry_id, by=_BY, to=to)

    async def node(self) -> Node:
        """The node of the Task; programs that a handler starts find its name, ``called``, in
        ``DCF_NODE``, if the handler puts it there."""
        return await (await self._own()).node()

    async def search(self, query: str, k: int = 10) -> list[Found]:
        """What fits best of what the node reads, and of what the Task gathers."""
        return await (await self._own()).search(query, k)

    async def read(self) -> list[NodeEntry]:
        """All that the node reads, oldest first; then what the Task gathers, branch by branch."""
        return await (await self._own()).read()

    async def keep(self, result: JSON) -> None:
        """Keep what the workflow says of the ``result``, as ``TaskMemory.keep`` does."""
        policy = self.task.state.memory
        if policy is None or not policy.keeps:
            return
        own = await _if_it_can_be(self.task.lease.path, self._own())
        if own is not None:
            await own.keep(self.task, result)

    async def note_failure(self, error: str, cause: str) -> None:
        """Keep why a try failed, where the workflow chose the memory of the Task: a handler reads
        only what it asks for."""
        path = self.task.lease.path
        own = await _if_it_can_be(
            path, task_memory(self.store, self.memory, self.project, self.task)
        )
        if own is not None and own.place.is_chosen:
            await own.note_failure(self.task.state.name, error, cause)

    async def _own(self) -> TaskMemory:
        found = await task_memory(self.store, self.memory, self.project, self.task)
        if found is None:
            raise NoMemory(state=self.task.state.name)
        return found


class NoMemory(MemoryProblem):
    """{state} has no memory: its workflow, or a Map or Parallel around it, says `none`."""

    code = "memory_scope_none"
    hint = "give it another `scope`, or keep nothing there"


async def task_memory(store: Store, memory: Memory, project: str, task: Task) -> TaskMemory | None:
    """The memory of a Task; None where its workflow says that it has none, or the run is gone."""
    paths = [path for path, _ in enclosing_joins(task.lease.path)]
    documents = await store.states(task.lease.workflow_id, paths) if paths else {}
    if len(documents) < len(paths):
        # The run was removed, or a fail-over took it back: whoever holds the lease works in vain.
        raise LeaseLost("unknown_state")
    place = place_of(task, joins_of(task, [documents[path] for path in paths]))
    return None if place is None else TaskMemory(memory, project, place)


def _branches(tree: Sequence[TreeNode]) -> Iterator[Node]:
    """Of a node's ``tree`` the iterations and branches right below it, with the tries in them and
    what followed when they were tried as a whole: not those inside of these."""
    inside: dict[str, str] = {}
    top, rest = tree[0].node, [one.node for one in tree[1:]]
    for node in rest:
        name = _NUMBER.sub("", node.name)
        above = inside.get(node.parent or "")
        is_branch = made_for(node) in ("iteration", "branch")
        if node.parent == top.id and is_branch:
            inside[node.id] = name
        elif above is not None and (made_for(node) == "try" or name == above):
            inside[node.id] = above
        else:
            continue
        yield node


def _failed(state: str) -> str:
    """What is noted of a failure begins with this."""
    return f"{state} failed with "


def _text_of(state: str, text: str) -> str:
    """``text`` as a memory keeps it. What stands for a character that none keeps is reported."""
    kept, count = _NO_TEXT.subn("\ufffd", text)
    if count:
        log.warning(
            "%s: the memory keeps neither NUL nor half a surrogate pair: of what it is to keep,"
            " %d characters are kept as U+FFFD",
            *(state, count),
        )
    return kept


def _in_order(name: str) -> list[tuple[int, str]]:
    """A key by which ``Fan[10]`` comes after ``Fan[9]``."""
    parts = _DIGITS.split(name)
    return [(int(one), "") if one.isascii() and one.isdigit() else (-1, one) for one in parts]


async def _if_it_can_be(state: str, work: Awaitable[T]) -> T | None:
    """What ``work`` gives; None where the memory cannot be read or written, which is reported."""
    try:
        return await work
    except MemoryProblem as problem:
        log.warning("%s is done without its node of the memory: %s", state, problem)
        return None
