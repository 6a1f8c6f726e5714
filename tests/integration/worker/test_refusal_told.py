"""A Redis that refuses is told by `dcf health`, `dcf doctor` and `dcf explain`, with its reason
and, where a worker saw it begin, since when."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import crew_on
from refusing_server import RefusingServer
from rich.table import Table
from unit.workflow.stage import document_of, flow, task

from control_plane import (
    Commit,
    Lease,
    RedisBackend,
    Refused,
    Store,
    Wait,
    claims,
    keys,
    refused_now,
)
from control_plane.embedded import ServerUnsuitable, check_server
from dcf.cli.doctor import examine
from dcf.cli.explain import explain_run
from dcf.cli.health import worker_health
from dcf.cli.health_overview import overview
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.workflow import submit


async def _refused(url: str) -> Refused | None:
    backend = RedisBackend.from_url(url, connections=1)
    try:
        return await refused_now(backend)
    finally:
        await backend.close()


async def _until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not there():
            await asyncio.sleep(0.01)


def _age(redis: RefusingServer, seconds: int) -> None:
    """The last write was accepted ``seconds`` ago, and who was there then is there since."""
    then = int(redis.admin.time()[0]) - seconds
    redis.admin.set(keys.ACCEPTED, then * 1_000)


@pytest.mark.parametrize("code", ["OOM", "NOREPLICAS", "READONLY", "MISCONF", "BUSY"])
async def test_the_reason_is_found_by_a_write_that_changes_nothing(
    redis: RefusingServer, code: str
) -> None:
    assert await _refused(redis.url) is None
    with redis.refusing[code]():
        found = await _refused(redis.url)
    assert found is not None and found.refusal == code
    assert found.sentence == f"Redis refuses {found.scope}: {found.reason}"
    assert found.hint
    assert redis.admin.keys("*") == []


def _clients(redis: RefusingServer) -> str:
    return str(redis.admin.client_list())


@pytest.mark.parametrize("code", ["OOM", "NOREPLICAS"])
async def test_since_when_is_known_while_a_worker_is_there_that_saw_it_begin(
    redis: RefusingServer, code: str
) -> None:
    async with crew_on(redis.url) as crew:
        crew.worker()
        await _until(lambda: redis.admin.exists(keys.ACCEPTED) == 1)
        # It is known by how it reads hints, which it may begin after its first write.
        await _until(lambda: "xreadgroup" in _clients(redis))
        _age(redis, 0)
        accepted = int(redis.admin.get(keys.ACCEPTED))
        with redis.refusing[code]():
            await _until(lambda: int(redis.admin.time()[0]) * 1_000 >= accepted + 1_000)
            found = await _refused(redis.url)
        assert found is not None and found.for_s is not None
        assert 0 < found.for_s < 20
        assert re.fullmatch(r"Redis refuses writes since \d+ s: .+", found.sentence)


async def test_nobody_knows_since_when_once_the_workers_are_dead(redis: RefusingServer) -> None:
    _age(redis, 60)
    with redis.refusing["OOM"]():
        found = await _refused(redis.url)
    assert found is not None and found.for_s is None


async def test_a_worker_that_came_later_knows_not_since_when(redis: RefusingServer) -> None:
    _age(redis, 60)
    async with crew_on(redis.url) as crew:
        with redis.refusing["OOM"]():
            crew.worker()
            await _until(lambda: "xgroup|create" in _clients(redis))
            found = await _refused(redis.url)
        assert found is not None and found.for_s is None


async def test_a_claim_notes_once_a_second_that_writes_are_taken(redis: RefusingServer) -> None:
    backend = RedisBackend.from_url(redis.url)
    try:
        await claims.claim(backend, keys.SESSIONS_DUE, 1)
        assert redis.admin.exists(keys.ACCEPTED) == 0
        await claims.claim(backend, keys.INDEX, 1)
        first = redis.admin.get(keys.ACCEPTED)
        await claims.claim(backend, keys.INDEX, 1)
        assert redis.admin.get(keys.ACCEPTED) == first
        _age(redis, 1)
        await claims.claim(backend, keys.INDEX, 1)
        assert int(redis.admin.get(keys.ACCEPTED)) >= int(first)
    finally:
        await backend.close()


async def test_health_doctor_and_explain_say_it(redis: RefusingServer, tmp_path: Path) -> None:
    env = {"DCF_HOME": str(tmp_path), "DCF_REDIS_URL": redis.url, "DCF_GRAPH": "off"}
    settings = Settings.from_env(env)
    backend = RedisBackend.from_url(redis.url)
    await submit(Store(backend), document_of(flow(A=task())), 7, workflow_id="r")
    await backend.close()

    def told(answer: Any) -> dict[str, Any]:
        found: dict[str, Any] = answer.fields["refused"]
        return found

    explained = await explain_run("r", settings, Screen(as_json=True))
    assert told(explained) is None
    with redis.refusing["OOM"]():
        health = await overview(settings, "default", 1, 15)
        doctor = await examine(settings)
        explained = await explain_run("r", settings, Screen(as_json=True))
    parts = {part["name"]: part for part in health.fields["parts"]}
    assert (health.exit_code, doctor.exit_code, explained.exit_code) == (1, 3, 0)
    for found in (parts["redis"]["refused"], told(doctor), told(explained)):
        assert (found["refusal"], found["reason"]) == ("OOM", "out of memory")
        assert found["message"] == "Redis refuses writes: out of memory"
    assert parts["redis"]["found"] == "Redis refuses writes: out of memory"
    assert parts["workers"]["status"] == "unknown"
    assert "can give no sign of life" in parts["workers"]["found"]
    checks = {check["name"]: check for check in doctor.fields["checks"]}
    assert "maxmemory" in checks["redis writes"]["hint"]
    assert "out of memory; the run waits" in " ".join(map(str, explained.show))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("ready", "; it waits until Redis takes writes"),
        ("running", "lease ended .* ago, and it waits until Redis takes writes"),
        ("waiting", r"waits for its time \(.*\); not before Redis takes writes"),
    ],
)
async def test_what_explain_says_agrees_with_the_refusal(
    redis: RefusingServer, tmp_path: Path, status: str, said: str
) -> None:
    """A worker that was about to come can give no sign of life, and nobody sweeps."""
    settings = Settings.from_env({"DCF_HOME": str(tmp_path), "DCF_REDIS_URL": redis.url})
    backend = RedisBackend.from_url(redis.url)
    store = Store(backend)
    await submit(store, document_of(flow(A=task())), 7, workflow_id="r")
    if status != "ready":
        lease = await store.acquire("r", "A", owner="w")
        assert isinstance(lease, Lease)
    if status == "running":
        key = store.keys("r").state("A")
        redis.admin.execute_command("JSON.SET", key, "$.ctl.lease.ends", "1")
    if status == "waiting":
        wait = Commit("wait", {"type": "StateEntered"}, wait=Wait("timer", delay_ms=3_600_000))
        await store.commit(lease, wait, commit_id="c")
    async with crew_on(redis.url) as crew:
        with redis.refusing["OOM"]():
            crew.worker()
            await _until(lambda: "xgroup|create" in _clients(redis))
            explained = await explain_run("r", settings, Screen(as_json=True))
    await backend.close()
    [reason] = explained.fields["reasons"]
    assert reason["status"] == status
    assert re.search(said, reason["why"]), reason["why"]
    assert (explained.fields["workers"], reason["command"]) == (None, None)
    table = explained.show[-1]
    assert isinstance(table, Table) and "cannot be known" in str(table.title)


async def test_a_worker_that_cannot_say_that_it_lives_is_not_called_dead(
    redis: RefusingServer, tmp_path: Path
) -> None:
    settings = Settings.from_env({"DCF_HOME": str(tmp_path), "DCF_REDIS_URL": redis.url})
    async with crew_on(redis.url) as crew:
        crew.worker(name="w1")
        await _until(lambda: "xreadgroup" in _clients(redis))
        with redis.refusing["NOREPLICAS"](), pytest.raises(NotSo, match="Redis refuses writes"):
            await worker_health(settings, "w1", "default", -1)


async def test_a_busy_server_is_no_wrong_password(redis: RefusingServer) -> None:
    with (
        redis.refusing["BUSY"](),
        pytest.raises(ServerUnsuitable, match="refuses commands: it runs a script") as refused,
    ):
        await check_server(redis.url)
    assert refused.value.code == "server_busy"
