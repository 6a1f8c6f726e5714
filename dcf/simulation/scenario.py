"""What a seed is about: runs and their machines, when they are cancelled or redriven, workers."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from dcf import workflow
from dcf.simulation.machine_maker import MachineMaker
from dcf.simulation.order import Order, interpret
from dcf.worker import WorkerConfig

_HOUR_S = 3600.0
_LONGEST_TRACE = 250


@dataclass(frozen=True, slots=True)
class Crew:
    """One worker after another under one name; ``skew_s`` is how wrong their clock is."""

    name: str
    config: WorkerConfig
    skew_s: float
    drain_after_s: float | None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that is decided before the first call; ``chaos_s`` is how long faults last.
    In a ``plain`` one nobody acts on runs but their clients and workers, who run one version, and
    agents have no memory."""

    orders: tuple[Order, ...]
    crews: tuple[Crew, ...]
    ttl_s: float
    chaos_s: float
    plain: bool = False


def make_scenario(rng: random.Random) -> Scenario:
    """The scenario of a seed."""
    ttl_s = rng.choice((2.0, 5.0, 15.0, 30.0))
    orders = tuple(_order(rng, number) for number in range(rng.randint(2, 3)))
    crews = tuple(make_crew(rng, number, ttl_s) for number in range(rng.randint(2, 3)))
    return Scenario(orders, crews, ttl_s, rng.uniform(20, 90))


def _order(rng: random.Random, number: int) -> Order:
    """An order that is not too long to simulate: some machines double their data state by state."""
    while True:
        order = _any_order(rng, number)
        # With the limits of AWS a payload that grows without bounds ends the execution.
        execution = interpret(order, aws_limits=True)
        if execution.error != "States.DataLimitExceeded" and len(execution.trace) < _LONGEST_TRACE:
            return order


def _any_order(rng: random.Random, number: int) -> Order:
    maker = MachineMaker(rng)
    # Members in the order in which a run is pinned, so that outputs are the same to the byte.
    definition = json.dumps(maker.make(), sort_keys=True)
    name = f"run-{number}"
    return Order(
        workflow_id=name,
        document=workflow.load(definition, file=f"{name}.asl.json"),
        input=maker.make_input(),
        sites=maker.sites,
        submit_at=rng.uniform(0, 3),
        cancel_at=rng.uniform(0, 20) if rng.random() < 0.2 else None,
        redrives=rng.choice((0, 0, 1, 2)),
        redrivers=rng.choice((1, 1, 2)),
    )


def make_crew(rng: random.Random, number: int, ttl_s: float) -> Crew:
    """The workers of one name."""
    config = WorkerConfig(
        concurrency=rng.randint(1, 4),
        ttl_ms=int(ttl_s * 1000),
        hops=rng.choice((1, 3, 50)),
        drain_s=rng.choice((0.0, 1.0, 10.0)),
        sweep_s=rng.choice((0.5, 2.0, 5.0)),
    )
    return Crew(
        name=f"w{number}",
        config=config,
        skew_s=rng.uniform(-5 * _HOUR_S, 5 * _HOUR_S),
        drain_after_s=rng.uniform(2, 40) if rng.random() < 0.3 else None,
    )
