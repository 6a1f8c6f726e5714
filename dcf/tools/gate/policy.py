"""What the people who run the platform allow, whatever a skill declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from dcf.tools.gate.approval import Approver
from dcf.tools.gate.budget import Budget, Spender
from dcf.tools.gate.condition import RuleApprover
from dcf.tools.gate.egress import EgressRules
from dcf.tools.gate.glob import fits
from dcf.tools.gate.grant import Grant, Risk

Untrusted = Literal["ask", "refuse", "allow"]
UNTRUSTED: tuple[Untrusted, ...] = ("ask", "refuse", "allow")
"""What may hold for skills that are not the catalog's: they count as high risk, are not loaded, or
count as what they say."""

OPERATOR = Approver("operator", ("operator",))
"""Who is asked where no rule of the policy speaks of a call of high risk."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for the calls that ``tools`` (globs over ``server:tool``), ``skills`` (globs over
    the skill's names) and ``risk`` all select; an empty selector selects every call.

    With ``decision`` None the ``approvers`` are asked, one after another. Skills that are not
    trusted are let pass by ``decision`` or by approvers that are rules only with ``untrusted``.
    """

    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    risk: tuple[Risk, ...] = ()
    decision: Literal["allow", "deny"] | None = None
    approvers: tuple[Approver | RuleApprover, ...] = ()
    reason: str = ""
    name: str = ""
    untrusted: bool = False

    def selects(self, grant: Grant) -> bool:
        """Whether the rule speaks of a call that ``grant`` would let pass. What a rule lets a skill
        do, another that took its name or its tool may not."""
        tool = f"{grant.server_id}:{grant.tool_name}"
        lets_in = self.decision == "allow" or (self.skills and self.decision != "deny")
        if lets_in and not grant.trusted and not self.untrusted:
            return False
        return (
            _any(self.tools, (tool,))
            and _any(self.skills, _names(grant.skill))
            and (not self.risk or grant.risk in self.risk)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """``Policy()`` is what holds without a file: high risk waits for the approver ``operator``,
    everything else that a loaded skill declares may pass.

    ``approvers`` are those of the file, by name; ``operator`` may be among them. The rules of a
    file come before all this.
    """

    rules: tuple[Rule, ...] = ()
    approvers: Mapping[str, Approver | RuleApprover] = field(default_factory=dict, hash=False)
    budgets: Mapping[Spender, Budget] = field(default_factory=dict, hash=False)
    egress: EgressRules = field(default_factory=EgressRules)
    untrusted_skills: Untrusted = "ask"

    @property
    def operator(self) -> Approver | RuleApprover:
        """Who is asked about high risk where no rule speaks."""
        return self.approvers.get("operator", OPERATOR)

    def weighed(self, grant: Grant) -> Grant:
        """``grant`` as it counts here: nothing that an untrusted skill says of itself does."""
        if grant.trusted:
            return grant
        if self.untrusted_skills == "allow":
            return replace(grant, trusted=True)
        return replace(
            grant,
            risk="high",
            egress="none",
            secrets=(),
            idempotent=False,
            commands=(),
            claims=_claims(grant),
        )

    def rule_for(self, grant: Grant) -> Rule | None:
        """The first rule that speaks of the call; None when it simply may pass."""
        for rule in self.rules:
            if rule.selects(grant):
                return rule
        if grant.risk == "high":
            return self.at_high_risk
        return None

    @property
    def at_high_risk(self) -> Rule:
        """What holds for high risk where no rule speaks."""
        return Rule(risk=("high",), approvers=(self.operator,))

    @classmethod
    def load(cls, path: Path) -> Policy:
        """Read ``generated/policy.json`` or a ``policy.yaml``; without a file, ``Policy()``.

        Raises ``InvalidDocument`` with all problems.
        """
        from dcf.tools.gate.policy_file import load_policy

        return load_policy(path)

    @classmethod
    def from_document(cls, document: Any) -> Policy:
        """The policy that ``document`` states; raises ``InvalidDocument`` with all problems."""
        from dcf.tools.gate.policy_file import read_policy

        return read_policy(document)


NO_FILE = Policy()


def _claims(grant: Grant) -> str:
    secrets = f", secrets {', '.join(sorted(grant.secrets))}" if grant.secrets else ""
    return f"riskLevel {grant.risk}, egress {grant.egress}{secrets}"


def _any(globs: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return not globs or any(fits(name, glob) for name in names for glob in globs)


def _names(manifest_id: str) -> tuple[str, ...]:
    """``skill.orders.quote@1.0.0``, ``orders.quote@1.0.0``, ``orders.quote``."""
    short = manifest_id.removeprefix("skill.")
    return manifest_id, short, short.partition("@")[0]
