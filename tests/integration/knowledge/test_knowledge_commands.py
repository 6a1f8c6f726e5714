"""What commands say of the graph, without a process for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from integration.knowledge.world import Agents, bound, play_runs
from integration.worker.crew import crew_on
from unit.workflow.stage import document_of, flow, passing

from control_plane import Outbox, keys
from dcf.cli.graph.access import open_graph
from dcf.cli.graph.doctor import graph_checks
from dcf.cli.graph.sync import sync_graph
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, explain_error
from dcf.knowledge import GraphConnection
from dcf.knowledge.cypher import query
from dcf.workflow import finalize, submit

SCREEN = Screen(as_json=True)


def settings_of(home: Path, **env: str) -> Settings:
    return Settings.from_env({"DCF_HOME": str(home), **env})


async def test_a_sync_writes_what_waits_and_all_again_when_asked(
    redis_url: str, graph_url: str, short_dir: Path
) -> None:
    settings = settings_of(short_dir, DCF_REDIS_URL=redis_url, DCF_GRAPH_URL=graph_url)
    async with crew_on(redis_url, outbox=True) as crew:
        crew.worker(agents=Agents())
        await play_runs(crew, 2)
        waiting = {check.name: check for check in await graph_checks(settings)}
        assert waiting["graph server"].ok
        assert waiting["graph outbox"].found.startswith("2 runs and 0 records wait, the oldest")
    first = await sync_graph(settings, SCREEN, everything=False)
    assert first.fields["written"] == {"runs": 2, "outcomes": 3, "records": 0, "refused": 0}
    again = await sync_graph(settings, SCREEN, everything=False)
    assert again.fields["written"]["runs"] == 0
    everything = await sync_graph(settings, SCREEN, everything=True)
    assert everything.fields["written"]["runs"] == 2
    async with open_graph(settings, SCREEN) as (knowledge, done):
        assert done.runs == 0
        assert len([run async for run in knowledge.runs()]) == 2


async def test_a_sync_of_all_adds_to_outcomes_that_are_there_why_skills_were_chosen(
    redis_url: str, graph_url: str, short_dir: Path
) -> None:
    settings = settings_of(short_dir, DCF_REDIS_URL=redis_url, DCF_GRAPH_URL=graph_url)
    document = document_of(flow(Pay=bound("orders.pay"), Z=passing()))
    plan = {"steps": [{"states": ["Pay"], "why": "the newest version"}]}
    planned = replace(document, raw={**document.raw, "plan": plan})
    async with crew_on(redis_url, outbox=True) as crew:
        crew.worker(agents=Agents())
        for run in ("old", "lost"):
            await submit(crew.store, planned, 0, workflow_id=run)
            await crew.end(run)
            await finalize(crew.store, run, by="test")
    await sync_graph(settings, SCREEN, everything=False)
    # As they were when outcomes did not keep it: one without it, and one that is gone.
    outcome = "MATCH (e:StateOutcome {workflow_id: $run}) "
    chosen = "MATCH (e:StateOutcome) RETURN e.workflow_id, e.chosen"
    async with GraphConnection(graph_url) as graph:
        forgets = query(outcome + "SET e.chosen = null", run="old")
        loses = query(outcome + "DETACH DELETE e", run="lost")
        await graph.write([forgets, loses])
        assert await graph.read(chosen) == [["old", None]]

    again = await sync_graph(settings, SCREEN, everything=True)

    assert again.fields["written"]["runs"] == 2
    async with GraphConnection(graph_url) as graph:
        rows = await graph.read(chosen)
    assert sorted(rows) == [["lost", "the newest version"], ["old", "the newest version"]]


async def test_runs_that_ended_without_a_graph_are_written_when_all_are(
    redis_url: str, graph_url: str, short_dir: Path
) -> None:
    settings = settings_of(short_dir, DCF_REDIS_URL=redis_url, DCF_GRAPH_URL=graph_url)
    async with crew_on(redis_url) as crew:
        crew.worker(agents=Agents())
        await play_runs(crew, 2)
        assert (await Outbox(crew.store.backend).lag()).waiting == 0
    answer = await sync_graph(settings, SCREEN, everything=True)
    assert answer.fields["written"]["runs"] == 2


async def test_what_was_put_aside_is_a_finding(redis_url: str, short_dir: Path) -> None:
    settings = settings_of(short_dir, DCF_REDIS_URL=redis_url)
    async with crew_on(redis_url) as crew:
        await crew.store.backend.command(
            "XADD", keys.OUTBOX_REFUSED, "*", "kind", "run", "id", "r", "reason", "no", "data", "0"
        )
    checks = {check.name: check for check in await graph_checks(settings)}
    assert (checks["graph outbox"].ok, checks["graph outbox"].required) == (False, False)
    assert "not running: starts when needed" in checks["graph server"].found


async def test_a_graph_that_is_switched_off_is_left_alone(short_dir: Path) -> None:
    settings = settings_of(short_dir, DCF_GRAPH="off")
    with pytest.raises(Exception, match="switched off") as caught:
        await sync_graph(settings, SCREEN, everything=False)
    trouble = explain_error(caught.value)
    assert trouble is not None
    assert (trouble.exit_code, trouble.code) == (1, "graph_off")
    (check,) = await graph_checks(settings)
    assert "switched off" in check.found
    assert list(short_dir.iterdir()) == []


async def test_a_graph_that_is_away_is_told_without_its_password(short_dir: Path) -> None:
    url = f"unix://:pa55word@{short_dir}/nobody.sock"
    settings = settings_of(short_dir, DCF_GRAPH_URL=url, DCF_REDIS_URL="redis://127.0.0.1:1/0")
    with pytest.raises(Exception, match="does not answer") as caught:
        await sync_graph(settings, SCREEN, everything=False)
    trouble = explain_error(caught.value)
    assert trouble is not None
    assert (trouble.exit_code, trouble.code) == (3, "graph_away")
    found = [check.found for check in await graph_checks(settings)]
    assert "pa55word" not in f"{trouble} {found}"


def test_a_setting_that_is_none_is_told_before_anything_starts(short_dir: Path) -> None:
    with pytest.raises(BadInput, match="one of on, demand, off"):
        settings_of(short_dir, DCF_GRAPH="perhaps")
