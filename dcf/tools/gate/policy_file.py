"""Reading a policy document, with everything that is wrong in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from dcf.problem import Problem
from dcf.tools.document import placed, read_document
from dcf.tools.errors import InvalidDocument
from dcf.tools.gate.approval import Approver
from dcf.tools.gate.budget import MEMBERS, Budget, Spender
from dcf.tools.gate.condition import COMPARISONS, Answer, Case, Condition, RuleApprover
from dcf.tools.gate.egress import INTRANET, EgressRules
from dcf.tools.gate.grant import Egress, Risk
from dcf.tools.gate.policy import OPERATOR, UNTRUSTED, Policy, Rule, Untrusted
from dcf.tools.gate.spot import Spot

_YEAR_S = 31_536_000
_ANSWERS = ("approve", "reject", "escalate")
_RISKS = ("low", "medium", "high")
_LEVELS = ("none", "intranet", "internet")
_MEMBERS = {
    "apiVersion",
    "kind",
    "rules",
    "approvers",
    "budgets",
    "egress",
    "untrustedSkills",
}
_SELECTORS = ("tools", "skills", "risk")
_SPENDERS = ("run", "state", "agent")
_Approvers = Mapping[str, Approver | RuleApprover]


def load_policy(path: Path) -> Policy:
    """The policy in a file; ``Policy()`` when there is none. Raises ``InvalidDocument``: a link
    that leads nowhere, a folder or a device is there, and no policy."""
    if not os.path.lexists(path):
        return Policy()
    if not path.is_file():
        message = "this is no file, so that nobody knows what the policy is"
        hint = "put the policy there, or remove it"
        raise InvalidDocument([Problem("POLICY_FILE", message, hint=hint, file=str(path))])
    text, document = read_document(path, "POLICY")
    try:
        return read_policy(document)
    except InvalidDocument as invalid:
        raise InvalidDocument(placed(invalid.problems, path, text)) from None


def read_policy(document: Any) -> Policy:
    """The policy that ``document`` states. Raises ``InvalidDocument`` with all problems."""
    problems: list[Problem] = []
    root = Spot(document, "", problems)
    if not isinstance(document, Mapping):
        root.problem("POLICY_SHAPE", "a policy is an object", "begin with apiVersion: policy/v1")
        raise InvalidDocument(problems)
    root.members(_MEMBERS)
    root.constant("apiVersion", "policy/v1")
    root.constant("kind", "ToolPolicy")
    approvers = {name: _approver(name, spot) for name, spot in root.get("approvers").items()}
    policy = Policy(
        rules=tuple(_rule(spot, approvers) for spot in root.get("rules").elements()),
        approvers=approvers,
        budgets=_budgets(root.get("budgets")),
        egress=_egress(root.get("egress")),
        untrusted_skills=cast(Untrusted, root.get("untrustedSkills").text("ask", among=UNTRUSTED)),
    )
    if problems:
        raise InvalidDocument(problems)
    return policy


def _rule(spot: Spot, approvers: _Approvers) -> Rule:
    spot.members(
        {"name", "reason", "tools", "skills", "risk", "decision", "approvers", "untrusted"}
    )
    _check_selectors(spot)
    decision = spot.get("decision")
    chain = spot.get("approvers")
    if decision.given == chain.given:
        spot.problem(
            "POLICY_RULE",
            "a rule says either a decision or the approvers to ask",
            "write decision: allow, decision: deny, or approvers: [operator]",
        )
    return Rule(
        tools=spot.get("tools").globs(),
        skills=spot.get("skills").globs(),
        risk=cast("tuple[Risk, ...]", spot.get("risk").texts(among=_RISKS)),
        decision=cast(
            "Literal['allow', 'deny'] | None", decision.text("", among=("allow", "deny")) or None
        ),
        approvers=tuple(_chain(chain, approvers)),
        reason=spot.get("reason").text(""),
        name=spot.get("name").text(""),
        untrusted=spot.get("untrusted").flag() if spot.get("untrusted").given else False,
    )


def _check_selectors(spot: Spot) -> None:
    """A selector that says nothing selects everything: nobody means that with ``[]``, and a rule
    that allows everything has to say so."""
    given = [name for name in _SELECTORS if spot.get(name).given]
    for name in given:
        if spot.get(name).value == []:
            spot.get(name).problem(
                "POLICY_SELECTOR_EMPTY",
                f"{name}: [] would select every call",
                f"name {name}, or leave the member out",
            )
    if not given and spot.get("decision").value == "allow":
        spot.problem(
            "POLICY_ALLOWS_ALL",
            "this rule selects every call and allows it, whatever comes after it",
            "say which calls; for all of them write tools: '*:*'",
        )


def _chain(spot: Spot, approvers: _Approvers) -> Iterator[Approver | RuleApprover]:
    person_before = False
    known = {"operator": OPERATOR, **approvers}
    for element in spot.elements():
        name = element.text("")
        approver = known.get(name)
        if approver is None:
            element.problem(
                "POLICY_APPROVER_UNKNOWN",
                f"there is no approver {name!r}",
                f"known are {', '.join(sorted(known))}",
            )
            continue
        if isinstance(approver, RuleApprover) and person_before:
            element.problem(
                "POLICY_CHAIN_ORDER",
                f"the rule {name!r} stands after a person, whose silence it would turn into a yes",
                "put rules before persons",
            )
        person_before = person_before or isinstance(approver, Approver)
        yield approver


def _approver(name: str, spot: Spot) -> Approver | RuleApprover:
    kind = spot.get("kind").text("", among=("person", "rule"), required=True)
    if kind == "rule":
        spot.members({"kind", "description", "cases", "otherwise"})
        return RuleApprover(
            name,
            tuple(_case(case) for case in spot.get("cases").elements()),
            cast(Answer, spot.get("otherwise").text("escalate", among=_ANSWERS)),
        )
    spot.members({"kind", "description", "people", "timeout_s"})
    timeout = spot.get("timeout_s").number(86_400, above=0, most=_YEAR_S)
    people = spot.get("people")
    return Approver(name, people.texts(least=1) if people.given else (name,), timeout)


def _case(spot: Spot) -> Case:
    spot.members({"when", "decision", "reason"})
    return Case(
        tuple(_condition(condition) for condition in spot.get("when").elements(least=1)),
        cast(Answer, spot.get("decision").text("reject", among=_ANSWERS, required=True)),
        spot.get("reason").text(""),
    )


def _condition(spot: Spot) -> Condition:
    comparisons = {*COMPARISONS, "exists"}
    spot.members({"pointer", *comparisons})
    pointer = spot.get("pointer").text("", required=True)
    if pointer and not pointer.startswith("/"):
        spot.get("pointer").problem(
            "POLICY_POINTER", f"{pointer!r} is no JSON pointer", "write /amount or /items/0/price"
        )
    named = [name for name, _ in spot.items() if name in comparisons]
    if len(named) != 1:
        spot.problem(
            "POLICY_CONDITION",
            "a condition has exactly one comparison",
            f"one of {', '.join(sorted(comparisons))}",
        )
        return Condition(pointer, "exists", False)
    return Condition(pointer, named[0], _comparand(named[0], spot.get(named[0])))


def _comparand(comparison: str, spot: Spot) -> Any:
    match comparison:
        case "equals":
            return spot.value
        case "oneOf":
            return tuple(element.value for element in spot.elements(least=1))
        case "matches":
            return spot.glob()
        case "exists":
            return spot.flag()
    return spot.number(0)


def _budgets(spot: Spot) -> dict[Spender, Budget]:
    spot.members(set(_SPENDERS))
    budgets: dict[Spender, Budget] = {}
    for spender, budget in spot.items():
        # What agents ask of models outside runs is not counted: a limit would not hold.
        members = ("tool_calls", "wall_time_s") if spender == "agent" else MEMBERS
        budget.members(set(members))
        limits: dict[str, Any] = {}
        for name in members:
            limit = budget.get(name)
            if not limit.given:
                continue
            fraction = name in ("wall_time_s", "cost_usd")
            limits[name] = limit.number(0, above=0) if fraction else limit.whole()
        budgets[cast(Spender, spender)] = Budget(**limits)
    return budgets


def _egress(spot: Spot) -> EgressRules:
    spot.members({"machine", "intranet", "hosts"})
    hosts = spot.get("hosts")
    hosts.members(set(_LEVELS))
    intranet = spot.get("intranet")
    return EgressRules(
        machine=spot.get("machine").globs(),
        intranet=intranet.globs() if intranet.given else INTRANET,
        hosts={cast(Egress, level): listed.globs() for level, listed in hosts.items()},
    )
