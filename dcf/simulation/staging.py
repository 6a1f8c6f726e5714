"""What every simulated world needs: its parts, the play, and what it leaves behind."""

from __future__ import annotations

import gc
import hashlib
import logging
import random
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from control_plane import ControlPlaneError, RunKeys
from dcf.asl import AslError
from dcf.simulation.evidence import Evidence, gather
from dcf.simulation.fail_over import FailOver
from dcf.simulation.memories import Shelf
from dcf.simulation.model import Model
from dcf.simulation.records import Records
from dcf.simulation.scenario import Scenario
from dcf.simulation.server import Sabotage, Server
from dcf.simulation.simulation import Simulation
from dcf.simulation.versions import Versions
from dcf.simulation.violation import Guarantee, Violation
from dcf.simulation.virtual_loop import Stuck, VirtualLoop, at_once, run_virtually
from dcf.simulation.weather import Weather
from dcf.simulation.witness import Witness

# The share of seeds under which agents have a memory.
_REMEMBERING = 0.3
MOST_INSTRUCTIONS = 5_000_000
"""More than any script needs here: one that was broken may never end."""
CONTRADICTIONS = (LookupError, TypeError, ValueError, AttributeError, AslError)
S = TypeVar("S", bound=Simulation)


@contextmanager
def workers_quiet() -> Iterator[None]:
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


@contextmanager
def prepared(
    kind: type[S],
    scenario: Scenario,
    rng: random.Random,
    steps: int,
    sabotage: Sabotage | None,
    until: Collection[Guarantee] = (),
) -> Iterator[S]:
    """A simulation of ``scenario``, before its first call."""
    loop = VirtualLoop()
    bits = rng.getrandbits(64)
    # From the same bits: what else happens under a seed is the same with and without refusals.
    refusals = random.Random(f"refusals {bits}")
    weather = Weather(random.Random(bits), refusals=refusals, ttl_s=scenario.ttl_s)
    witness = Witness(lambda: simulation.records, lambda: model)
    crews = [] if scenario.plain else [crew.name for crew in scenario.crews]
    clients = [f"client-{number}" for number in range(len(scenario.orders))]
    versions = Versions(random.Random(f"versions {bits}"), crews, clients)
    server = Server(
        loop, weather, steps=steps, watcher=witness, sabotage=sabotage, versions=versions
    )
    records, model = Records(server.twin), Model(server.twin)
    if sabotage:
        server.twin.limit_scripts(MOST_INSTRUCTIONS)
    fail_over = FailOver(random.Random(f"fail-over {bits}"), server, weather, witness)
    simulation = kind(
        scenario, loop, weather, server, witness, records, fail_over, versions, rng, until=until
    )
    remembering = random.Random(f"memory {bits}")
    if not scenario.plain and remembering.random() < _REMEMBERING:
        simulation.shelf = Shelf(remembering, weather, scenario.ttl_s)
    try:
        yield simulation
    finally:
        if simulation.shelf is not None:
            simulation.shelf.close()


def play(simulation: Simulation) -> None:
    """Let it happen. What breaks is seen by the witness."""
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


def gathered(simulation: Simulation) -> tuple[list[Evidence], list[Violation]]:
    """What each run left behind; and a violation of each that cannot be read."""
    twin, found, unreadable = simulation.server.twin, [], []
    for order in simulation.scenario.orders:
        if not at_once(twin.command("EXISTS", RunKeys(order.workflow_id).meta)):
            continue
        try:
            found.append(gather(twin, order))
        except CONTRADICTIONS as error:
            seen = f"its documents cannot be read: {error!r}"
            unreadable.append(Violation("history", order.workflow_id, seen))
    return found, unreadable


def guarded(
    found: Evidence, check: Callable[[Evidence], Iterator[Violation]]
) -> Iterator[Violation]:
    """What ``check`` sees; documents that contradict each other are a violation, too."""
    try:
        yield from check(found)
    except (*CONTRADICTIONS, ControlPlaneError, Stuck) as error:
        seen = f"its documents contradict each other: {error!r}"
        yield Violation("history", found.run, seen)


def digest_of(servers: Iterable[Server]) -> str:
    """SHA-256 of everything that happened and of what it left."""
    told = [text for one in servers for text in (*one.trace, str(one.twin.dump()))]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
