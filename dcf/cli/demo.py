"""``dcf demo``: an order, two workers, one accident, and the proof that nothing was done twice."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from control_plane import Store, history
from control_plane.embedded import Embedded
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import Crew
from dcf.cli.effects import Effect, all_once, effects_of
from dcf.cli.exits import FAILED, INTERRUPTED
from dcf.cli.follow import follow
from dcf.cli.history import timeline_table
from dcf.cli.outcome import finish
from dcf.cli.preparation import Prepared, prepare
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run import start_run
from dcf.cli.saboteur import Saboteur
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.workflow import Moment, read_timeline
from dcf_agents.shipped import shipped

_LEASE_S = 2.0
_PATIENCE_S = 60.0
_WORKERS = ("worker-A", "worker-B")
_WORKFLOW, _INPUT = "workflows/order-processing.json", "workflows/inputs/order-demo.json"
_NEXT = "dcf run workflows/support-ticket.json --input workflows/inputs/ticket-refund.json"


async def play(
    workflow: Path | None, given: Path | None, settings: Settings, screen: Screen
) -> Answer:
    """The whole demonstration; exit code 0 only if the result is right and done once. Without a
    ``workflow`` it is the one that comes with DCF, with the skills that do."""
    started = time.monotonic()
    if workflow is None:
        workflow, settings = shipped(_WORKFLOW), replace(settings, generated=shipped("generated"))
    given = given or shipped(_INPUT)
    demo = _own_settings(settings)
    stub = StubServer(demo, BackgroundFolder(demo.notes, demo.logs))
    prepared = prepare(workflow, str(given), None, demo, stub.url)
    try:
        async with _servers(demo, stub, screen) as (redis_url, store):
            crew = Crew(demo, redis_url=redis_url, lease_s=_LEASE_S)
            async with crew, asyncio.timeout(_PATIENCE_S):
                answer = await _act(prepared, store, crew, stub.url, screen)
    except asyncio.CancelledError:
        note = ErrorNote("interrupted", "interrupted; the demo's processes are stopped")
        return Answer(status="interrupted", error=note, exit_code=INTERRUPTED)
    except TimeoutError:
        hint = f"the logs are in {demo.logs}; `dcf doctor` looks at this machine"
        note = ErrorNote("demo_too_slow", f"not over after {_PATIENCE_S:g} s", hint)
        return Answer(status="error", error=note, exit_code=FAILED)
    seconds = time.monotonic() - started
    show = [*answer.show, Text(f"\n{seconds:.1f} s in all. Next:\n  {_next()}", "dim")]
    return replace(answer, fields={**answer.fields, "seconds": round(seconds, 1)}, show=show)


def _next() -> str:
    """A command for the folder that this is: the clone, or one without examples."""
    program = Path(sys.executable).with_name("dcf")
    dcf = str(program.relative_to(Path.cwd())) if program.is_relative_to(Path.cwd()) else "dcf"
    begin = "" if Path(_WORKFLOW).is_file() else f"{dcf} init --examples && "
    return f"{begin}{dcf}{_NEXT.removeprefix('dcf')}"


async def _act(
    prepared: Prepared, store: Store, crew: Crew, stub_url: str, screen: Screen
) -> Answer:
    """Run, strike, watch, check."""
    say = screen.say
    say(f"Two workers start: {' and '.join(_WORKERS)}. Each state they work on is leased for")
    say(f"{_LEASE_S:g} seconds, and the lease is renewed for as long as they live.")
    crew.hire(len(_WORKERS), _WORKERS)
    await start_run(store, prepared, screen)
    saboteur = Saboteur(crew, stub_url, screen, clock=time.time)
    await follow(store, prepared.workflow_id, screen, saboteur.tick)
    calls = await saboteur.calls()
    timeline = await read_timeline(history.read(store, prepared.workflow_id))
    saboteur.conclude(timeline.holders)
    answer = await finish(store, prepared.workflow_id, crew.home / "runs", crew.objects)
    moments = _of(timeline.moments, saboteur.state or "")
    return _judge(answer, prepared, saboteur, calls, moments)


def _judge(
    answer: Answer,
    prepared: Prepared,
    saboteur: Saboteur,
    calls: list[dict[str, Any]],
    moments: list[Moment],
) -> Answer:
    """What happened, what of it had an effect, and whether that is as it should be."""
    effects = effects_of(calls, f"{prepared.workflow_id}/")
    repeated = [effect for effect in effects if effect.replayed]
    faults = _faults(answer, prepared, saboteur, effects, repeated)
    fields = {
        **answer.fields,
        "killed": saboteur.victim,
        "taken_over_by": saboteur.heir,
        "state": saboteur.state,
        "effects": [effect.to_json() for effect in effects],
    }
    output = answer.fields.get("output")
    report = output.get("report") if isinstance(output, dict) else None
    show: list[Any] = []
    if moments:
        show.append(timeline_table(moments, f"What happened to {saboteur.state}"))
    show += [_ledger(effects, repeated), Text("")]
    show += [Text(str(report), "green"), *answer.show[1:]] if report else list(answer.show)
    if not faults:
        return replace(answer, fields=fields, show=show)
    error = answer.error or ErrorNote("demo_failed", "; ".join(faults), "this is a defect of DCF")
    return replace(answer, fields=fields, show=show, error=error, exit_code=FAILED)


def _faults(
    answer: Answer,
    prepared: Prepared,
    saboteur: Saboteur,
    effects: list[Effect],
    repeated: list[Effect],
) -> list[str]:
    """Everything that is not as the demonstration promises."""
    output = answer.fields.get("output")
    faults = []
    if answer.exit_code:
        faults.append(f"the run {answer.status}")
    elif not isinstance(output, dict) or output.get("order_id") != prepared.value.get("order_id"):
        faults.append("the output is about another order")
    if saboteur.victim is None:
        faults.append("no tool call was slow enough to kill a worker in it")
    elif not repeated:
        faults.append("the call that was cut off was not repeated")
    if not effects or not all_once(effects):
        faults.append("some tool call had no effect, or more than one")
    return faults


def _ledger(effects: list[Effect], repeated: list[Effect]) -> Text:
    """The tool server's own account, in words."""
    lines = [f"The tool server's ledger: {len(effects)} idempotency keys,"]
    lines.append(f"  {sum(effect.done for effect in effects)} effects.")
    text = Text(" ".join(line.strip() for line in lines) + "\n", "bold")
    for effect in repeated:
        text.append(f"  {effect.tool}  {effect.key}\n", "cyan")
        text.append(f"    {_times(effect.done + effect.replayed)} called, ")
        text.append(f"{_times(effect.done)} done, ", "bold")
        text.append(f"{_times(effect.replayed)} answered from the ledger\n")
    return text


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _of(moments: list[Moment], state: str) -> list[Moment]:
    """What led to ``state`` and what became of it."""
    return [one for one in moments if state and state in (one.path, one.details.get("next"))]


@asynccontextmanager
async def _servers(
    demo: Settings, stub: StubServer, screen: Screen
) -> AsyncIterator[tuple[str, Store]]:
    """Redis and the stub of the demo, ended after the block whatever happens."""
    try:
        screen.say(f"A Redis and a tool server of their own start in {demo.home}.")
        address = await find_redis(demo, screen)
        with screen.working("stub tool server …"):
            await stub.ensure()
        async with open_store(address) as store:
            yield address.url, store
    finally:
        await stub.stop()
        await Embedded.from_env(demo.env).stop()


def _own_settings(settings: Settings) -> Settings:
    """A home of the demo's own; its tool server takes the usual port, or one that is free."""
    home = Path.cwd() / ".dcf" / "demo"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:
        home = Path(tempfile.mkdtemp(prefix="dcf-demo-"))
    foreign = ("DCF_REDIS_URL", "DCF_STUB_URL", "DCF_MEMORY", "DCF_MEMORY_KEY", "DCF_RUNTIME")
    env = {key: value for key, value in settings.env.items() if key not in foreign}
    own = {"DCF_HOME": str(home), "DCF_GENERATED": str(settings.generated)}
    return Settings.from_env(env | own)
