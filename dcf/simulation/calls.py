"""The tools of a simulation, behind the real gate, and the calls that reach them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from control_plane import Lease, Store
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.process import Process
from dcf.tools import (
    ApprovalRequired,
    Budget,
    Dispatcher,
    Gate,
    Grant,
    Policy,
    Registry,
    ServerConfig,
    ToolResult,
    call_digest,
)
from dcf.worker import LeaseLedger
from dcf.workflow import AwaitingApproval

if TYPE_CHECKING:
    from dcf.tools import Toolbox

_SKILL = "skill.sim@1.0.0"
_GRANTS = [Grant("sim", "look", _SKILL), Grant("sim", "pay", _SKILL, risk="high")]
_SERVERS = Registry([ServerConfig("sim", url="http://127.0.0.1:1/mcp/sim")])
_ROUND_TRIP_S = 0.05


def _policy(timeout_s: float) -> Policy:
    return Policy.from_document(
        {
            "apiVersion": "policy/v1",
            "kind": "ToolPolicy",
            "approvers": {
                "first": {"kind": "person", "people": ["ada"], "timeout_s": timeout_s},
                "second": {"kind": "person", "people": ["bob"], "timeout_s": timeout_s},
            },
            "rules": [{"tools": ["sim:pay"], "approvers": ["first", "second"]}],
        }
    )


# Longer than any fault lasts: who means to answer is heard in time.
PATIENT, IMPATIENT = _policy(86_400.0), _policy(4.0)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that reached a tool; ``digest`` is of what arrived there, ``allowed`` how many calls
    its try may make."""

    run: str
    path: str
    visit: int
    try_: int
    fence: int
    key: str
    tool: str
    digest: str
    allowed: int


Watch = Callable[[ToolCall], None]


class SimulatedTools:
    """A toolbox whose calls are shown to ``watch``."""

    def __init__(self, lease: Lease, process: Process, watch: Watch, allowed: int) -> None:
        self._allowed = allowed
        self._lease = lease
        self._process = process
        self._watch = watch

    async def call(
        self,
        server_id: str,
        tool_name: str,
        arguments: dict[str, Any],
        *,
        idempotency_key: str,
        fence: int,
        **_: Any,
    ) -> ToolResult:
        """As Toolbox.call."""
        lease, digest = self._lease, call_digest(server_id, tool_name, arguments)
        place = lease.workflow_id, lease.path, lease.visit, lease.try_
        self._watch(ToolCall(*place, fence, idempotency_key, tool_name, digest, self._allowed))
        await self._process.sleep(_ROUND_TRIP_S)
        return ToolResult(arguments, "")


def calls_of(behaviour: Behaviour) -> int:
    """How many calls a try makes, and so may make."""
    return behaviour.calls + 1


async def make_calls(
    store: Store, lease: Lease, process: Process, behaviour: Behaviour, watch: Watch
) -> AwaitingApproval | None:
    """The calls of work that asks; the question, where it has to be put first."""
    # No call to spare: what a lease repeats must cost nothing, whoever held it before.
    ledger = await LeaseLedger.open(store, lease, of_try=Budget(calls_of(behaviour)))
    policy = IMPATIENT if behaviour.decides(lease.try_ - 1) == "silence" else PATIENT
    gate = Gate(_GRANTS, servers=_SERVERS, policy=policy)
    tools = cast("Toolbox", SimulatedTools(lease, process, watch, calls_of(behaviour)))
    dispatcher = Dispatcher(gate, tools, ledger)
    try:
        for step in range(behaviour.calls):
            # Whoever takes over goes another way, as an agent may.
            number = (step + lease.fence) % behaviour.calls
            await dispatcher.call("sim", "look", {"number": number}, timeout_s=60)
        await dispatcher.call("sim", "pay", {"path": lease.path, "try": lease.try_}, timeout_s=60)
    except ApprovalRequired as required:
        return AwaitingApproval(required.request, journal=ledger.journal, granted=ledger.granted)
    return None
