"""``dcf history``."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from control_plane import (
    AgentStore,
    Store,
    UnknownAgent,
    check_run,
    damage_is_told,
    history,
    read_agent_history,
)
from dcf.cli.answer import Answer
from dcf.cli.event_line import event_line
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run_files import file_meant, shelved
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.workflow import Moment, read_timeline, reading_file

_STYLES = {
    "LeaseExpired": "bold red",
    "LeaseRevoked": "bold red",
    "WorkerDied": "bold red",
    "StateFailed": "red",
    "ChildFailed": "red",
    "RetryScheduled": "yellow",
    "StateDone": "green",
    "RunEnded": "bold",
}


async def show_history(workflow_id: str, settings: Settings, screen: Screen) -> Answer:
    """The timeline of a run, or of the one in a file; its digests are checked on the way. Raises
    UnknownRun, BrokenRun, BadRunFile."""
    file = await file_meant(workflow_id, settings, screen)
    if file is not None:
        store, workflow_id = await shelved(file)
        with reading_file(workflow_id):
            return await _history(store, workflow_id)
    address = await find_redis(settings, screen)
    async with open_store(address) as store, damage_is_told(store, workflow_id):
        return await _history(store, workflow_id)


async def _history(store: Store, workflow_id: str) -> Answer:
    run = await store.run(workflow_id)
    timeline = await read_timeline(history.read_whole(store, workflow_id))
    if not timeline.moments:
        # Nothing tells that there should be any, if what they end with is gone, too.
        await check_run(store, workflow_id)
    # Gone by now, it may have gone while it was read.
    await store.run_status(workflow_id)
    fields = {
        "workflow_id": workflow_id,
        "run_status": run.status,
        "events": [moment.to_json() for moment in timeline.moments],
    }
    return Answer(fields, [timeline_table(timeline.moments, f"History of {workflow_id}")])


async def show_agent_history(agent_id: str, settings: Settings, screen: Screen) -> Answer:
    """What an agent did outside runs, and what was decided on its calls. Raises UnknownAgent and
    CorruptHistory."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        agents = AgentStore(store.backend)
        known = await agents.get(agent_id, ()) is not None
        timeline = await read_timeline(read_agent_history(agents, agent_id))
    if not known and not timeline.moments:
        raise UnknownAgent(agent=agent_id)
    events = [moment.to_json() for moment in timeline.moments]
    title = f"History of agent {agent_id}"
    # The newest are kept: the first of them need not be its beginning.
    return Answer(
        {"agent_id": agent_id, "events": events}, [timeline_table(timeline.moments, title)]
    )


def timeline_table(moments: Iterable[Moment], title: str) -> Table:
    """The moments as a table."""
    table = Table(title=title, title_justify="left")
    table.add_column("time", justify="right", no_wrap=True)
    for heading in ("event", "state", "who", "details"):
        table.add_column(heading, overflow="fold")
    for moment in moments:
        table.add_row(
            f"{moment.offset_s:.3f} s",
            Text(moment.type, _STYLES.get(moment.type, "")),
            Text(moment.path),
            Text(moment.who),
            Text(event_line(moment.type, moment.details), "dim"),
        )
    return table
