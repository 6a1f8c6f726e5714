"""Simulate a seed: run its scenario, check every guarantee, report what was seen."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from control_plane import ControlPlaneError, RunKeys, Store, run_lists
from dcf.simulation.broken_walk import BrokenWalk
from dcf.simulation.end_check import check_end, check_server
from dcf.simulation.end_walk import EndWalk
from dcf.simulation.evidence import Evidence
from dcf.simulation.history_check import check_history
from dcf.simulation.ledger_check import check_ledger, check_turns
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
from dcf.simulation.staging import (
    CONTRADICTIONS,
    MOST_INSTRUCTIONS,
    digest_of,
    gathered,
    guarded,
    play,
    prepared,
    workers_quiet,
)
from dcf.simulation.stories import Stories
from dcf.simulation.strange_hand import StrangeHand
from dcf.simulation.tool_walk import ToolWalk
from dcf.simulation.verdict import Verdict, measure
from dcf.simulation.violation import Guarantee, Violation
from dcf.simulation.virtual_loop import VirtualLoop, at_once
from dcf.simulation.walk import Walk
from dcf.simulation.weather import Weather
from dcf.simulation.witness import Witness

DEFAULT_STEPS = 2_000
# Calls of the walks before a simulation, and stories.
_WALK, _TOOLS, _STORIES, _END, _OUTSIDE, _RECORDS, _BROKEN = 150, 24, 1, 30, 20, 30, 24
# Of so many seeds the walks of one are in a cluster.
_CLUSTERS = 4
Walks = Sequence[
    tuple[Walk | ToolWalk | Stories | EndWalk | OutsideWalk | RecordWalk | BrokenWalk, int]
]
"""Each with how many calls it takes."""


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
    with workers_quiet(), _prepared(seed, steps, sabotage, until) as simulation:
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
    with workers_quiet(), _prepared(seed, steps, None) as simulation:
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
def _prepared(
    seed: int, steps: int, sabotage: Sabotage | None, until: Collection[Guarantee] = ()
) -> Iterator[Simulation]:
    rng = random.Random(seed)
    with prepared(Simulation, make_scenario(rng), rng, steps, sabotage, until) as simulation:
        yield simulation


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
    witness = simulation.witness
    play(simulation)
    evidence, unreadable = gathered(simulation)
    played = [] if scene is None else scene.violations
    violations = [*seen, *played, *witness.violations, *unreadable, *_check(simulation, evidence)]
    digest = digest_of(one.server for one in (simulation, scene, removal) if one is not None)
    simulation.weather.calm()
    before = len(witness.violations)
    for found in evidence:
        violations += guarded(found, lambda found: check_removal(found, simulation.server))
    violations += witness.violations[before:]
    trace = walked if seen else simulation.server.trace
    if scene is not None and played and not seen:
        trace = scene.server.trace
    return measure(simulation, seed, steps, evidence, violations, digest, trace, scene)


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
        yield from guarded(found, check)


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
        server.twin.limit_scripts(MOST_INSTRUCTIONS)
    cluster = seed % _CLUSTERS == 1
    backend, tokens = SureBackend(server, EXAMINER), tokens_of(EXAMINER)
    store = Store(backend, pool=POOL, cluster=cluster, tokens=tokens)
    hand = StrangeHand(server.twin, model, random.Random(f"strange hand {seed}"))
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
    except (*CONTRADICTIONS, ControlPlaneError, NotImplementedError) as error:
        # A script that was broken on purpose may say to a server what no script says.
        witness.defect(f"the walk cannot go on: {error!r}")
