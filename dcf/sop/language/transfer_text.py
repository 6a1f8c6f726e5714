"""What a step reads and writes: ``\\`order.total\\` as \\`amount\\```."""

from __future__ import annotations

import re

from dcf.sop.conduct import Transfer
from dcf.sop.language.phrase import DOTTED, NAME, Unreadable, bare, split_list
from dcf.sop.language.type_text import print_type, read_type

_AS = re.compile(
    rf"(?P<source>`{DOTTED}`|{DOTTED})(?:\s+as\s+(?P<target>`{NAME}`|{NAME}))?"
    r"(?:\s*\((?P<type>[^()`]+)\))?"
)
_HINT = "names are letters, digits and _, parts joined by dots: `order.total` as `amount`"


def read_transfers(text: str) -> tuple[Transfer, ...]:
    """Separated by commas or ``and``. Raises ``Unreadable``."""
    return tuple(read_transfer(part) for part in split_list(text))


def read_transfer(text: str) -> Transfer:
    """One of them; without ``as`` the target is the last part of the source."""
    found = _AS.fullmatch(text.strip())
    if found is None:
        name = re.sub(r"\W+", "_", bare(text)).strip("_").lower()
        hint = f"write `{name}`; {_HINT}" if re.fullmatch(NAME, name) else _HINT
        if "=" in text:
            hint = 'a fixed value is an input that has a default: `team` (text, default "sales")'
        raise Unreadable("SOP_NAME", f"{text.strip()!r} is no name of a value", hint)
    source = bare(found["source"])
    kind = read_type(found["type"]) if found["type"] else {}
    if kind is None:
        hint = "types are text, number, whole number, yes/no, list of ..., record"
        raise Unreadable("SOP_VALUE", f"there is no type {found['type']!r}", hint)
    return Transfer(source, bare(found["target"] or source.rpartition(".")[2]), **kind)


def print_transfer(transfer: Transfer) -> str:
    """As ``read_transfer`` reads it."""
    named = "" if transfer.is_plain else f" as `{transfer.target}`"
    kind = f" ({print_type(transfer.type, transfer.items)})" if transfer.type else ""
    return f"`{transfer.source}`{named}{kind}"
