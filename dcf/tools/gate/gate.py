"""The gate: whether a call may be made, and why."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from dcf.destructive import is_destructive
from dcf.tools.errors import UnknownServer
from dcf.tools.gate.approval import ApprovalRequest, Approver
from dcf.tools.gate.arguments import argument_faults
from dcf.tools.gate.call import Call
from dcf.tools.gate.decision import Decision, Verdict
from dcf.tools.gate.egress import within
from dcf.tools.gate.grant import Egress, Grant, Risk
from dcf.tools.gate.pins import SchemaPin
from dcf.tools.gate.policy import NO_FILE, Policy, Rule
from dcf.tools.gate.ruling import Ruling, by_persons, by_policy, untrusted
from dcf.tools.registry import Registry
from dcf.tools.server_config import ServerConfig

_PREFERRED: tuple[Verdict, ...] = ("allow", "ask", "deny")
_RISKS: tuple[Risk, ...] = ("low", "medium", "high")
_PLACE: dict[Egress, str] = {
    "none": "on this machine",
    "intranet": "on the intranet",
    "internet": "on the internet",
}
_MAY_REACH: dict[Egress, str] = {
    "none": "this machine only",
    "intranet": "the intranet only",
    "internet": "everything",
}


class Gate:
    """Deny by default: a call may pass only where a loaded skill declares its tool.

    >>> registry = Registry([ServerConfig("web", url="http://127.0.0.1:8765/mcp/web")])
    >>> gate = Gate([Grant("web", "search", "skill.research@1.0.0")], servers=registry)
    >>> gate.decide(Call("web", "search", {})).allowed
    True
    >>> gate.decide(Call("web", "delete", {})).rule
    'tool.undeclared'

    ``declared`` are the tools of the whole catalog (``server:tool`` to the skills that declare
    it), for the reason why a call is refused; ``pins`` are the locked schemas by ``server:tool``;
    ``schemas`` are those that the catalog's skills have for the arguments, by ``server:tool``: what
    an untrusted skill calls has to fit one of them, or the pin, besides its own.
    """

    def __init__(
        self,
        grants: Iterable[Grant],
        *,
        servers: Registry,
        policy: Policy = NO_FILE,
        declared: Mapping[str, Sequence[str]] | None = None,
        pins: Mapping[str, SchemaPin] | None = None,
        schemas: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        self._grants: dict[str, list[Grant]] = {}
        for grant in map(policy.weighed, grants):
            self._grants.setdefault(f"{grant.server_id}:{grant.tool_name}", []).append(grant)
        self._servers = servers
        self._policy = policy
        self._declared = declared or {}
        self._pins = pins or {}
        self._schemas = schemas or {}

    def decide(self, call: Call) -> Decision:
        """The ruling on one call, with its reason; never raises.

        Where several skills declare the tool, the most permissive one decides.
        """
        grants = self._grants.get(call.tool, [])
        if not grants:
            return self._undeclared(call)
        try:
            server = self._servers.server(call.server_id)
        except UnknownServer as unknown:
            return _deny(call, grants, "server.unknown", str(unknown))
        if server.refused:
            return _deny(call, grants, "server.refused", server.refused)
        changed = self._changed(call)
        if changed is not None:
            return _deny(call, grants, changed.rule, changed.reason, changed.details)
        if server.runs_commands:
            grants = [replace(grant, risk="high") for grant in grants]
        rulings = [(grant, self._rule(call, grant, server)) for grant in grants]
        rulings.sort(key=lambda pair: (_PREFERRED.index(pair[1].verdict), not pair[0].trusted))
        grant, ruling = rulings[0]
        if ruling.verdict == "deny":
            return _deny_all(call, rulings)
        decision = Decision(
            ruling.verdict,
            ruling.rule,
            ruling.reason,
            call.server_id,
            call.tool_name,
            call.digest,
            (grant.skill,),
            grant.risk,
        )
        return replace(decision, approval=_request(call, decision, ruling.chain, grant))

    def allowed(self) -> tuple[str, ...]:
        """``server:tool (skill, …)`` for every grant, sorted."""
        return tuple(
            f"{tool} ({', '.join(grant.skill for grant in grants)})"
            for tool, grants in sorted(self._grants.items())
        )

    def pinned(self, tool: str) -> bool:
        """Whether the schema of ``server:tool`` is pinned: then ``Call.live`` is needed."""
        return tool in self._pins

    def idempotent(self, tool: str) -> bool:
        """Whether every skill that declares ``server:tool`` says that it may be called again."""
        grants = self._grants.get(tool, [])
        return bool(grants) and all(grant.idempotent for grant in grants)

    def programs(self, decision: Decision) -> tuple[str, ...] | None:
        """The programs that the skills of an allowed call may run; None where its server runs
        no commands."""
        if not self._servers.server(decision.server_id).runs_commands:
            return None
        grants = self._grants.get(f"{decision.server_id}:{decision.tool_name}", [])
        return tuple(
            program for one in grants if one.skill in decision.skills for program in one.commands
        )

    def _undeclared(self, call: Call) -> Decision:
        skills = self._declared.get(call.tool, ())
        if skills:
            reason = f"no loaded skill declares this tool; {' and '.join(skills)} would: load it"
            return _refusal(call, "tool.not_loaded", reason)
        known = {*self._grants, *self._declared}
        near = get_close_matches(call.tool, sorted(known), n=3, cutoff=0.6)
        closest = f"; did you mean {' or '.join(near)}?" if near else ""
        if not self._grants:
            return _refusal(call, "tool.undeclared", f"no skill with tools is loaded{closest}")
        return _refusal(call, "tool.undeclared", f"no loaded skill declares this tool{closest}")

    def _changed(self, call: Call) -> Ruling | None:
        pin = self._pins.get(call.tool)
        if pin is not None and pin.locked and call.gone:
            reason = "the tool was locked, and its server does not offer it any more"
            return Ruling("deny", "schema.gone", reason)
        if pin is None or call.live is None:
            return None
        changes = pin.changes(call.live)
        if not changes:
            return None
        reason = "the schema of the tool has changed since it was locked; look at it, then lock it"
        return Ruling("deny", "schema.changed", f"{reason} again (dcf skills lock)", changes)

    def _rule(self, call: Call, grant: Grant, server: ServerConfig) -> Ruling:
        if not grant.trusted and self._policy.untrusted_skills == "refuse":
            reason = f"{untrusted(grant)}, and the policy refuses such skills (untrustedSkills)"
            return Ruling("deny", "skill.untrusted", reason)
        faults = argument_faults(grant.input_schema, call.arguments) or self._unlike(call, grant)
        if faults:
            reason = f"the arguments do not fit the tool's schema: {'; '.join(faults)}"
            return Ruling("deny", "arguments.invalid", reason)
        for refusal in (
            *self._egress(grant, server),
            *_secrets(grant, server),
            *_programs(call, grant, server),
        ):
            return refusal
        rule = self._policy.rule_for(grant)
        if server.runs_commands and is_destructive(shlex.join(call.arguments["argv"])):
            return _warned(self._ruled(call, grant, rule))
        return self._ruled(call, grant, rule)

    def _ruled(self, call: Call, grant: Grant, rule: Rule | None) -> Ruling:
        if rule is None:
            return Ruling("allow", "skill.declares", f"declared by {grant.skill}")
        ruling = by_policy(rule, call, grant)
        if grant.trusted:
            return ruling
        if ruling.verdict == "allow" and not rule.untrusted:
            # The rules that approved know the arguments, and nothing of who wrote the skill.
            ruling = by_persons(rule, self._policy.at_high_risk, grant)
        return replace(ruling, reason=f"{ruling.reason}; {untrusted(grant)}")

    def _unlike(self, call: Call, grant: Grant) -> tuple[str, ...]:
        """Why the arguments do not fit what is known of the tool, when an untrusted skill may have
        loosened its own schema."""
        if grant.trusted:
            return ()
        known = list(self._schemas.get(call.tool, ()))
        if not known and call.tool in self._pins:
            known = [self._pins[call.tool].input_schema]
        found = [tuple(argument_faults(schema, call.arguments)) for schema in known]
        return min(found, key=len, default=())

    def _egress(self, grant: Grant, server: ServerConfig) -> Iterator[Ruling]:
        rules = self._policy.egress
        reach = rules.reach(server)
        place = f"server {server.id!r} ({server.place}) is {_PLACE[reach]}"
        if not within(reach, grant.egress):
            may = f"{grant.skill} (egress: {grant.egress}) may reach {_MAY_REACH[grant.egress]}"
            may += "" if grant.trusted else f"; {untrusted(grant)}"
            yield Ruling("deny", "egress.forbidden", f"{place}; {may}")
        elif not rules.lists(server):
            reason = f"{place}, and the policy does not list its host there"
            yield Ruling("deny", "egress.host_not_listed", reason)


def _programs(call: Call, grant: Grant, server: ServerConfig) -> Iterator[Ruling]:
    """A command is run only where the skill names its program."""
    if not server.runs_commands:
        return
    argv = call.arguments.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(one, str) for one in argv):
        reason = "a command is a list of texts `argv`, the program first"
        yield Ruling("deny", "arguments.invalid", reason)
    elif argv[0] not in grant.commands:
        named = ", ".join(grant.commands) or "none"
        hint = f"{grant.skill} may run: {named} (permissions.commands)"
        if not grant.trusted:
            hint = f"{untrusted(grant)}, so it may run none"
        yield Ruling("deny", "command.undeclared", f"the program {argv[0]!r} is refused: {hint}")


def _warned(ruling: Ruling) -> Ruling:
    """The person who is asked is told what a command with such words may do."""
    if ruling.verdict != "ask":
        return ruling
    return replace(ruling, reason=f"DESTRUCTIVE, it may not be undone; {ruling.reason}")


def _secrets(grant: Grant, server: ServerConfig) -> Iterator[Ruling]:
    missing = sorted(set(server.secrets) - set(grant.secrets))
    if missing:
        names = ", ".join(missing)
        reason = f"server {server.id!r} is reached with the secrets {names}"
        hint = f"{grant.skill} does not declare them (permissions.secrets)"
        if not grant.trusted:
            hint = f"{untrusted(grant)}, so it gets none"
        yield Ruling("deny", "secret.undeclared", f"{reason}, and {hint}")


def _request(
    call: Call, decision: Decision, chain: tuple[Approver, ...], grant: Grant
) -> ApprovalRequest | None:
    if not chain:
        return None
    first, *rest = chain
    return ApprovalRequest(
        call.server_id,
        call.tool_name,
        dict(call.arguments),
        decision.digest,
        decision.skills,
        decision.risk,
        decision.reason,
        first.name,
        first.people,
        first.timeout_s,
        tuple(rest),
        untrusted=None if grant.trusted else grant.claims,
    )


def _deny_all(call: Call, rulings: list[tuple[Grant, Ruling]]) -> Decision:
    """One denial out of those of every grant; the first gives the code."""
    reasons = list(dict.fromkeys(ruling.reason for _, ruling in rulings))
    details = tuple(line for _, ruling in rulings for line in ruling.details)
    grants = [grant for grant, _ in rulings]
    return _deny(call, grants, rulings[0][1].rule, "; ".join(reasons), details)


def _deny(
    call: Call, grants: Sequence[Grant], rule: str, reason: str, details: tuple[str, ...] = ()
) -> Decision:
    risk = max((grant.risk for grant in grants), key=_RISKS.index)
    skills = tuple(grant.skill for grant in grants)
    refused = _refusal(call, rule, reason)
    return replace(refused, skills=skills, risk=risk, details=details)


def _refusal(call: Call, rule: str, reason: str) -> Decision:
    return Decision("deny", rule, reason, call.server_id, call.tool_name, call.digest)
