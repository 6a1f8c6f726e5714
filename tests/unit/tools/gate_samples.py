"""A registry, grants, and a ledger in memory, for the tests of the gate."""

from __future__ import annotations

from typing import Any

from dcf.tools import Decision, Gate, Grant, Policy, Registry, SchemaPin, ServerConfig, ToolResult

SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "to": {"type": "string"}},
    "required": ["amount"],
}

SERVERS = Registry(
    [
        ServerConfig("local", url="http://127.0.0.1:8765/mcp"),
        ServerConfig("inside", url="http://10.1.2.3:9000/mcp"),
        ServerConfig("outside", url="https://api.example.com/mcp"),
        ServerConfig("bank", url="http://127.0.0.1:1/mcp", secrets={"BANK_TOKEN": "very-secret"}),
        ServerConfig("program", transport="stdio", command="tool"),
        ServerConfig("commands", transport="stdio", command="python", runs_commands=True),
    ]
)


def grant(tool: str, skill: str = "skill.pay@1.0.0", **permissions: Any) -> Grant:
    """A grant for ``server:tool``."""
    server, _, name = tool.partition(":")
    return Grant(server, name, skill, **permissions)


def gate(*grants: Grant, policy: dict[str, Any] | None = None, **more: Any) -> Gate:
    """A gate over the sample registry, with the members of a policy document."""
    document = {"apiVersion": "policy/v1", "kind": "ToolPolicy", **(policy or {})}
    return Gate(grants, servers=SERVERS, policy=Policy.from_document(document), **more)


class MemoryLedger:
    """A ledger that forgets everything with the process; ``spent`` refuses to note."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.fence = 7
        self.number = 0
        self.noted: list[Decision] = []
        self.settled: list[tuple[int, str, ToolResult]] = []
        self.failures: list[tuple[str, str]] = []
        self.approvals: dict[str, str] = {}
        self.journal: dict[str, list[ToolResult]] = {}
        self.refusal = refusal
        self.begun_before: set[str] = set()

    def idempotency_key(self, number: int) -> str:
        return f"wf/Pay/1/1/{number}"

    def begun(self, digest: str) -> bool:
        return digest in self.begun_before

    def approved(self, decision: Decision) -> str | None:
        return self.approvals.get(decision.digest)

    async def recall(self, digest: str) -> ToolResult | None:
        results = self.journal.get(digest)
        return results.pop(0) if results else None

    async def note(self, decision: Decision) -> int | None:
        self.noted.append(decision)
        if self.refusal is not None and decision.allowed:
            raise self.refusal
        if not decision.allowed:
            return None
        self.number += 1
        return self.number - 1

    async def settle(self, number: int, decision: Decision, result: ToolResult) -> None:
        self.settled.append((number, decision.digest, result))

    async def failed(self, decision: Decision, error: str) -> None:
        self.failures.append((f"{decision.server_id}:{decision.tool_name}", error))


def pin(schema: dict[str, Any], *, locked: bool = True) -> SchemaPin:
    """A pin without an output schema."""
    return SchemaPin(schema, None, locked)
