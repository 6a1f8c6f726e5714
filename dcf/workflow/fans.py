"""What the children of an open join share: items, variables, and what is around them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from control_plane import Lease, Store, enclosing_joins, split_path
from control_plane.payload import JSON
from dcf import asl
from dcf.workflow.run import Run, iso, state_context

_KEPT = 256
Key = tuple[str, str, str, int]
"""Workflow id, incarnation of the run, path, round."""


@dataclass(frozen=True, slots=True)
class OpenFan:
    """What the frames of one open join share; ``outer_round`` is the round of the join itself.

    ``around`` is the context of the frame that the Map or Parallel stands in, ``visit`` its own
    visit, whose variables are all that were visible there; ``variables`` are those that its
    children see.
    """

    state: asl.State
    visit: asl.Visit
    around: Mapping[str, Any]
    variables: Mapping[str, JSON]
    outer_round: int
    items: list[JSON] | None
    input: JSON

    def child_context(self, number: int, value: JSON, started_at: int) -> Mapping[str, Any]:
        """The context of child ``number``, which starts with ``value``."""
        if self.items is None:
            return self.around
        item = self.items[number]
        if not isinstance(self.state, asl.MapState) or not self.state.is_distributed:
            return asl.iteration_context(dict(self.around), number, item)
        map_run = asl.map_run(self.state, self.visit)
        started = iso(started_at)
        return asl.child_context(dict(self.around), map_run, number, item, value, started)


class Fans:
    """Fan-out records by join and round, of which those lately used are kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._fans: OrderedDict[Key, OpenFan] = OrderedDict()
        self._children: OrderedDict[Key, Mapping[str, Any]] = OrderedDict()

    async def find(self, run: Run, parent_path: str, round_: int) -> OpenFan:
        """The fan-out record of a join; it does not change within a round."""
        key = (run.workflow_id, run.incarnation, parent_path, round_)
        found = self._fans.get(key)
        if found is None:
            found = self._fans[key] = await self._read(run, parent_path)
            if len(self._fans) > _KEPT:
                self._fans.popitem(last=False)
        return found

    async def around(self, run: Run, path: str, round_: int) -> Mapping[str, Any]:
        """The context of the frame that ``path`` stands in, without ``State``."""
        if "[" not in path:
            return run.execution
        parent, number = enclosing_joins(path)[-1]
        fan = await self.find(run, parent, round_)
        if not is_distributed(fan.state):
            return fan.child_context(number, None, 0)
        frame = f"{parent}[{number}]"
        found = self._children.get((run.workflow_id, run.incarnation, frame, round_))
        if found is None:
            found = await self._child(run, fan, frame, number)
            self.remember(run, frame, round_, found)
        return found

    def remember(self, run: Run, frame: str, round_: int, around: Mapping[str, Any]) -> None:
        """Keep the context of an iteration of a distributed Map for its states."""
        self._children[run.workflow_id, run.incarnation, frame, round_] = around
        if len(self._children) > _KEPT:
            self._children.popitem(last=False)

    async def variables(self, run: Run, lease: Lease) -> Mapping[str, JSON]:
        """Everything that the state of ``lease`` sees: what its own frame assigned, over what was
        visible at the join above."""
        if not run.uses_variables or "[" not in lease.path:
            return lease.variables
        parent, _ = enclosing_joins(lease.path)[-1]
        outer = (await self.find(run, parent, lease.round)).variables
        return {**outer, **lease.variables} if lease.variables else outer

    async def _child(
        self, run: Run, fan: OpenFan, frame_path: str, number: int
    ) -> Mapping[str, Any]:
        """The context of an iteration of a distributed Map; its ticket keeps its input."""
        ticket = (await self._store.states(run.workflow_id, [frame_path]))[frame_path]
        value = await self._store.value(run.workflow_id, ticket.raw.get("effective_input"))
        return fan.child_context(number, value, ticket.times.get("entered") or 0)

    async def _read(self, run: Run, parent_path: str) -> OpenFan:
        document = (await self._store.states(run.workflow_id, [parent_path]))[parent_path]
        shared = await self._store.value(run.workflow_id, document.fan)
        state = run.machine.locate(list(split_path(parent_path)))
        variables: dict[str, JSON] = shared.get("variables", {})
        around: Mapping[str, Any] = {}
        context: dict[str, Any] = {}
        if run.uses_context:
            around = await self.around(run, parent_path, document.round)
            entered_at = document.times.get("entered") or 0
            context = state_context(around, state, entered_at=entered_at, retries=document.retries)
        raw = await self._store.value(run.workflow_id, document.input)
        return OpenFan(
            state=state,
            visit=asl.Visit(raw, context, variables, document.retries),
            around=around,
            # Each iteration of a distributed Map counts as an execution of its own.
            variables={} if is_distributed(state) else variables,
            outer_round=document.round,
            items=shared.get("items"),
            input=shared.get("input"),
        )


def is_distributed(state: asl.State) -> bool:
    """Whether the children of ``state`` count as executions of their own."""
    return isinstance(state, asl.MapState) and state.is_distributed
