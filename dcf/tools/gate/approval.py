"""A question to a person: may exactly this call be made?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.tools.gate.grant import Risk


@dataclass(frozen=True, slots=True)
class Approver:
    """Persons who are asked under one name of the policy. ``timeout_s`` (seconds) is how long they
    are waited for; None waits for ever."""

    name: str
    people: tuple[str, ...]
    timeout_s: float | None = 86_400.0


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What somebody is asked to approve: exactly this call, by the digest of its arguments.

    ``approver`` is asked now, and ``people`` may answer; ``chain`` are those who are asked after
    ``timeout_s`` (seconds) without an answer, one after another. After the last, the call is
    rejected: silence never approves. ``untrusted`` is what a skill that is not the catalog's claims
    of itself; None for those of the catalog.
    """

    server_id: str
    tool_name: str
    arguments: dict[str, Any] = field(hash=False)
    digest: str
    skills: tuple[str, ...]
    risk: Risk
    reason: str
    approver: str
    people: tuple[str, ...] = ()
    timeout_s: float | None = None
    chain: tuple[Approver, ...] = ()
    untrusted: str | None = None

    def may_decide(self, name: str) -> bool:
        """Whether the person ``name`` is one of those who are asked now; where none are named it is
        the approver."""
        return name in (self.people or (self.approver,))

    def escalated(self) -> ApprovalRequest | None:
        """The same question to the next of the chain; None when nobody is left."""
        if not self.chain:
            return None
        following, *rest = self.chain
        return replace(
            self,
            approver=following.name,
            people=following.people,
            timeout_s=following.timeout_s,
            chain=tuple(rest),
        )

    def to_document(self) -> dict[str, Any]:
        """Every field, as JSON; ``chain`` as ``[{approver, people, timeout_s}]``, ``untrusted``
        only where it is not None."""
        claims = {} if self.untrusted is None else {"untrusted": self.untrusted}
        return {
            **claims,
            "server_id": self.server_id,
            "tool_name": self.tool_name,
            "arguments": self.arguments,
            "digest": self.digest,
            "skills": list(self.skills),
            "risk": self.risk,
            "reason": self.reason,
            "approver": self.approver,
            "people": list(self.people),
            "timeout_s": self.timeout_s,
            "chain": [
                {"approver": next_.name, "people": list(next_.people), "timeout_s": next_.timeout_s}
                for next_ in self.chain
            ],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> ApprovalRequest:
        """The request that ``to_document`` wrote."""
        return cls(
            server_id=document["server_id"],
            tool_name=document["tool_name"],
            arguments=document["arguments"],
            digest=document["digest"],
            skills=tuple(document["skills"]),
            risk=document["risk"],
            reason=document["reason"],
            approver=document["approver"],
            people=tuple(document["people"]),
            timeout_s=document["timeout_s"],
            chain=tuple(
                Approver(next_["approver"], tuple(next_["people"]), next_["timeout_s"])
                for next_ in document["chain"]
            ),
            untrusted=document.get("untrusted"),
        )
