"""Rules for the policy that a JSON Schema cannot say: who is asked, and what is selected."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from dcf.problem import Problem
from dcf.skills.authoring.place import Place

OPERATOR = "operator"
"""The approver who is always there."""

_LONGEST = 256
_SELECTORS = ("tools", "skills", "risk")


def check_policy(policy: Place | None, tools: Collection[str] = ()) -> Iterator[Problem]:
    """The approvers that the rules of ``policy`` name, and what they select of ``tools``
    (``server:tool``); the policy may be missing."""
    if policy is None:
        return
    approvers = policy.member("approvers")
    kinds = {name: place.text("kind") for name, place in approvers.members()} if approvers else {}
    rules = policy.member("rules")
    for rule in rules.elements() if rules else ():
        yield from _check_chain(rule, kinds)
        yield from _check_selectors(rule, tools)


def _check_selectors(rule: Place, tools: Collection[str]) -> Iterator[Problem]:
    given = [name for name in _SELECTORS if rule.member(name)]
    if not given and rule.text("decision") == "allow":
        message = "this rule selects every call and allows it, whatever comes after it"
        hint = "say which calls; for all of them write tools: '*:*'"
        yield rule.problem("POLICY_ALLOWS_ALL", message, hint)
    named = rule.member("tools")
    if named is None:
        return
    for place in [named] if isinstance(named.value, str) else named.elements():
        glob = place.value
        # ``*:delete_*`` is meant for tools that may come.
        if not isinstance(glob, str) or not tools or glob.startswith("*"):
            continue
        if len(glob) > _LONGEST:  # said by the shape check; reading it may take for ever
            continue
        if any(fnmatchcase(tool, glob) for tool in tools):
            continue
        near = get_close_matches(glob, sorted(tools), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "globs are over server:tool"
        message = f"{glob!r} selects no tool of the sources"
        yield place.problem("POLICY_SELECTS_NOTHING", message, hint, "warning")


def _check_chain(rule: Place, kinds: dict[str, str | None]) -> Iterator[Problem]:
    chain = rule.member("approvers")
    person = ""
    if chain is not None and chain.value == []:
        message = "nobody is asked, so that every call that the rule selects is rejected"
        hint = "name approvers, or write decision: deny"
        yield chain.problem("POLICY_NO_APPROVER", message, hint, "warning")
    for place in chain.elements() if chain else ():
        name = place.value
        if not isinstance(name, str):
            continue  # said by the shape check
        if name not in kinds and name != OPERATOR:
            near = get_close_matches(name, [*kinds, OPERATOR], n=1)
            hint = f"did you mean {near[0]}?" if near else "define it under approvers"
            message = f"there is no approver {name!r}"
            yield place.problem("POLICY_APPROVER_UNKNOWN", message, hint)
        elif kinds.get(name) == "rule" and person:
            message = f"the rule {name!r} stands after the person {person!r}, so it is never asked"
            hint = "put rules before persons"
            yield place.problem("POLICY_CHAIN_ORDER", message, hint)
        elif kinds.get(name) != "rule":
            person = name
