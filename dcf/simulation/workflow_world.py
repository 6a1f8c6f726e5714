"""The world of a user's machine: under each seed one run of it, among faults of every kind."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dcf import asl, workflow
from dcf.asl.trial import Invariant, read_mocks
from dcf.problem import Problem
from dcf.simulation.end_check import check_end, check_server
from dcf.simulation.evidence import Evidence
from dcf.simulation.history_check import check_history
from dcf.simulation.invariants import CALLED, CRASHED, check_invariants, seen_of, told
from dcf.simulation.ledger_check import check_ledger
from dcf.simulation.oracle import check_stop, is_comparable
from dcf.simulation.reference_run import Expectation, Reference, ReferenceRun
from dcf.simulation.server import Sabotage
from dcf.simulation.staging import digest_of, gathered, guarded, play, prepared, workers_quiet
from dcf.simulation.verdict import Verdict, measure
from dcf.simulation.violation import Guarantee, Violation
from dcf.simulation.workflow_run import WorkflowRun, scenario_of
from dcf.workflow import Objects, WorkflowDocument

# Events of a history that are shown.
_HEAD, _TAIL = 10, 30
# More than ever die.
_DEATHS = 100


@dataclass(frozen=True, slots=True)
class WorkflowWorld:
    """All as texts, so that it can be sent to other processes: ``raw`` is the document, ``mocks``
    what a mocks file holds, ``invariants`` names and expressions, ``options`` what repeats it on
    the command line."""

    name: str
    raw: str
    input: str
    mocks: str
    invariants: tuple[tuple[str, str], ...] = ()
    options: str = ""
    objects: tuple[tuple[str, bytes], ...] = ()

    def expectation(self) -> Expectation:
        """How a run has to end. Raises MockTrouble, and Unsimulable."""
        return _setting(self).reference.expected

    def simulate(
        self,
        seed: int,
        *,
        steps: int,
        sabotage: Sabotage | None = None,
        until: Collection[Guarantee] = (),
    ) -> Verdict:
        """See ``World``."""
        with workers_quiet(), self._prepared(seed, steps, sabotage, until) as simulation:
            play(simulation)
            return self._verdict(simulation, seed, steps)

    def lines(self, seed: int, steps: int) -> dict[str, set[int]]:
        """See ``World``."""
        with workers_quiet(), self._prepared(seed, steps, None, ()) as simulation:
            traced = simulation.server.twin.trace_scripts()
            play(simulation)
        return {name: set(ran) for name, ran in traced.items()}

    @contextmanager
    def _prepared(
        self,
        seed: int,
        steps: int,
        sabotage: Sabotage | None,
        until: Collection[Guarantee],
    ) -> Iterator[WorkflowRun]:
        setting, rng = _setting(self), random.Random(f"workflow {seed}")
        scenario = scenario_of(rng, setting.document, setting.input, setting.reference)
        with prepared(WorkflowRun, scenario, rng, steps, sabotage, until) as simulation:
            objects = asl.MemoryObjects(dict(self.objects))
            simulation.objects = Objects(objects, in_memory=True)
            yield simulation

    def _verdict(self, simulation: WorkflowRun, seed: int, steps: int) -> Verdict:
        evidence, unreadable = gathered(simulation)
        violations = [*simulation.witness.violations, *unreadable, *_of_server(simulation)]
        history: list[str] = []
        for found in evidence:
            disturbed = not is_comparable(found, simulation.witness.changed)
            seen = seen_of(found, simulation.order.calls.made, disturbed=disturbed)
            violations += _of_run(found, simulation, seen, _setting(self).invariants)
            if violations:
                crashes = [crash for life in simulation.lives for crash in life.crashes]
                history = _shortened(told(seen, crashes))
        calls = [one for one in violations if one.guarantee != "invariant"]
        verdict = measure(
            simulation,
            seed,
            steps,
            evidence,
            violations,
            digest_of([simulation.server]),
            # What was said to the server is no news of a machine.
            simulation.server.trace if calls else [],
            history=tuple(history),
            options=self.options,
            unmocked=tuple(
                Problem(one.code, one.message, hint=one.hint)
                for one in simulation.order.calls.missing
            ),
        )
        # Whoever asks knows the machine.
        return replace(verdict, machines={})


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a world is about, read, and how the interpreter runs it."""

    document: WorkflowDocument
    input: Any
    invariants: dict[str, Invariant]
    reference: Reference


@cache
def _setting(world: WorkflowWorld) -> _Setting:
    document = workflow.load(_without_persons(world.raw), file=world.name)
    if "worker_deaths" not in document.raw:
        # Here workers die by chance: no state is to blame that many died with it.
        document = document.with_worker_deaths(_DEATHS)
    machine, given, mocks = document.machine, json.loads(world.input), json.loads(world.mocks)
    reference_run = ReferenceRun(
        document.name, machine, given, lambda: read_mocks(mocks, machine), dict(world.objects)
    )
    invariants = {name: Invariant(text) for name, text in world.invariants}
    return _Setting(document, given, invariants, reference_run.execute())


def _without_persons(raw: str) -> str:
    """``raw`` with Tasks that nobody is asked about: what persons answer is mocked."""
    document = json.loads(raw)
    for _, state in workflow.task_states(document.get("asl", document)):
        binding = state.get("AgentBinding")
        for asked in ("manual", "approval"):
            if isinstance(binding, dict):
                binding.pop(asked, None)
    return json.dumps(document)


def _of_server(simulation: WorkflowRun) -> Iterator[Violation]:
    if not simulation.ended_in_time:
        yield Violation("ends", "", "the run did not end and get finalized in time")
    yield from simulation.records.changed()
    yield from check_server(simulation.server.twin, simulation.witness)


def _of_run(
    evidence: Evidence,
    simulation: WorkflowRun,
    seen: Mapping[str, Any],
    invariants: Mapping[str, Invariant],
) -> Iterator[Violation]:
    witness = simulation.witness
    checks: list[Callable[[Evidence], Iterator[Violation]]] = [
        lambda found: check_end(found, simulation.server.twin),
        lambda found: check_history(found, redriven=False),
        lambda found: check_ledger(found, simulation.ledger, witness.forgotten),
        lambda found: check_stop(found, witness.changed),
    ]
    for check in checks:
        yield from guarded(evidence, check)
    if not evidence.meta.is_over:
        return
    if not seen["disturbed"]:
        found = Expectation(seen["status"], seen["output"], seen["error"], seen["cause"])
        if differs := simulation.order.reference.expected.differs(found):
            yield Violation("result", evidence.run, differs)
    yield from check_invariants(invariants, seen, evidence.run)


def _shortened(lines: list[str]) -> list[str]:
    left_out = len(lines) - _HEAD - _TAIL
    if left_out <= 0:
        return lines
    hidden = lines[_HEAD:-_TAIL]
    calls, crashes = (sum(f"  {what} " in line for line in hidden) for what in (CALLED, CRASHED))
    more = f"{left_out} lines more: {calls} calls of work, {crashes} crashes of workers"
    return [*lines[:_HEAD], f"{'…':>12}  {more}", *lines[-_TAIL:]]
