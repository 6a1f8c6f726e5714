"""A session with a conductor by rule, on a control plane whose clock the test moves, and hands that
do what companions are to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contract.worlds import World

from control_plane import (
    Committed,
    Lease,
    Noted,
    ToolCall,
    claims,
    keys,
    read_record_history,
)
from dcf.sessions import SEAT_MS, Session, Sessions, SessionTask, inbox_of, seat_of, settle
from dcf.sessions.conductor import Conductor, ConductorRules, Reply
from dcf.sessions.guidance import Guidance
from dcf.workflow import External, Failed, Outcome, RunCache, Succeeded

ME, ID = "conductor-1", "s1"
PASS = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
FAIL = {
    "StartAt": "F",
    "States": {"F": {"Type": "Fail", "Error": "NoStock", "Cause": "it is empty"}},
}


class Stage:
    """One process: a conductor, and those whom it conducts."""

    def __init__(self, world: World, sessions: Sessions | None = None, **more: Any) -> None:
        self.world = world
        self.sessions = sessions or Sessions(world.store())
        self.guidance = Guidance(self.sessions)
        self.found: dict[str, Sequence[tuple[str, float]]] = {}
        self.leases: dict[str, Lease] = {}
        self.flows: dict[str, Mapping[str, Any]] = {"stock": PASS}
        self.conductor = self.conduct(**more)
        self.external = External(self.sessions.store, RunCache(self.sessions.store))

    def conduct(self, by: str = ME, **more: Any) -> Conductor:
        """Another conductor, as another process would have it."""
        return Conductor(self.sessions, self.guidance, by, **{"workflows": self.workflow, **more})

    async def discover(self, text: str, limit: int) -> Sequence[tuple[str, float]]:
        """What ``found`` has for the text, or for its first word."""
        return self.found.get(text, self.found.get(text.split()[0], []))[:limit]

    async def workflow(self, name: str) -> Mapping[str, Any]:
        return self.flows[name]

    async def begin(self, **fields: Any) -> None:
        await self.sessions.create(ID, ME, "help people", **fields)

    async def say(self, text: str, request_id: str | None = None) -> Reply:
        """A turn; whoever it made is served at once."""
        reply = await self.conductor.turn(ID, text, request_id=request_id)
        await self.sit()
        return reply

    async def attend(self) -> list[Reply]:
        replies = await self.conductor.attend(ID)
        await self.sit()
        return replies

    async def sit(self) -> None:
        """All companions are served from now on, for as long as a seat lasts."""
        for one in (await self.session()).companions:
            until = self.world.now_ms + SEAT_MS
            await claims.put(self.world.backend, keys.COMPANIONS, seat_of(ID, one), until)
            await self.sessions.take_seat(ID, one)

    async def session(self) -> Session:
        return await self.sessions.get(ID)

    async def task(self, task_id: str) -> SessionTask:
        return await self.sessions.task(ID, task_id)

    async def call(self, task_id: str, tool: str, *, verdict: str = "allow", **about: Any) -> None:
        """Whoever has the task puts a decision on a call of ``tool`` on record, as workers do, and
        keeps the task, to be done with ``do``."""
        task = await self.task(task_id)
        store = self.sessions.store_of(inbox_of(ID, task.companion_id or ""))
        lease = await store.acquire(task_id, task.state, owner=task.companion_id or "")
        assert isinstance(lease, Lease), lease
        event = {"type": "ToolDecision", "tool": tool, "verdict": verdict, "arguments": "d"}
        to_make = ToolCall("d") if verdict == "allow" else None
        noted = await store.note(lease, {**event, **about}, event, to_make=to_make)
        assert isinstance(noted, Noted), noted
        self.leases[task_id] = lease

    async def do(self, task_id: str, outcome: Outcome | None = None) -> SessionTask:
        """Whoever has the task does it."""
        task = await self.task(task_id)
        if task.kind == "workflow":
            await self.external.nudge(task_id, owner="worker")
            await self.sessions.tick(ID)
            return await self.task(task_id)
        assert task.companion_id is not None, task
        store = self.sessions.store_of(inbox_of(ID, task.companion_id))
        lease: Any = self.leases.pop(task_id, None)
        lease = lease or await store.acquire(task_id, task.state, owner=task.companion_id)
        assert isinstance(lease, Lease), lease
        outcome = outcome or Succeeded({"n": 1}, f"did {task.description}")
        done = await self.external.finish(task_id, lease.path, lease.token, outcome)
        assert isinstance(done, Committed), done
        await settle(self.sessions, ID, task_id)
        return await self.task(task_id)

    async def fail(self, task_id: str, code: str = "no_access") -> SessionTask:
        return await self.do(task_id, Failed(code, "the door is locked"))

    async def events(self, *types: str) -> list[dict[str, Any]]:
        found = [one.event async for one in read_record_history(self.sessions.records, ID)]
        return [event for event in found if event["type"] in types]


def rules(**members: Any) -> ConductorRules:
    """The rules that come with DCF, with these members of a file laid over them."""
    return ConductorRules.from_document(members)


def fired(*replies: Reply) -> list[str]:
    """The names of the rules that fired, in order."""
    return [one.rule for reply in replies for one in reply.fired]
