"""Skills that may not go as far as their tools are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from dcf.problem import Problem
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.source_tree import SourceTree
from dcf.skills.authoring.tool_index import ToolIndex

_NEAR = ("localhost", "*.localhost", "*.internal", "*.local")


def check_egress(tree: SourceTree, tools: ToolIndex) -> Iterator[Problem]:
    """A warning for each tool that is on the internet, whatever the environment, of a skill that
    may not go there: the gate would refuse every call."""
    near = _near(tree.policy)
    for skill in tree.skills:
        egress = skill.inside("spec", "permissions", "egress")
        if egress is not None and egress.value == "internet":
            continue
        entries = skill.inside("spec", "tools")
        for entry in entries.elements() if entries else ():
            tool = tools.tools.get(entry.text("ref") or "")
            hosts = _hosts(tree.registry, tool.server_id) if tool else []
            if tool and hosts and all(_is_far(host, near) for host in hosts):
                said = egress.value if egress is not None else "none"
                yield (egress or entry).problem(
                    "SKILL_EGRESS_SHORT",
                    f"egress {said} does not reach {tool.ref}: {hosts[0]} is on the internet",
                    "write egress: internet, or say in policy.yaml (egress) that the host is near",
                    "warning",
                )


def _hosts(registry: Place | None, server_id: str) -> list[str]:
    """The hosts of a server, in every environment; none where one depends on a variable."""
    overrides = registry.member("overrides") if registry else None
    groups = [one for _, one in overrides.members()] if overrides else []
    found = []
    for group in (registry.member("servers") if registry else None, *groups):
        endpoint = group.inside(server_id, "endpoint") if group else None
        if endpoint is None:
            continue
        if not isinstance(endpoint.value, str) or "${" in endpoint.value:
            return []
        try:
            host = urlsplit(endpoint.value).hostname
        except ValueError:
            return []
        if not host:
            return []
        found.append(host.rstrip("."))
    return found


def _near(policy: Place | None) -> Sequence[str]:
    """Globs and networks that the policy calls near, with those that are so by themselves."""
    lists = [policy.inside("egress", name) if policy else None for name in ("machine", "intranet")]
    said = [
        one.value.lower()
        for place in lists
        for one in (place.elements() if place else ())
        if isinstance(one.value, str)
    ]
    return (*_NEAR, *said)


def _is_far(host: str, near: Sequence[str]) -> bool:
    """Whether a host is on the internet for certain."""
    try:
        address = ip_address(host)
    except ValueError:
        return "." in host and not any(fnmatchcase(host, one) for one in near)
    return address.is_global and not any(_holds(one, host) for one in near)


def _holds(network: str, host: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
