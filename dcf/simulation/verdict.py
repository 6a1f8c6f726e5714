"""What came out of one simulation, in numbers and in words."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dcf.problem import Problem
from dcf.simulation.evidence import Evidence
from dcf.simulation.oracle import is_comparable
from dcf.simulation.session_scene import SessionScene
from dcf.simulation.simulation import Simulation
from dcf.simulation.violation import GUARANTEES, Violation
from dcf.simulation.weather import FAULT_WORDS

_TAIL = 60
_HINT_WORDS = {"lost": "hints lost", "doubled": "hints doubled", "late": "hints delayed"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """``digest`` covers every call and every document; ``counts`` what happened, in words;
    ``trace`` the last calls of the runs with a violation, ``machines`` their definitions;
    ``sabotage`` the name of the mutant that was simulated, if any. Of a user's machine ``history``
    is what its run did, if something did not hold; ``options`` name it on the command line; with
    ``unmocked`` Tasks nothing is known."""

    seed: int
    steps: int
    digest: str
    virtual_s: float
    counts: dict[str, int]
    violations: tuple[Violation, ...]
    trace: tuple[str, ...] = ()
    machines: dict[str, str] = field(default_factory=dict)
    sabotage: str = ""
    history: tuple[str, ...] = ()
    options: str = ""
    unmocked: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.violations

    @property
    def replay(self) -> str:
        """The command that shows the same again."""
        broken = f" --sabotage {self.sabotage}" if self.sabotage else ""
        return f"dcf sim{self.options} --seed {self.seed} --steps {self.steps}{broken}"

    def to_json(self) -> dict[str, Any]:
        """For scripts; trace and machines only where a guarantee did not hold."""
        return {
            "seed": self.seed,
            "steps": self.steps,
            "ok": self.ok,
            "digest": self.digest,
            "virtual_s": round(self.virtual_s, 3),
            "counts": self.counts,
            "violations": [
                {
                    "guarantee": violation.guarantee,
                    "means": GUARANTEES[violation.guarantee],
                    "run": violation.run,
                    "seen": violation.seen,
                }
                for violation in self.violations
            ],
            "machines": self.machines,
            "history": list(self.history),
            "trace": list(self.trace),
            "replay": self.replay,
        }


def measure(
    simulation: Simulation,
    seed: int,
    steps: int,
    evidence: list[Evidence],
    violations: list[Violation],
    digest: str,
    trace: list[str],
    scene: SessionScene | None = None,
    **about: Any,
) -> Verdict:
    """The verdict on a simulation that is over, and on the session that was played before it;
    ``about`` are its further fields."""
    broken = {violation.run for violation in violations}
    machines = {
        order.workflow_id: json.dumps(
            {"asl": order.document.definition, "input": order.input}, ensure_ascii=False
        )
        for order in simulation.scenario.orders
        if order.workflow_id in broken
    }
    trace = _shortened(trace, broken) if violations else []
    return Verdict(
        seed=seed,
        steps=steps,
        digest=digest,
        virtual_s=simulation.loop.now,
        counts=_counts(simulation, evidence) | _scene_counts(scene),
        violations=tuple(violations),
        trace=tuple(trace),
        machines=machines,
        **about,
    )


def _shortened(trace: list[str], broken: set[str]) -> list[str]:
    """The last calls; where each violation is of a run, those that speak of these runs."""
    if "" not in broken:
        trace = [line for line in trace if any(f" {run} " in line for run in broken)]
    return trace[-_TAIL:]


def _scene_counts(scene: SessionScene | None) -> dict[str, int]:
    orders, deaths = (0, 0) if scene is None else (scene.orders, scene.deaths)
    return {"orders of sessions": orders, "hosts of companions crashed": deaths}


def _counts(simulation: Simulation, evidence: list[Evidence]) -> dict[str, int]:
    weather, witness = simulation.weather, simulation.witness
    events = Counter(str(event.event.get("type")) for found in evidence for event in found.events)
    statuses = Counter(found.meta.status for found in evidence)
    counts = {"runs": len(evidence)}
    counts |= {f"runs {status}": number for status, number in sorted(statuses.items())}
    counts |= {
        "runs redriven": len(witness.changed.redriven),
        "runs compared with the interpreter": sum(
            found.meta.is_over and is_comparable(found, witness.changed) for found in evidence
        ),
        "calls of the server": simulation.server.calls,
        "steps committed": witness.scripts["commit"],
        "task executions": len(simulation.ledger),
        "approvals asked for": events["ApprovalRequested"],
        "approvals decided": events["ApprovalDecided"],
        "approvals passed on": events["ApprovalEscalated"],
        "leases taken over": events["LeaseExpired"],
        "leases revoked": events["LeaseRevoked"],
        "retries": events["RetryScheduled"],
        "joins": events["Joined"] + events["ChildFailed"],
        "workers crashed": sum(len(life.crashes) for life in simulation.lives),
        "workers drained": sum(life.drains for life in simulation.lives),
        "fail-overs that lost writes": simulation.fail_over.number,
        "calls of an earlier version": simulation.server.earlier_calls,
        "hints": simulation.server.hints,
    }
    counts |= {words: weather.hints_seen[kind] for kind, words in _HINT_WORDS.items()}  # type: ignore[index]
    counts |= {words: weather.seen[kind] for kind, words in FAULT_WORDS.items() if kind != "none"}
    return counts
