"""``dcf memory forget --about``: runs that are over go, others and sessions are named."""

from __future__ import annotations

import json

from dcf_user import Dcf
from redis.asyncio import Redis

from control_plane import Outbox, RedisBackend, Store
from dcf.cli.memory.forget_remains import remaining_in
from dcf.memory import Subject

SAYS = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
WAIT = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 600, "End": True}}}
NO_GRAPH = {"DCF_GRAPH": "off"}


def test_runs_that_name_it_go_and_others_stay(dcf: Dcf) -> None:
    says, wait = dcf.write("pass.json", SAYS), dcf.write("wait.json", WAIT)
    inputs = {"named": {"for": "Ann Miller"}, "plain": {"for": "Bob"}}
    for name, given in inputs.items():
        file = dcf.write(f"{name}.json", given)
        assert dcf("run", says, "--id", name, "--input", file).code == 0
    assert dcf("submit", wait, "--id", "waits").code == 0
    for name, objective in (("desk", "Help Ann Miller"), ("shop", "Help Bob")):
        assert dcf("session", "start", name, "--objective", objective).code == 0
    assert dcf("memory", "init", "ada").code == 0
    about = ["memory", "forget", "--about", "ann miller"]
    looked = dcf(*about, "--dry-run", "--json", env=NO_GRAPH).json
    assert [one["ref"] for one in looked["found"]["runs"]] == ["named"]
    # Its outcome waits for the graph: it stays, and no receipt says that it went.
    kept = dcf(*about, "--yes", "--json").json["receipt"]
    assert kept["counts"] == {} and "run named" in {one["where"] for one in kept["unreached"]}
    done = dcf(*about, "--yes", "--json", env=NO_GRAPH)
    assert done.code == 0, done.err
    assert done.json["receipt"]["counts"] == {"runs: run": 1}
    missed = {one["where"]: one["why"] for one in done.json["receipt"]["unreached"]}
    assert missed["runs"] == "runs that are not over are not looked through"
    assert "session desk" in missed and "session shop" not in missed
    assert {"files of Redis", "audit trails of runs"} <= missed.keys()
    again = dcf("memory", "receipts", done.json["receipt"]["id"], "--about", "ann miller", "--json")
    assert again.code == 1
    assert [one["message"].partition(":")[0] for one in again.json["problems"]] == ["session desk"]
    left = {one["workflow_id"] for one in dcf("runs", "--json").json["runs"]}
    assert left == {"plain", "waits"}
    assert "Miller" not in json.dumps(dcf(*about, "--dry-run", "--json", env=NO_GRAPH).json)


async def test_what_waits_for_the_graph_is_named(redis_url: str, redis_client: Redis) -> None:
    backend = RedisBackend.from_url(redis_url)
    outbox = Outbox(backend, consumer="ada")
    await outbox.open()
    for name in ("Ann Miller", "Bob"):
        await outbox.put("text", name[:3], {"content": f"{name} rang"})
    named = [
        missed
        for one in remaining_in(Store(backend))
        for missed in await one.naming(Subject.of("ann miller"))
    ]
    [(entry, _), _] = await redis_client.xrange("cp:{outbox}:records")
    (missed,) = named
    assert missed.where == "outbox of the graph"
    assert missed.why == "named in 1 entry of cp:{outbox}:records in Redis"
    assert missed.hint.endswith(f"XDEL cp:{{outbox}}:records {entry}")
    await outbox.read(10)
    for one in await outbox.claim(10, idle_ms=0):
        await outbox.refuse(one, "too long")
    (missed,) = await remaining_in(Store(backend))[-1].naming(Subject.of("ann miller"))
    assert "cp:{outbox}:refused" in missed.why
    await backend.close()
