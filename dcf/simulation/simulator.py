"""Simulate a seed: run its scenario, check every guarantee, report what was seen."""

from __future__ import annotations

import gc
import hashlib
import logging
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from control_plane import ControlPlaneError, RunKeys, Store, run_lists
from dcf.asl import AslError
from dcf.simulation.broken_walk import BrokenWalk
from dcf.simulation.end_check import check_end, check_server
from dcf.simulation.end_walk import EndWalk
from dcf.simulation.evidence import Evidence, gather
from dcf.simulation.fail_over import FailOver
from dcf.simulation.history_check import check_history
from dcf.simulation.ledger_check import check_ledger, check_turns
from dcf.simulation.memories import Shelf
from dcf.simulation.model import Model
from dcf.simulation.network import SureBackend, tokens_of
from dcf.simulation.oracle import check_result
from dcf.simulation.outside_walk import OutsideWalk
from dcf.simulation.record_walk import RecordWalk
from dcf.simulation.records import Records
from dcf.simulation.refinement import check_steps
from dcf.simulation.removal_check import check_removal
from dcf.simulation.removal_scene import RemovalScene
from dcf.simulation.scenario import make_scenario
from dcf.simulation.server import EXAMINER, POOL, Sabotage, Server
from dcf.simulation.session_scene import SessionScene
from dcf.simulation.simulation import Simulation
from dcf.simulation.stories import Stories
from dcf.simulation.strange_hand import StrangeHand
from dcf.simulation.tool_walk import ToolWalk
from dcf.simulation.verdict import Verdict, measure
from dcf.simulation.versions import Versions
from dcf.simulation.violation import Guarantee, Violation
from dcf.simulation.virtual_loop import Stuck, VirtualLoop, at_once, run_virtually
from dcf.simulation.walk import Walk
from dcf.simulation.weather import Weather
from dcf.simulation.witness import Witness

DEFAULT_STEPS = 2_000
# The share of seeds under which agents have a memory.
_REMEMBERING = 0.3
# Calls of the walks before a simulation, and stories.
_WALK, _TOOLS, _STORIES, _END, _OUTSIDE, _RECORDS, _BROKEN = 150, 24, 1, 30, 20, 30, 24
# Of so many seeds the walks of one are in a cluster.
_CLUSTERS = 4
# More than any script needs here: one that was broken may never end.
_MOST_INSTRUCTIONS = 5_000_000
Walks = Sequence[
    tuple[Walk | ToolWalk | Stories | EndWalk | OutsideWalk | RecordWalk | BrokenWalk, int]
]
"""Each with how many calls it takes."""
_CONTRADICTIONS = (LookupError, TypeError, ValueError, AttributeError, AslError)


def simulate(
    seed: int,
    *,
    steps: int = DEFAULT_STEPS,
    sabotage: Sabotage | None = None,
    until: Collection[Guarantee] = (),
) -> Verdict:
    """Run the simulation of ``seed``; faults happen during its first ``steps`` calls of the server.

    The same arguments give the same verdict, call by call. ``sabotage`` breaks scripts on purpose,
    for tests of the checks; they end ``until`` one of these guarantees is seen to be broken.
    """
    walks, server, witness = _walks(seed, sabotage)
    _go(walks, witness)
    scene = SessionScene(seed, steps, sabotage, until) if SessionScene.happens(seed) else None
    removal = RemovalScene(seed, steps, sabotage, until) if RemovalScene.happens(seed) else None
    with _workers_quiet(), _prepared(seed, steps, sabotage, until) as simulation:
        if witness.saw(until):
            return measure(simulation, seed, steps, [], witness.violations, "", server.trace)
        if scene is not None:
            scene.play()
            if any(seen.guarantee in until for seen in scene.violations):
                trace = scene.server.trace
                return measure(simulation, seed, steps, [], scene.violations, "", trace, scene)
        seen, walked = witness.violations, server.trace
        if removal is not None:
            removal.play()
            walked = walked if seen else removal.server.trace
            seen = [*seen, *removal.violations]
            if any(one.guarantee in until for one in removal.violations):
                return measure(simulation, seed, steps, [], seen, "", walked, scene)
        return _simulated(simulation, seed, steps, seen, walked, scene, removal)


def trace_lines(seed: int, *, steps: int = DEFAULT_STEPS) -> dict[str, set[int]]:
    """Which lines of the scripts (each with its preludes) run under ``seed``, by script."""
    walks, server, witness = _walks(seed, None)
    parts = [server.twin.trace_scripts()]
    _go(walks, witness)
    with _workers_quiet(), _prepared(seed, steps, None) as simulation:
        if SessionScene.happens(seed):
            scene = SessionScene(seed, steps, None, ())
            parts.append(scene.server.twin.trace_scripts())
            scene.play()
        if RemovalScene.happens(seed):
            removal = RemovalScene(seed, steps, None, ())
            parts.append(removal.server.twin.trace_scripts())
            removal.play()
        parts.append(simulation.server.twin.trace_scripts())
        _simulated(simulation, seed, steps, [], [], None)
    lines: dict[str, set[int]] = {}
    for part in parts:
        for name, ran in part.items():
            lines.setdefault(name, set()).update(ran)
    return lines


@contextmanager
def _workers_quiet() -> Iterator[None]:
    """Their warnings of faults that were made on purpose are no news."""
    loggers = [logging.getLogger(name) for name in ("dcf.worker", "dcf.sessions")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _simulated(
    simulation: Simulation,
    seed: int,
    steps: int,
    seen: list[Violation],
    walked: list[str],
    scene: SessionScene | None,
    removal: RemovalScene | None = None,
) -> Verdict:
    """``seen`` are the violations of what was walked or removed before, and ``walked`` its trace;
    ``scene`` and ``removal`` were played."""
    loop, witness = simulation.loop, simulation.witness

    def note_defect(_: Any, context: dict[str, Any]) -> None:
        witness.defect(f"{context['message']}: {context.get('exception')!r}")

    loop.set_exception_handler(note_defect)
    try:
        run_virtually(loop, simulation.run())
    except Stuck as stuck:
        witness.defect(str(stuck))
    # Tasks that ended with an error nobody asked for are reported when they are collected.
    gc.collect()
    # Whoever looks at the end is no part of what happened.
    simulation.server.accept()
    evidence, unreadable = _gather(simulation)
    played = [] if scene is None else scene.violations
    violations = [*seen, *played, *witness.violations, *unreadable, *_check(simulation, evidence)]
    digest = _digest(one.server for one in (simulation, scene, removal) if one is not None)
    simulation.weather.calm()
    before = len(witness.violations)
    for found in evidence:
        violations += _guarded(found, lambda found: check_removal(found, simulation.server))
    violations += witness.violations[before:]
    trace = walked if seen else simulation.server.trace
    if scene is not None and played and not seen:
        trace = scene.server.trace
    return measure(simulation, seed, steps, evidence, violations, digest, trace, scene)


@contextmanager
def _prepared(
    seed: int, steps: int, sabotage: Sabotage | None, until: Collection[Guarantee] = ()
) -> Iterator[Simulation]:
    rng = random.Random(seed)
    scenario = make_scenario(rng)
    loop = VirtualLoop()
    bits = rng.getrandbits(64)
    # From the same bits: what else happens under a seed is the same with and without refusals.
    refusals = random.Random(f"refusals {bits}")
    weather = Weather(random.Random(bits), refusals=refusals, ttl_s=scenario.ttl_s)
    witness = Witness(lambda: simulation.records, lambda: model)
    crews = [crew.name for crew in scenario.crews]
    clients = [f"client-{number}" for number in range(len(scenario.orders))]
    versions = Versions(random.Random(f"versions {bits}"), crews, clients)
    server = Server(
        loop, weather, steps=steps, watcher=witness, sabotage=sabotage, versions=versions
    )
    records, model = Records(server.twin), Model(server.twin)
    if sabotage:
        server.twin.limit_scripts(_MOST_INSTRUCTIONS)
    fail_over = FailOver(random.Random(f"fail-over {bits}"), server, weather, witness)
    simulation = Simulation(
        scenario, loop, weather, server, witness, records, fail_over, versions, rng, until=until
    )
    remembering = random.Random(f"memory {bits}")
    if remembering.random() < _REMEMBERING:
        simulation.shelf = Shelf(remembering, weather, scenario.ttl_s)
    try:
        yield simulation
    finally:
        if simulation.shelf is not None:
            simulation.shelf.close()


def _gather(simulation: Simulation) -> tuple[list[Evidence], list[Violation]]:
    """What each run left behind; and a violation of each that cannot be read."""
    twin, found, unreadable = simulation.server.twin, [], []
    for order in simulation.scenario.orders:
        if not at_once(twin.command("EXISTS", RunKeys(order.workflow_id).meta)):
            continue
        try:
            found.append(gather(twin, order))
        except _CONTRADICTIONS as error:
            seen = f"its documents cannot be read: {error!r}"
            unreadable.append(Violation("history", order.workflow_id, seen))
    return found, unreadable


def _check(simulation: Simulation, evidence: list[Evidence]) -> Iterator[Violation]:
    witness, twin = simulation.witness, simulation.server.twin
    if not simulation.ended_in_time:
        yield Violation("ends", "", "the runs did not end and get finalized in time")
    submitted = [RunKeys(order.workflow_id).meta for order in simulation.scenario.orders]
    if at_once(twin.command("EXISTS", *submitted)) < len(submitted):
        yield Violation("ends", "", "a run was never submitted")
    if simulation.versions.differ:
        # Only who reads the lists brings into them what the earlier version did.
        at_once(
            run_lists.list_runs(Store(SureBackend(simulation.server, EXAMINER), pool=POOL), 100)
        )
    yield from simulation.records.changed()
    yield from check_server(twin, witness)
    for found in evidence:
        yield from _checked(found, simulation)
    if simulation.shelf is not None:
        succeeded = {holder for found in evidence for holder in _succeeded(found)}
        shelf = simulation.shelf
        yield from check_turns(shelf.turns(), succeeded - shelf.answered_outside)


def _succeeded(found: Evidence) -> Iterator[str]:
    """The states that are done, as holders of turns begin."""
    for path, document in found.documents.items():
        done = document.status == "done" and document.error is None
        if document.type == "Task" and done and "@" not in path:
            yield f"{found.run}/{path}"


def _checked(found: Evidence, simulation: Simulation) -> Iterator[Violation]:
    """The checks of one run; documents that contradict each other are a violation, too."""
    changed = simulation.witness.changed
    checks: list[Callable[[Evidence], Iterator[Violation]]] = [
        lambda found: check_end(found, simulation.server.twin),
        lambda found: check_history(found, redriven=found.run in changed.redriven),
        lambda found: check_ledger(found, simulation.ledger, simulation.witness.forgotten),
        lambda found: check_steps(found),
        lambda found: check_result(found, changed),
    ]
    for check in checks:
        yield from _guarded(found, check)


def _walks(seed: int, sabotage: Sabotage | None) -> tuple[Walks, Server, Witness]:
    """The walks of ``seed``, which have a server of their own."""
    loop = VirtualLoop()
    loop.close()
    weather = Weather(random.Random(0), refusals=random.Random(0), ttl_s=1.0)
    weather.calm()
    witness = Witness(lambda: records, lambda: model)
    server = Server(loop, weather, steps=1, watcher=witness, sabotage=sabotage)
    records, model = Records(server.twin), Model(server.twin)
    if sabotage:
        server.twin.limit_scripts(_MOST_INSTRUCTIONS)
    cluster = seed % _CLUSTERS == 1
    backend, tokens = SureBackend(server, EXAMINER), tokens_of(EXAMINER)
    store = Store(backend, pool=POOL, cluster=cluster, tokens=tokens)
    hand = StrangeHand(server, model, random.Random(f"strange hand {seed}"))
    walks: Walks = [
        (Walk(store, random.Random(f"walk {seed}"), server.clock), _WALK),
        (ToolWalk(store, random.Random(f"tools {seed}"), server.clock), _TOOLS),
        (Stories(store, random.Random(f"story {seed}"), server.clock), _STORIES),
        (EndWalk(store, random.Random(f"end {seed}"), server.clock), _END),
        (OutsideWalk(store, random.Random(f"outside {seed}"), server.clock), _OUTSIDE),
        (RecordWalk(server, random.Random(f"records {seed}")), _RECORDS),
        (BrokenWalk(store, random.Random(f"broken {seed}"), server.clock, hand), _BROKEN),
    ]
    return walks, server, witness


def _go(walks: Walks, witness: Witness) -> None:
    try:
        for walk, calls in walks:
            walk.go(calls)
    except (*_CONTRADICTIONS, ControlPlaneError, NotImplementedError) as error:
        # A script that was broken on purpose may say to a server what no script says.
        witness.defect(f"the walk cannot go on: {error!r}")


def _guarded(
    found: Evidence, check: Callable[[Evidence], Iterator[Violation]]
) -> Iterator[Violation]:
    try:
        yield from check(found)
    except (*_CONTRADICTIONS, ControlPlaneError) as error:
        seen = f"its documents contradict each other: {error!r}"
        yield Violation("history", found.run, seen)


def _digest(servers: Iterable[Server]) -> str:
    """SHA-256 of everything that happened and of what it left."""
    told = [text for one in servers for text in (*one.trace, str(one.twin.dump()))]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
