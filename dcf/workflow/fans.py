"""What the children of an open join share: items, variables, and what is around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from control_plane import JSON, Lease, Store, UnknownState, enclosing_joins, split_path
from dcf import asl
from dcf.asl import size
from dcf.workflow.identity import FAN_RUN, identity_of, is_distributed
from dcf.workflow.kept import Kept
from dcf.workflow.run import Run, iso, state_context

_KEPT = 256
_KEPT_BYTES = 32 * 1024 * 1024  # of JSON: in memory it is several times as much


@dataclass(frozen=True, slots=True)
class OpenFan:
    """What the frames of one open join share; ``outer_round`` is the round of the join itself.

    ``around`` is the context of the frame that the Map or Parallel stands in, ``visit`` its own
    visit, whose variables are all that were visible there; ``variables`` are those that its
    children see. ``keyed``: each of ``items`` is a member of an object, {Key, Value}.
    """

    state: asl.State
    visit: asl.Visit
    around: Mapping[str, Any]
    variables: Mapping[str, JSON]
    outer_round: int
    items: list[JSON] | None
    input: JSON
    keyed: bool

    def child_context(self, number: int, value: JSON, started_at: int) -> Mapping[str, Any]:
        """The context of child ``number``, which starts with ``value``."""
        if self.items is None:
            return self.around
        item = self.items[number]
        if not isinstance(self.state, asl.MapState) or not self.state.is_distributed:
            return asl.iteration_context(dict(self.around), number, item, keyed=self.keyed)
        map_run = asl.map_run(self.state, self.visit)
        started = iso(started_at)
        return asl.child_context(
            dict(self.around), map_run, number, item, value, started, keyed=self.keyed
        )


class Fans:
    """Fan-out records by join and round, of which those lately used are kept within bounds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._fans: Kept[OpenFan] = Kept(_KEPT, _KEPT_BYTES)
        self._children: Kept[Mapping[str, Any]] = Kept(_KEPT, _KEPT_BYTES)

    async def find(self, run: Run, parent_path: str, round_: int) -> OpenFan:
        """The fan-out record of a join; it does not change within a round."""
        key = (run.workflow_id, run.incarnation, parent_path, round_)
        found = self._fans.get(key)
        if found is None:
            found, bytes_ = await self._read(run, parent_path)
            self._fans.put(key, found, bytes_)
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
        """Keep the context of an iteration of a distributed Map for its states: only one that was
        committed, for others may have opened it with another input."""
        own = around["Execution"]["Input"], around["Map"]
        self._children.put((run.workflow_id, run.incarnation, frame, round_), around, size(own))

    def forget(self, workflow_id: str) -> None:
        """The run is over."""
        self._fans.forget(workflow_id)
        self._children.forget(workflow_id)

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
        ticket = await self._store.state(run.workflow_id, frame_path)
        value = await self._store.value(run.workflow_id, ticket.raw.get("effective_input"))
        return fan.child_context(number, value, ticket.times.get("entered") or 0)

    async def _read(self, run: Run, parent_path: str) -> tuple[OpenFan, int]:
        """A fan-out record, and about how many bytes it has."""
        document = await self._store.state(run.workflow_id, parent_path)
        if document.fan is None:  # a fail-over took it back to before it fanned out
            raise UnknownState(workflow_id=run.workflow_id, path=f"the frames of {parent_path}")
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
        identity = shared.get(FAN_RUN) or identity_of(
            run, parent_path, document.visit, document.retries
        )
        fan = OpenFan(
            state=state,
            visit=asl.Visit(raw, context, variables, document.retries, None, identity),
            around=around,
            # Each iteration of a distributed Map counts as an execution of its own.
            variables={} if is_distributed(state) else variables,
            outer_round=document.round,
            items=shared.get("items"),
            input=shared.get("input"),
            keyed=shared.get("keyed", False),
        )
        return fan, size(shared) + size(raw)
