"""What one grant says to a call, and how a rule of the policy comes to it."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.tools.gate.approval import Approver
from dcf.tools.gate.call import Call
from dcf.tools.gate.condition import RuleApprover
from dcf.tools.gate.decision import Verdict
from dcf.tools.gate.grant import Grant
from dcf.tools.gate.policy import Rule


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one grant says to a call."""

    verdict: Verdict
    rule: str
    reason: str
    details: tuple[str, ...] = ()
    chain: tuple[Approver, ...] = ()


def untrusted(grant: Grant) -> str:
    """Why less is granted than the skill claims, in words."""
    claims = f" (it claims {grant.claims})" if grant.claims else ""
    return f"{grant.skill} is untrusted: the catalog does not have it like this{claims}"


def by_policy(rule: Rule, call: Call, grant: Grant) -> Ruling:
    """What ``rule`` says: its decision, or that of the first of its approvers who decides; a person
    is asked, and those after that person when nobody answers."""
    why = _why(rule, grant)
    if rule.decision == "allow":
        return Ruling("allow", "policy.allow", f"declared by {grant.skill}; {why} allows it")
    if rule.decision == "deny":
        return Ruling("deny", "policy.deny", f"{why} denies it")
    for index, approver in enumerate(rule.approvers):
        if isinstance(approver, Approver):
            chain = tuple(a for a in rule.approvers[index:] if isinstance(a, Approver))
            return Ruling("ask", "approval.required", f"{why} asks {approver.name}", chain=chain)
        ruling = _by_rule(approver, call, why)
        if ruling is not None:
            return ruling
    return Ruling("deny", "approval.no_approver", f"{why} names no approver who would decide it")


def by_persons(rule: Rule, otherwise: Rule, grant: Grant) -> Ruling:
    """The persons of ``rule`` are asked; where it names none, those of ``otherwise``."""
    for each in (rule, otherwise):
        chain = tuple(one for one in each.approvers if isinstance(one, Approver))
        if chain:
            asks = f"{_why(rule, grant)} asks {chain[0].name}"
            return Ruling("ask", "approval.required", asks, chain=chain)
    why = f"{_why(rule, grant)} names no person, and no rule decides alone here"
    return Ruling("deny", "approval.no_approver", why)


def _by_rule(approver: RuleApprover, call: Call, why: str) -> Ruling | None:
    answer, reason = approver.answer(call.arguments)
    because = f": {reason}" if reason else ""
    if answer == "approve":
        return Ruling("allow", "approval.rule", f"{why}; {approver.name} approves{because}")
    if answer == "reject":
        return Ruling("deny", "approval.rejected", f"{why}; {approver.name} rejects{because}")
    return None


def _why(rule: Rule, grant: Grant) -> str:
    told = f" ({rule.reason})" if rule.reason else ""
    if rule.name:
        return f"the policy's rule {rule.name!r}{told}"
    selectors = [*rule.tools, *rule.skills, *(f"risk {risk}" for risk in rule.risk)]
    return f"the policy for {', '.join(selectors) or 'every call'}{told}"
