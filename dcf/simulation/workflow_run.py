"""A user's machine in the simulated world: one run of it, its Tasks mocked."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from control_plane import INDEX, RunKeys
from dcf.simulation.mocked_staff import Calls, MockedStaff
from dcf.simulation.order import EPOCH_S, Order
from dcf.simulation.reference_run import Reference
from dcf.simulation.scenario import Scenario, make_crew
from dcf.simulation.simulation import Simulation
from dcf.simulation.staff import Staff
from dcf.simulation.strangers import Strangers
from dcf.simulation.virtual_loop import at_once
from dcf.workflow import WorkflowDocument

RUN = "run"
# From so long before nothing happens any more to so long before something does, time may jump.
_QUIET_S, _BEFORE_S = 10.0, 2.0
# A lease of work that takes long is longer, so that its renewals do not fill the simulation.
_RENEWALS = 200.0


@dataclass(frozen=True, slots=True)
class MockedOrder(Order):
    """A run of a user's machine: ``reference`` is what it comes to, ``calls`` what it did."""

    reference: Reference
    calls: Calls

    def planned(self, told: Mapping[str, Any]) -> str | None:
        """See ``Order.planned``."""
        return self.calls.planned.get((told["path"], told["visit"], told["try"]))


def scenario_of(
    rng: random.Random, document: WorkflowDocument, input: Any, reference: Reference
) -> Scenario:
    """The scenario of a seed. Nobody cancels or redrives the run."""
    ttl_s = max(rng.choice((2.0, 5.0, 15.0, 30.0)), reference.longest_task_s / _RENEWALS)
    order = MockedOrder(
        workflow_id=RUN,
        document=document,
        input=input,
        sites={},
        submit_at=rng.uniform(0, 3),
        cancel_at=None,
        redrives=0,
        redrivers=1,
        reference=reference,
        calls=Calls(),
    )
    crews = tuple(make_crew(rng, number, ttl_s) for number in range(rng.randint(2, 3)))
    chaos_s = rng.choice((30.0, 120.0, 1200.0)) + reference.longest_task_s
    return Scenario((order,), crews, ttl_s, chaos_s, plain=True)


@dataclass(slots=True)
class WorkflowRun(Simulation):
    """A simulation of a user's machine. Weeks in which nothing can happen pass at once."""

    _answering: Strangers | None = field(default=None)

    @property
    def order(self) -> MockedOrder:
        """Its only order."""
        order = self.scenario.orders[0]
        assert isinstance(order, MockedOrder)
        return order

    def staffed(self, strangers: Strangers) -> Staff:
        """See ``Simulation.staffed``."""
        self._answering = strangers
        return MockedStaff(self.order.reference.work, self.order.calls, self.ledger, strangers)

    def patience_s(self) -> float:
        """See ``Simulation.patience_s``. All of the work may be left."""
        return Simulation.patience_s(self) + self.order.reference.work_s

    def skip(self) -> float:
        """See ``Simulation.skip``."""
        seconds = self._next_s() - self.loop.time()
        if seconds < _QUIET_S or self.server.hints_under_way:
            return 0.0
        self.loop.now += seconds - _BEFORE_S
        return seconds - _BEFORE_S

    def _next_s(self) -> float:
        """When something is due that no worker has begun to do; the past where that is unknown."""
        twin = self.server.twin
        due = at_once(twin.command("ZRANGE", RunKeys(RUN).due, 0, 0, "WITHSCORES"))
        if at_once(twin.command("ZSCORE", INDEX, RUN)) is None or self._answering is None:
            return 0.0
        due_s = float(due[1]) / 1000 - EPOCH_S if due else math.inf
        next_s = min(due_s, self._answering.next_s)
        return next_s if next_s < math.inf else 0.0
