"""Procedures in pseudo code: ``IF … THEN … ELSE …``, ``FOR EACH … DO``, ``WHILE …``, ``STOP``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.sop.runbook.verbs import is_verb

_CONTROL = re.compile(
    r"(?P<word>ELSE\s+IF|ELSEIF|ELIF|IF|WHEN|FOR\s+EACH|FOREACH|FOR\s+ALL|FOR|WHILE)\b\s+"
    r"(?P<head>\S.*?)(?:\s*(?:,\s*)?\b(?:THEN|DO)\b\s*:?|:)\s*(?P<then>.*)",
    re.IGNORECASE,
)
_ELSE = re.compile(r"(?:ELSE|OTHERWISE)\b\s*:?\s*(?P<then>.*)", re.IGNORECASE)
_THEN = re.compile(r"THEN\b\s*:?\s*(?P<then>.*)", re.IGNORECASE)
_OPENS = re.compile(r"(?:ELSE\s+IF|ELSEIF|ELIF|IF|WHEN|FOR|WHILE)\b[^:,]*", re.IGNORECASE)
_END = re.compile(r"(?:END(?:[ _-]?(?:IF|FOR|WHILE|LOOP|EACH))?|FI|DONE)\W*", re.IGNORECASE)
_ELSE_INSIDE = re.compile(r"\s*[,;]?\s+ELSE\s+")
_SYMBOLS = re.compile(r"[{};$=<>|\\]|\w\(|\[\[|^\s*#")
_LEAD = re.compile(r"\s*(?:[-*+]\s+|(?:STEP\s+)?(?P<number>[0-9]{1,3})[.):]\s+)", re.IGNORECASE)
_GO_TO = re.compile(r"\bGO\s?TO\s+(?:STEP\s+)?(?=[0-9])", re.IGNORECASE)
_SHOUTED = re.compile(r"[A-Z]{2,}\b")


def read_pseudocode(rows: list[tuple[int, str]], said_so: bool) -> list[tuple[int, str]]:
    """Rows of pseudo code as lists in a list; none where they are something else. ``said_so``: the
    fence names it, so that the words that control it need not stand in capitals."""
    if sum(bool(_SYMBOLS.search(row)) for _, row in rows) * 4 > len(rows):
        return []
    rows = list(_opened(rows))
    heads = [found["word"] for _, row in rows if (found := _CONTROL.match(_bare(row)))]
    if not heads or not (said_so or any(word.isupper() for word in heads)):
        return []
    margins = {_margin(row) for _, row in rows}
    return list(_flush(rows) if len(margins) == 1 else _indented(rows))


def _opened(rows: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """``rows`` with a colon behind each head that ends with its line, and ``THEN`` inside of it."""
    for at, (line, row) in enumerate(rows):
        following = rows[at + 1][1] if at + 1 < len(rows) else ""
        inside = _margin(following) > _margin(row) or bool(_THEN.match(_bare(following)))
        if inside and _OPENS.fullmatch(_bare(row)) and not _CONTROL.match(_bare(row)):
            yield line, f"{row.rstrip()}:"
        else:
            yield line, f"  {row}" if _THEN.match(_bare(row)) else row


def _margin(row: str) -> int:
    return len(row) - len(row.lstrip())


def _bare(row: str) -> str:
    return _LEAD.sub("", row, count=1).strip()


def _item(row: str, depth: int) -> str:
    lead = _LEAD.match(row)
    mark = f"{lead['number']}." if lead and lead["number"] else "-"
    return f"{'    ' * depth}{mark} {_told(_bare(row))}"


def _indented(rows: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    margins: list[int] = []
    for line, row in rows:
        margin = _margin(row)
        said = _bare(row)
        if _END.fullmatch(said):
            continue
        while margins and margins[-1] >= margin:
            margins.pop()
        yield line, _item(row, len(margins))
        margins.append(margin)


def _flush(rows: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Rows without indentation: what is inside of something ends with its ``END``."""
    ended = any(_END.fullmatch(_bare(row)) for _, row in rows)
    depth = 0
    for line, row in rows:
        said = _bare(row)
        if _END.fullmatch(said):
            depth = max(depth - 1, 0)
            continue
        control, other = _CONTROL.match(said), _ELSE.match(said)
        if _is_else(said):
            depth = max(depth - 1, 0)
        yield line, _item(row, depth)
        found = control or other
        if ended and found and not found["then"]:
            depth += 1


def _is_else(said: str) -> bool:
    return bool(_ELSE.match(said) or re.match(r"EL(?:SE)?IF\b", said, re.IGNORECASE))


def _told(said: str) -> str:
    """A row as a sentence."""
    if control := _CONTROL.match(said):
        return _controlled(control)
    if other := _ELSE.match(said):
        return f"Otherwise, {_order(other['then'])}" if other["then"] else "Otherwise:"
    if then := _THEN.match(said):
        return _order(then["then"])
    return _order(said)


def _controlled(control: re.Match[str]) -> str:
    word = " ".join(control["word"].upper().split())
    head = control["head"].strip()
    then, *others = _ELSE_INSIDE.split(control["then"].strip(), maxsplit=1)
    if word == "WHILE":
        begin = f"Repeat while {head}"
    elif word.startswith("FOR"):
        one = re.sub(r"\s+IN\s+", " in ", re.sub(r"^EACH\s+", "", head), count=1)
        begin = f"For each {one}"
    else:
        case = re.sub(r"\bAND\b", "and", re.sub(r"\bOR\b", "or", re.sub(r"\bNOT\b", "not", head)))
        begin = f"If {case}" if word in ("IF", "WHEN") else f"Otherwise, if {case}"
    if not then:
        return f"{begin}:"
    sentence = f"{begin}, {_order(then).rstrip('.')}"
    return f"{sentence}. Otherwise, {_order(others[0])}" if others else sentence


def _order(said: str) -> str:
    """A row with its first word as in running text, where it is shouted."""
    said = _GO_TO.sub("go to step ", said)
    found = _SHOUTED.match(said)
    if found and is_verb(found[0].lower()):
        return f"{found[0].capitalize()}{said[found.end() :]}"
    return said
