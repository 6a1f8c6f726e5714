"""What the classes and the style of an HTML page say that a text is: code, bold, to be ticked off,
a step on a card. Pages that people write or export say so in no other way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from dcf.sop.runbook.block import Block

Look = Literal["code", "bold", "pre"]
_MOST_STYLE = 200_000
"""Characters of style sheets that are read."""
_RULE = re.compile(r"(?P<names>[^{}]{1,2000})\{(?P<body>[^{}]{0,5000})\}")
_CLASS = re.compile(r"(?:^|,)\s*(?:[a-z]{1,10})?\.(?P<name>[\w-]+)\s*(?=,|$)")
_MONOSPACE = re.compile(
    r"font(?:-family)?\s*:[^;]*(?:\bmono|courier|consolas|menlo|monaco)", re.IGNORECASE
)
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)
_PREFORMATTED = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE)
_INLINE_CODE = re.compile(
    r"(?<![\w-])(?:mono(?:space)?|inline-?code|code|cmd|command)(?![\w-])", re.IGNORECASE
)
_CODE_BLOCK = re.compile(
    r"(?<![\w-])(?:(?P<commands>cmd|command|terminal|console|shell)|code|snippet)"
    r"(?:-?(?:block|box|lines?|snippet|area|window))?(?![\w-])",
    re.IGNORECASE,
)
_TICKED = re.compile(
    r"(?<![\w-])(?:check-?list(?:-item)?|task-?list(?:-item)?|contains-task-list"
    r"|to-?do(?:-?(?:list|item))?|inline-task-list|check-?box(?:-(?:on|off))?)(?![\w-])",
    re.IGNORECASE,
)
_CARD = re.compile(
    r"(?<![\w-])(?:step|(?:step|task|procedure)-(?:item|card|row)|procedure-step)(?![\w-])",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?<![\w-])(?:breadcrumbs?|breadcrumb-(?:section|nav)|wy-breadcrumbs|page-metadata|toc-macro"
    r"|site-?sub|noprint|sidebar)(?![\w-])",
    re.IGNORECASE,
)
_ASIDE_ROLES = frozenset({"navigation", "contentinfo", "search"})
_SPLIT = frozenset({"bulleted-list", "numbered-list", "to-do-list"})
_COUNTED = re.compile(r"(?:^|\s)c[0-9]{1,3}(?=\s|$)")
_NESTED = re.compile(r"(?<![\w-])lst-kix_\w+-(?P<level>[0-9])(?![\w-])")


class Style:
    """Rules of style sheets for single classes."""

    def __init__(self) -> None:
        self._looks: dict[str, set[Look]] = {}
        self._left = _MOST_STYLE

    def read(self, sheet: str) -> None:
        """Add the rules of ``sheet``."""
        sheet, self._left = sheet[: self._left], max(self._left - len(sheet), 0)
        for rule in _RULE.finditer(sheet):
            found = _looks_in(rule["body"])
            for name in _CLASS.finditer(rule["names"].strip()) if found else ():
                self._looks.setdefault(name["name"], set()).update(found)

    def looks(self, attributes: Mapping[str, str]) -> set[Look]:
        """How an element is shown by its classes and its own style."""
        found = _looks_in(attributes.get("style", ""))
        for name in attributes.get("class", "").split():
            found |= self._looks.get(name, set())
        return found


def _looks_in(declarations: str) -> set[Look]:
    patterns: tuple[tuple[Look, re.Pattern[str]], ...] = (
        ("code", _MONOSPACE),
        ("bold", _BOLD),
        ("pre", _PREFORMATTED),
    )
    return {look for look, pattern in patterns if pattern.search(declarations)}


def is_inline_code(classes: str) -> bool:
    """Whether the classes of running text call it code."""
    return bool(_INLINE_CODE.search(classes))


def code_language(classes: str) -> str | None:
    """The language of the code that the classes of an element call it: ``sh`` for commands, empty
    where they do not say; None for what is no code."""
    found = _CODE_BLOCK.search(classes)
    return None if found is None else "sh" * bool(found["commands"])


def is_ticked(attributes: Mapping[str, str]) -> bool:
    """Whether a list, an item or a box in it is to be ticked off."""
    is_box = attributes.get("role") == "checkbox"
    return is_box or bool(_TICKED.search(attributes.get("class", "")))


def is_counted(classes: str) -> bool:
    """Whether a program named the classes by numbers, as Google Docs does: a typeface is then what
    the author chose for this text, and no design of the page."""
    return bool(_COUNTED.search(classes))


def is_aside(attributes: Mapping[str, str]) -> bool:
    """Whether an element is about the page, such as its navigation."""
    named = f"{attributes.get('class', '')} {attributes.get('id', '')}"
    return attributes.get("role") in _ASIDE_ROLES or bool(_ASIDE.search(named))


def is_card(classes: str) -> bool:
    """Whether the classes of an element call it a step."""
    return bool(_CARD.search(classes))


def is_split(attributes: Mapping[str, str], before: Block) -> bool:
    """Whether a list goes on with the one before it: Notion writes one for each item."""
    named = _SPLIT & set(attributes.get("class", "").split())
    if not named or before.kind != "list" or not before.children:
        return False
    return bool(before.children[-1].number) == ("numbered-list" in named)


def depth(classes: str) -> int | None:
    """How deep a list is that stands beside the one that it belongs to, as Google Docs writes
    them; None for other lists."""
    found = _NESTED.search(classes)
    return int(found["level"]) if found else None
