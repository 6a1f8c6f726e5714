"""How far away a tool server is, and which servers a skill may therefore call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import urlsplit

from dcf.tools.gate.glob import fits
from dcf.tools.gate.grant import Egress
from dcf.tools.server_config import ServerConfig

INTRANET = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "fc00::/7",
    "fe80::/10",
    "*.internal",
    "*.local",
)
"""What counts as the intranet where the policy says nothing: private and link-local networks, and
the names that are never given out on the internet. A name without a dot counts too."""

_ORDER: dict[Egress, int] = {"none": 0, "intranet": 1, "internet": 2}
_Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class EgressRules:
    """Where addresses belong. ``machine`` and ``intranet`` are globs of host names, and networks
    (``10.0.0.0/8``); ``hosts`` limits a level to the hosts listed for it.

    >>> EgressRules().reach(ServerConfig("web", url="http://10.1.2.3:80/mcp"))
    'intranet'
    >>> EgressRules().reach(ServerConfig("web", url="https://api.example.com/mcp"))
    'internet'
    """

    machine: tuple[str, ...] = ()
    intranet: tuple[str, ...] = INTRANET
    hosts: Mapping[Egress, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def reach(self, server: ServerConfig) -> Egress:
        """``none`` for a server on this machine, else ``intranet`` or ``internet``; by its address
        as the registry gives it. A local program (stdio) is on this machine."""
        return "none" if server.transport == "stdio" else self.level(host_of(server))

    def level(self, host: str) -> Egress:
        """The level of a host name or a literal address."""
        address = _address(host)
        if address is None:
            return self._level_of_name(host)
        if address.is_loopback or _listed(host, address, self.machine):
            return "none"
        return "intranet" if _listed(host, address, self.intranet) else "internet"

    def lists(self, server: ServerConfig) -> bool:
        """Whether the server's host is on the list of its level, or the level has no list."""
        if server.transport == "stdio":
            return True
        host = host_of(server)
        listed = self.hosts.get(self.level(host))
        return listed is None or _listed(host, _address(host), listed)

    def trusts_name(self, host: str) -> bool:
        """Whether ``host`` is a name, not an address, that counts as near."""
        return _address(host) is None and self.level(host) != "internet"

    def may_lead_to(self, host: str, resolved: str) -> bool:
        """Whether the name ``host`` may stand for the address ``resolved``. A name of the machine
        or the intranet must not lead outside, whatever a name server says."""
        level = self.level(host)
        if level == "internet":
            return True
        found = self.level(resolved)
        if _is_localhost(host):
            return found == "none"
        return _ORDER[found] <= _ORDER["intranet"]

    def _level_of_name(self, host: str) -> Egress:
        if _is_localhost(host) or _listed(host, None, self.machine):
            return "none"
        plain = "." not in host and not host[:1].isdigit()
        return "intranet" if plain or _listed(host, None, self.intranet) else "internet"


def within(reach: Egress, allowed: Egress) -> bool:
    """Whether ``allowed`` covers a server that is ``reach`` away."""
    return _ORDER[reach] <= _ORDER[allowed]


def host_of(server: ServerConfig) -> str:
    """The host name of a server's address: lower case, without a dot at its end."""
    return (urlsplit(server.url).hostname or "").rstrip(".")


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _address(host: str) -> _Address | None:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _listed(host: str, address: _Address | None, patterns: Iterable[str]) -> bool:
    if address is None:
        return any(fits(host, pattern.lower()) for pattern in patterns)
    networks = (_network(pattern) for pattern in patterns)
    return any(network is not None and address in network for network in networks)


def _network(pattern: str) -> IPv4Network | IPv6Network | None:
    """The network that ``pattern`` names, None when it is a glob of names."""
    try:
        return ip_network(pattern, strict=False)
    except ValueError:
        return None
