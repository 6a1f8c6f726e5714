"""How the work of a Task behaves in a simulation: a pure function of its site, try and input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from control_plane import JSON
from dcf import asl

Kind = Literal["works", "flaky", "errs", "hangs", "silent", "asks"]
Verdict = Literal["approve", "reject", "silence"]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the work at one site (a Task's ``Resource``) does.

    ``works`` answers after ``seconds``; ``flaky`` fails its first ``failures`` tries with
    Sim.Flaky; ``errs`` fails each try with ``error``; ``hangs`` does not answer within its
    TimeoutSeconds and ``silent`` shows no progress within its HeartbeatSeconds, for their first
    ``failures`` tries. ``asks`` makes ``calls`` calls, then one that has to be approved: for its
    first ``failures`` tries it meets with ``verdict``, then with approval.
    """

    kind: Kind = "works"
    seconds: float = 0.0
    failures: int = 0
    error: str = ""
    calls: int = 0
    verdict: Verdict = "approve"

    def answers(self, attempt: int) -> bool:
        """Whether try ``attempt`` (from 0) is meant to answer in time."""
        return self.kind not in ("hangs", "silent") or attempt >= self.failures

    def decides(self, attempt: int) -> Verdict:
        """What becomes of the question of try ``attempt``."""
        return self.verdict if attempt < self.failures else "approve"

    def event(self, site: str, attempt: int, arguments: JSON) -> asl.TaskSucceeded | asl.TaskFailed:
        """What try ``attempt`` answers, late or not."""
        if self.kind == "errs":
            return asl.TaskFailed(self.error, "as planned")
        if self.kind == "flaky" and attempt < self.failures:
            return asl.TaskFailed("Sim.Flaky", f"try {attempt}")
        if self.kind == "asks" and (cause := REFUSALS.get(self.decides(attempt))):
            return asl.TaskFailed("DCF.ApprovalRejected", cause)
        return asl.TaskSucceeded({"site": site, "attempt": attempt, "saw": arguments})


REFUSALS: Mapping[str, str] = {
    "reject": "sim:pay: rejected by ada: as planned",
    "silence": "sim:pay: nobody answered in time (asked: first, then second)",
}
"""The cause of a Task whose call was not approved."""

TIMEOUT = ("States.Timeout", None)
HEARTBEAT = ("States.HeartbeatTimeout", None)
WORKER_LOST = (
    "DCF.WorkerLost",
    "as many worker processes as its limit allows died or vanished with this state",
)
REVOKED: Mapping[str, tuple[str, str | None]] = {
    "timeout": TIMEOUT,
    "heartbeat": HEARTBEAT,
    "worker_lost": WORKER_LOST,
}
"""Error and cause of what the control plane itself puts into the event slot of a Task."""

TELLS_EVENT = ("LeaseRevoked", "LeaseAcquired")
"""The entries of a history that say what stands in the event slot."""
