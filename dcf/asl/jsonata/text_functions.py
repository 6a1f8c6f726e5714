"""Functions of JSONata over texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcf.asl.intrinsics.text import HASHES, digest, read_json
from dcf.asl.jsonata.library import Functions, JException
from dcf.asl.jsonata.native import NativeFunction, current_budget, whole_number
from dcf.asl.jsonata.text import to_text
from dcf.asl.jsonata.value import defined


def _hash(text: Any, algorithm: Any) -> Any:
    if text is None or algorithm is None:
        return None
    if algorithm not in HASHES:
        raise JException("D3137", -1, f"Unsupported algorithm, use one of {', '.join(HASHES)}")
    return digest(text, algorithm)


def _parse(text: Any) -> Any:
    if text is None:
        return None
    try:
        value = read_json(text)
    except ValueError as error:
        raise JException("D3137", -1, f"Invalid JSON: {error}") from error
    return defined(value)


def _string(value: Any, prettify: Any) -> Any:
    if value is None:
        return None
    return to_text(value, current_budget(), "  " if prettify is True else "")


def _pad(text: Any, width: Any, filler: Any) -> Any:
    if text is None or width is None:
        return text
    missing = abs(whole_number(width)) - len(text)
    if missing <= 0:
        return text
    current_budget().grow(missing + len(text))
    fill = filler or " "
    padding = (fill * (missing // len(fill) + 1))[:missing]
    return text + padding if width > 0 else padding + text


def _join(texts: Any, separator: Any) -> Any:
    if texts is None:
        return None
    between = separator or ""
    current_budget().grow(sum(map(len, texts)) + len(between) * max(len(texts) - 1, 0))
    return between.join(texts)


def _replace(text: Any, pattern: Any, replacement: Any, limit: Any) -> Any:
    if text is None or pattern is None:
        return None
    if limit is not None and limit < 0:
        raise JException("D3011", -1)
    if not isinstance(pattern, str):
        count = 0 if limit is None else whole_number(limit)
        if limit is not None and count == 0:
            return text
        return pattern.sub(_replacer(replacement), text, count)
    if not pattern:
        raise JException("D3010", -1)
    count = text.count(pattern) if limit is None else min(whole_number(limit), text.count(pattern))
    if isinstance(replacement, str):
        current_budget().grow(len(text) + count * max(len(replacement) - len(pattern), 0))
        return text.replace(pattern, replacement, count)
    parts = text.split(pattern, count)
    replace = _replacer(replacement)
    return "".join([parts[0], *[f"{replace(_Literal(pattern))}{part}" for part in parts[1:]]])


class _Literal:
    """A match of a plain text, as a regular expression gives its matches."""

    def __init__(self, text: str) -> None:
        self._text = text

    def group(self, _: int = 0) -> str:
        return self._text

    def groups(self) -> tuple[str, ...]:
        return ()


def _replacer(replacement: Any) -> Callable[[Any], str]:
    """What a match becomes: ``$0`` the match, ``$1`` a group, ``$$`` a dollar; or a function."""

    def fill(found: Any) -> str:
        return _filled(replacement, found)

    def call(found: Any) -> str:
        groups = [found.group(0), *found.groups()]
        text = Functions.func_apply(replacement, [{"match": found.group(0), "groups": groups[1:]}])
        if not isinstance(text, str):
            raise JException("D3012", -1)
        return text

    return fill if isinstance(replacement, str) else call


def _filled(template: str, found: Any) -> str:
    groups = found.groups()
    pieces: list[str] = []
    position = 0
    while True:
        dollar = template.find("$", position)
        if dollar < 0:
            return "".join([*pieces, template[position:]])
        pieces.append(template[position:dollar])
        position = dollar + 1
        if template.startswith("$", position):
            pieces.append("$")
            position += 1
            continue
        digits = 0
        while digits < len(str(len(groups))) and template[position + digits :][:1].isdecimal():
            digits += 1
        while digits > 1 and int(template[position : position + digits]) > len(groups):
            digits -= 1
        if digits == 0:
            pieces.append("$")
            continue
        number = int(template[position : position + digits])
        if number <= len(groups):
            pieces.append(found.group(number) or "")
        position += digits


def _lowercase(text: Any) -> Any:
    return None if text is None else text.lower()


TEXT_FUNCTIONS = (
    NativeFunction("hash", "<ss?:s>", _hash),
    NativeFunction("parse", "<s?:x>", _parse),
    NativeFunction("string", "<x-b?:s>", _string),
    NativeFunction("pad", "<s-ns?:s>", _pad),
    NativeFunction("join", "<a<s>s?:s>", _join),
    NativeFunction("replace", "<s-(sf)(sf)n?:s>", _replace),
    NativeFunction("lowercase", "<s-:s>", _lowercase),
)
