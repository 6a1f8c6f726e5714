"""Random Task states, each with the behaviour of its work."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from dcf.simulation.behaviour import Behaviour, Verdict

_FLAKY = ["Sim.Flaky"]
_UNAPPROVED = ["DCF.ApprovalRejected"]
_LATE = ["States.Timeout", "States.HeartbeatTimeout"]


def make_task(
    rng: random.Random, site: str, following: str, errors: Sequence[str]
) -> tuple[dict[str, Any], Behaviour]:
    """A Task at ``site`` that leads to ``following``, and what its work does.

    Without ``errors`` nothing that its work does fails the machine.
    """
    task, behaviour = _in_jsonpath(rng, site, following, errors)
    return (_in_jsonata(task) if rng.random() < 0.2 else task), behaviour


def _in_jsonpath(
    rng: random.Random, site: str, following: str, errors: Sequence[str]
) -> tuple[dict[str, Any], Behaviour]:
    task: dict[str, Any] = {
        "Type": "Task",
        "Resource": site,
        "AgentBinding": {"agent_ref": {"name": "simulated"}},
        "Parameters": {"n.$": "$.n", "always": [1.5, "two"]},
        "ResultPath": rng.choice(("$.done", "$.results.last")),
        "Next": following,
    }
    kind = rng.choices(("works", "flaky", "errs", "hangs", "silent", "asks"), (6, 3, 2, 1, 1, 2))[0]
    seconds = rng.choice((0.0, 0.0, 0.05, 0.4, 3.0, 8.0))
    if kind == "works":
        outside = site.endswith(".waitForTaskToken")
        if rng.random() < (0.6 if outside else 0.2):
            # Who works outside shows that it is alive, and has to.
            task |= {"TimeoutSeconds": 90, "HeartbeatSeconds": 3 if outside else 20}
        return task, Behaviour("works", seconds)
    if kind == "flaky":
        failures = rng.randint(1, 2)
        task["Retry"] = [_retry(rng, _FLAKY, failures + rng.randint(0, 2))]
        return task, Behaviour("flaky", seconds, failures)
    if kind == "errs":
        error = rng.choice(errors) if errors else "Sim.Broken"
        if not errors or rng.random() < 0.6:
            task["Catch"] = [_catch([error], following)]
        if rng.random() < 0.3:
            task["Retry"] = [_retry(rng, [error], rng.randint(0, 2))]
        return task, Behaviour("errs", seconds, error=error)
    if kind == "asks":
        return _asking(rng, task, following, min(seconds, 0.4))
    attempts = rng.randint(0, 2)
    failures = rng.choice((1, 2, 9))
    task["TimeoutSeconds"] = rng.randint(2, 5)
    if kind == "silent":
        task |= {"TimeoutSeconds": 90, "HeartbeatSeconds": rng.randint(1, 4)}
    task["Retry"] = [_retry(rng, _LATE, attempts)]
    # Its error name is not one of `errors`, so it is always caught.
    task["Catch"] = [_catch(["States.ALL"], following)]
    # Tries that answer do so well within the limit.
    return task, Behaviour("hangs" if kind == "hangs" else "silent", min(seconds, 0.4), failures)


def _asking(
    rng: random.Random, task: dict[str, Any], following: str, seconds: float
) -> tuple[dict[str, Any], Behaviour]:
    """A Task that a person has to approve in the middle of it; what is not approved is caught."""
    verdict: Verdict = rng.choice(("approve", "approve", "reject", "silence"))
    failures = rng.choice((1, 9))
    if rng.random() < 0.5:
        task["Retry"] = [_retry(rng, _UNAPPROVED, 1)]
    task["Catch"] = [_catch(_UNAPPROVED, following)]
    behaviour = Behaviour("asks", seconds, failures, calls=rng.randint(0, 3), verdict=verdict)
    return task, behaviour


def _in_jsonata(task: dict[str, Any]) -> dict[str, Any]:
    """The same Task in the other query language."""
    kept = {name: value for name, value in task.items() if name not in ("Parameters", "ResultPath")}
    kept |= {
        "QueryLanguage": "JSONata",
        "Arguments": {"n": "{% $states.input.n %}", "always": [1.5, "two"]},
        "Output": "{% $merge([$states.input, {'done': $states.result}]) %}",
    }
    if "TimeoutSeconds" in task:
        kept["TimeoutSeconds"] = f"{{% $floor({task['TimeoutSeconds']}.5) %}}"
    if "Catch" in task:
        output = "{% $merge([$states.input, {'error': $states.errorOutput}]) %}"
        kept["Catch"] = [
            {"ErrorEquals": catch["ErrorEquals"], "Output": output, "Next": catch["Next"]}
            for catch in task["Catch"]
        ]
    return kept


def _retry(rng: random.Random, errors: list[str], attempts: int) -> dict[str, Any]:
    retrier: dict[str, Any] = {
        "ErrorEquals": errors,
        "IntervalSeconds": rng.randint(1, 2),
        "MaxAttempts": attempts,
        "BackoffRate": rng.choice((1.0, 2.0)),
    }
    if rng.random() < 0.3:
        retrier["JitterStrategy"] = "FULL"
    return retrier


def _catch(errors: list[str], following: str) -> dict[str, Any]:
    return {"ErrorEquals": errors, "ResultPath": "$.error", "Next": following}
