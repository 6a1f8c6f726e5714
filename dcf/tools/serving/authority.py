"""The host and port of a ``Host`` header or an origin, read by their grammar.

A ``Host`` header is ``uri-host [":" port]`` (RFC 9110, 7.2; RFC 3986, 3.2.2 and 3.2.3), without
userinfo, IPv6 in brackets. URL parsers accept more than that, and each means something else by it,
so none of them decides here. Percent-encoding and IPvFuture, which the grammar has, are refused:
nothing that is answered to is spelt so.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

_LONGEST_NAME = 253
_IN_BRACKETS = r"\[(?P<six>[0-9A-Fa-f:.]+)\]"
_NAME = r"(?P<name>[A-Za-z0-9._~!$&'(*+,;=)-]+)"
# Not \d, which are digits of every script; not $, which is before a last line break too.
_AUTHORITY = re.compile(rf"(?:{_IN_BRACKETS}|{_NAME})(?P<colon>:(?P<port>[0-9]{{0,5}}))?\Z")
_ANY_PORT = ":*"


@dataclass(frozen=True, slots=True)
class Authority:
    """``host`` in lower case, without brackets and without the dot that ends a full name; ``port``
    is None where none is given."""

    host: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """What ``text`` names, None when it does not match the grammar."""
        match = _AUTHORITY.match(text)
        if match is None:
            return None
        host = _address(match["six"]) if match["six"] else _name(match["name"])
        port = int(match["port"]) if match["port"] else None
        if host is None or (port is not None and port > 65_535):
            return None
        return cls(host, port)

    @classmethod
    def of_headers(cls, values: Sequence[str]) -> Self | None:
        """What all ``Host`` headers of a request name; None unless there is one, and it is good."""
        return cls.parse(values[0]) if len(values) == 1 else None

    def is_one_of(self, allowed: Sequence[str]) -> bool:
        """Whether it is ``host``, ``host:port``, or with any port ``host:*``."""
        return any(self._is(one) for one in allowed)

    def _is(self, allowed: str) -> bool:
        if allowed.endswith(_ANY_PORT):
            other = Authority.parse(allowed.removesuffix(_ANY_PORT))
            return other is not None and other == Authority(self.host, None)
        return Authority.parse(allowed) == self


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a web page: scheme, host and port."""

    scheme: str
    authority: Authority

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """What an ``Origin`` header names; None for ``null`` and for what is no origin."""
        scheme, between, rest = text.partition("://")
        authority = Authority.parse(rest) if between else None
        return None if authority is None else cls(scheme.lower(), authority)

    def is_one_of(self, allowed: Sequence[str]) -> bool:
        """Whether it is ``scheme://host``, ``scheme://host:port``, or ``scheme://host:*``."""
        same = [one.partition("://") for one in allowed]
        hosts = [rest for scheme, _, rest in same if scheme.lower() == self.scheme]
        return self.authority.is_one_of(hosts)


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        return None


def _name(text: str) -> str | None:
    """A name or an IPv4 address. What some take for an address (``127.1``) is a name, that nobody
    has; an address has no last dot."""
    host = text.lower().removesuffix(".")
    if not 0 < len(host) <= _LONGEST_NAME or host.endswith("."):
        return None
    return None if text.endswith(".") and _ends_in_number(host) else host


def _ends_in_number(host: str) -> bool:
    return host.rpartition(".")[2].isdigit()
