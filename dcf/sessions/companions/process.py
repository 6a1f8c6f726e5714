"""A companion host as a process."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

from control_plane import insist, load_exports
from dcf.agents import meanwhile
from dcf.memory import project_of_runs
from dcf.sessions.companions.agents import CompanionAgents
from dcf.sessions.companions.delegation_observer import DelegationObserver
from dcf.sessions.companions.ended_sessions import EndedSessions
from dcf.sessions.companions.host import CompanionHost, HostConfig
from dcf.sessions.companions.inboxes import Inboxes
from dcf.sessions.companions.orphans import cleanup_orphaned_companions
from dcf.sessions.companions.roster import Roster
from dcf.sessions.sessions import Sessions
from dcf.worker import (
    Performer,
    Post,
    Worker,
    extraction_of,
    open_premises,
    open_queue,
    until_told,
)
from dcf.workflow import refuse_earlier_runs


async def serve_companions(post: Post, config: HostConfig, *, on_ready: Callable[[], None]) -> bool:
    """Serve companions until SIGTERM or SIGINT; True after an orderly end, False when a second
    signal cut it short (leases and seats that were held then end by themselves).

    ``on_ready`` is called when seats can be taken. Raises as ``dcf.worker.serve``, and BadName and
    UnknownSession for a session to be served that there is not.
    """
    load_exports("dcf.sessions", "dcf.sessions.companions")
    async with AsyncExitStack() as stack:
        there = await open_premises(post, stack)
        sessions = Sessions(there.store)
        if config.session_id is not None:
            session_id = config.session_id
            # What is refused now is waited for below too.
            await insist(lambda: sessions.get(session_id), math.inf)
        roster = Roster(sessions)
        inboxes = Inboxes(partial(open_queue, post, stack), consumer=post.name)
        stack.push_async_callback(inboxes.close)
        agents = None
        if there.plain is not None:
            agents = CompanionAgents(
                sessions,
                roster,
                there.plain,
                runtime=there.runtime,
                records=there.records,
                own=post.templates,
            )
        settling: set[asyncio.Task[None]] = set()

        observer = None
        if there.memory is not None:
            project = project_of_runs(post.generated)
            ended_sessions = EndedSessions(sessions, there.memory, project)
            observer = DelegationObserver(
                sessions, there.store, there.memory, project, besides=(ended_sessions.sweep,)
            )
            await stack.enter_async_context(meanwhile(observer.run()))
            extraction = extraction_of(post.env, there.store, there.memory, project)
            if extraction is not None:
                await stack.enter_async_context(meanwhile(extraction.run()))

        async def ended(workflow_id: str) -> None:
            await roster.ended(workflow_id)
            if observer is not None:
                observer.end(workflow_id)

        def sealed(workflow_id: str) -> None:
            task = asyncio.create_task(ended(workflow_id))
            settling.add(task)
            task.add_done_callback(settling.discard)

        worker = Worker(
            post.name,
            there.store,
            inboxes,
            there.keeper,
            there.choreographer,
            Performer(post.handlers, there.tasks(post.env, agents), notes_of=there.notes_of()),
            now=time.monotonic,
            config=replace(post.config, concurrency=config.most),
            on_sealed=sealed,
            turn=roster.turn,
        )
        clean_up = partial(
            cleanup_orphaned_companions,
            sessions,
            there.runtime,
            there.records,
            session_id=config.session_id,
            dry_run=False,
        )
        host = CompanionHost(
            sessions, roster, inboxes, agents, worker, config=config, clean_up=clean_up
        )
        await refuse_earlier_runs(there.store)
        orderly = await until_told(host, on_ready, attached=post.attached)
        await asyncio.gather(*settling)
        if observer is not None:
            await observer.at_last()
    return orderly
