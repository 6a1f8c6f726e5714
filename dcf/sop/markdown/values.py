"""Inputs and outputs: ``- `total` (number, optional, default 0): What it costs.``"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from dcf.sop.conduct import ValueType
from dcf.sop.findings import Findings
from dcf.sop.language.phrase import NAME, Unreadable, bare
from dcf.sop.language.type_text import print_type, read_type
from dcf.sop.markdown.blocks import text_blocks
from dcf.sop.markdown.items import Item
from dcf.sop.markdown.literal import print_literal, read_literal
from dcf.sop.procedure import Value

_NAME = re.compile(r"(?P<name>`[^`]*`|\*\*[^*]+\*\*:?|[^(:–—`]+?)\s*(?=$|[(:–—]|\s-\s)")
_ATTRIBUTE = re.compile(
    r"(?P<required>required|mandatory)\b|(?P<optional>optional|not required)\b"
    r"|(?P<default>default(?:s to)?)\s*[:=]?\s*"
    r"|(?P<example>example|e\.g\.|for example|as in)\s*[:=]?\s*|(?P<enum>one of|either)\s*:?\s*"
    r"|(?P<type>[^,;()]+)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s,;]*")
_OR = re.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+")
_HINT = (
    "write `name` (type): description; with required, optional, default 5, example 7 or "
    'one of "a", "b" after the type; types are text, number, integer, yes/no, list of ..., record'
)


def read_value(item: Item, findings: Findings) -> Value | None:
    """The value that a list item describes, with the members in the list below it; None when its
    name cannot be read. All problems go to ``findings``."""
    text = " ".join(block.text for block in text_blocks(item.lines))
    value = findings.attempt(lambda: _read(text), text, item.line)
    members = [read_value(child, findings) for child in item.children]
    if value is None:
        return None
    if item.children and value.type not in ("object", "array"):
        kind: ValueType = "object"
        hint = f"write `{value.name}` ({kind}) or (list of records)"
        message = f"{value.name!r} is of type {value.type}, and has members"
        findings.add("SOP_VALUE", message, hint, item.line)
    found = tuple(member for member in members if member is not None)
    if found and value.type == "array" and value.items is None:
        value = replace(value, items="object")
    return replace(value, members=found, line=item.line)


def _read(text: str) -> Value:
    found = _NAME.match(text)
    name = bare(found["name"].strip("*:")) if found else ""
    if found is None or not re.fullmatch(NAME, name):
        mended = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
        hint = f"write `{mended}`; {_HINT}" if re.fullmatch(NAME, mended) else _HINT
        raise Unreadable("SOP_NAME", f"{name or text!r} is no name of a value", hint)
    rest = text[found.end() :]
    attributes: dict[str, Any] = {}
    if rest.startswith("("):
        attributes, end = _attributes(rest)
        rest = rest[end:]
    description = re.sub(r"^\s*(?:[:–—]|-(?=\s))\s*", "", rest)
    typed = "type" in attributes
    return Value(name, description=description, is_typed=typed, **attributes)


def _attributes(text: str) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = 1
    while True:
        at = _skip(_BETWEEN, text, at)
        if at >= len(text):
            raise Unreadable("SOP_VALUE", f"a ( is not closed in {text!r}", _HINT)
        if text[at] == ")":
            break
        match = _ATTRIBUTE.match(text, at)
        if match is None:
            raise Unreadable("SOP_VALUE", f"{text[at:]!r} is not understood", _HINT)
        at = match.end()
        named = _named(match, text, at)
        at = named.pop("at")
        if set(named) & set(found):
            raise Unreadable("SOP_VALUE", f"{', '.join(named)} is said twice in {text!r}", _HINT)
        found |= named
    if "default" in found:
        found.setdefault("required", False)
    return found, at + 1


def _named(match: re.Match[str], text: str, at: int) -> dict[str, Any]:
    """What one attribute says, and ``at`` where it ends."""
    match match.lastgroup:
        case "required":
            return {"required": True, "at": at}
        case "optional":
            return {"required": False, "at": at}
        case "default" | "example" as name:
            value, at = read_literal(text, at)
            return {name: value, "at": at}
        case "enum":
            values, at = _alternatives(text, at)
            return {"enum": values, "at": at}
    return {**_type(match["type"].strip().lower()), "at": at}


def _alternatives(text: str, at: int) -> tuple[tuple[Any, ...], int]:
    """Values up to the next attribute."""
    value, at = read_literal(text, at)
    values = [value]
    while match := _OR.match(text, at):
        ahead = _ATTRIBUTE.match(text, match.end())
        if ahead is None and text[match.end() : match.end() + 1] in (")", ""):
            break
        if ahead and ahead.lastgroup != "type":
            break
        value, at = read_literal(text, match.end())
        values.append(value)
    return tuple(values), at


def _type(words: str) -> dict[str, Any]:
    found = read_type(words)
    if found is None:
        raise Unreadable("SOP_VALUE", f"there is no type {words!r}", _HINT)
    return found


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def print_value(value: Value) -> str:
    """One line, as ``read_value`` reads it, without the members."""
    said = [print_type(value.type, value.items)]
    if value.required and value.default is not None:
        said.append("required")
    elif not value.required:
        said.append("optional")
    if value.enum:
        said.append(f"one of {', '.join(map(print_literal, value.enum))}")
    for name in ("default", "example"):
        if getattr(value, name) is not None:
            said.append(f"{name} {print_literal(getattr(value, name))}")
    description = f": {value.description}" if value.description else ""
    return f"`{value.name}` ({', '.join(said)}){description}"
