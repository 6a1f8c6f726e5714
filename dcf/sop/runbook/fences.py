"""What stands in a fence though it is no code: a text, a tree that is drawn, pseudo code.

Each is told as rows of Markdown with the numbers of their lines, so that it is read as if it stood
there without the fence. What is shown, sent, filled in or put into a file stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from dcf.sop.runbook.answers import ARROW, read_answer, read_otherwise
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.cases import acts, begins
from dcf.sop.runbook.command import read_commands
from dcf.sop.runbook.conditions import opens, read_decision
from dcf.sop.runbook.pseudocode import read_pseudocode
from dcf.sop.runbook.rules import is_rule
from dcf.sop.runbook.wording import is_order, pieces, plain

Rows = list[tuple[int, str]]

_TEXT = frozenset({"", "text", "txt", "plaintext", "plain"})
_WRITTEN = _TEXT | {"markdown", "md", "prompt", "sop"}
_PSEUDOCODE = _TEXT | {"pseudocode", "pseudo", "algorithm", "prompt", "sop"}
_WAY = re.compile(r"\s(?:→|⇒|➔|➜|⟶|-{1,2}>|={1,2}>)\s")
_DRAWN = re.compile(r"[ \t]*(?:[│├└─┌╰┬┴|`+\\][ \t│├└─╰|`+\\_-]*|→\s)\S")
_SIDES = ("|", "+", "│", "┐", "┘")
_MARGIN = re.compile(r"[ \t│├└─┌╰┬┴|`+\\_-]*(?:(?:→|-{1,2}>)\s*)?")
_BORDER = re.compile(r"[┌└╔╚╭╰+][─═+┬┴╤╧-]*[▼▽]?[─═+┬┴╤╧-]*[┐┘╗╝╮╯+]")
_SIDE = re.compile(r"[│║|](?P<said>[^│║|]*)[│║|]")
_DOWN = re.compile(r"[│║|↓▼▽⬇vV]+")
_LIST_LINE = re.compile(r"\s*(?:[-*+]|[0-9]{1,4}[.)])\s+\S")
_BARE_BOX = re.compile(r"(?P<margin>\s*)(?P<box>\[[ xX]?\]\s+\S)")
_FILLED_IN = re.compile(r"\[(?![ xX]?\])[^\]\n]{1,80}\](?!\()|<[^<>\n]{1,80}>|\{\{|_{3,}")
_FIELD = re.compile(r"\s*[-*]?\s*[*_\"]{0,3}[\w.-]+(?: [\w.-]+){0,2}[*_\"]{0,3}:(?:\s|$)")
_SHOWN = re.compile(
    r"\b(?:examples?|samples?|templates?|outputs?|looks? like|formats?|messages?|e-?mails?"
    r"|(?:reply|respond|answer) with|beispiele?|vorlagen?|ausgaben?|nachricht(?:en)?|exemples?"
    r"|modèles?|sorties?|ejemplos?|plantillas?|salidas?|mensajes?)\b|\be\.g\.",
    re.IGNORECASE,
)
_PUT = re.compile(
    r"\b(?:copy|paste|post|send|publish|add|insert|append|put|set|write|fill|create|say|tell|save)"
    r"\b|\.(?:md|txt|rst|ya?ml|json|toml|ini|cfg|conf|sh|py)\b",
    re.IGNORECASE,
)
"""What stands below a sentence with one of these is put somewhere, or said to somebody."""
_LEVEL = re.compile(
    r"(?:p|s|sev|severity|prio|priority|level|l|tier|stufe|niveau|nivel)[ -]?[0-9]"
    r"|critical|major|minor|urgent|emergency|high|medium|moderate|low|warning|info(?:rmational)?"
    r"|kritisch|hoch|mittel|niedrig|critique|élevée?|moyenne?|faible|crític[oa]|alt[oa]|medi[oa]"
    r"|baj[oa]",
    re.IGNORECASE,
)
_RUNG = re.compile(
    r"\W*(?P<level>[A-Za-zÀ-ÿ][\w /()-]{0,40}?)[*_ ]*"
    rf"(?P<mark>{ARROW}|:|=|\s[-–—]\s)\s*(?P<then>\S.*)"
)
_MOST = 0.6


def told_rows(block: Block, read: Callable[[str, int], list[Block]], above: Sequence[str]) -> Rows:
    """The rows of Markdown that a fence tells; none where it is code, output or something to
    send. ``above`` are the sentence before it and the headings over it, ``read`` reads Markdown."""
    language = block.info.lower()
    rows = [(line, row) for line, row in block.lines[1:-1] if row.strip()]
    if not rows or language not in _WRITTEN | _PSEUDOCODE:
        return []
    if language in _TEXT and _is_tree([row for _, row in rows]):
        return list(_undrawn(rows))
    if _is_shown(above) or _is_form([row for _, row in rows]):
        return []
    if language in _PSEUDOCODE and (found := read_pseudocode(rows, language not in _WRITTEN)):
        return found
    if language in _TEXT and (found := _ladder(rows) or _flow(rows) or _boxes(rows)):
        return found
    return _text(block, language, read)


def _is_shown(above: Sequence[str]) -> bool:
    return bool(above) and (bool(_PUT.search(above[0])) or any(map(_SHOWN.search, above)))


def _is_form(rows: Sequence[str]) -> bool:
    """Whether much of it is still to be filled in, or it consists of fields with values."""
    open_rows = sum(bool(_FILLED_IN.search(row)) for row in rows)
    return 3 * open_rows >= len(rows)


def _text(block: Block, language: str, read: Callable[[str, int], list[Block]]) -> Rows:
    """A text with headings, items or orders."""
    rows = [
        (line, _BARE_BOX.sub(r"\g<margin>- \g<box>", row, count=1)) for line, row in block.lines
    ][1:-1]
    text = "\n".join(row for _, row in rows)
    if language in _TEXT and read_commands(text, "", block.line):
        return []
    inner = list(_all(read(text, block.line + 1)))
    items = [one for one in inner if one.kind == "item"]
    said = [one for one in inner if one.kind == "text"]
    orders = [one for one in items if _tells(one)]
    fields = [row for one in said for _, row in one.lines if _FIELD.match(row)]
    if len(fields) > len(rows) * (1 - _MOST):
        return []
    if len(orders) > 1 and len(orders) >= _MOST * len(items):
        return rows
    sentences = [one.text for block in said for one in pieces(block.lines)]
    told = sum(map(is_order, sentences))
    return rows if not items and told > 1 and told >= _MOST * len(sentences) else []


def _tells(item: Block) -> bool:
    text = item.children[0].text if item.children and item.children[0].kind == "text" else ""
    if item.is_checkbox or acts(text) or is_rule(text):
        return True
    return bool(item.number) and begins(text)


def _all(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        yield from _all(block.children)


# What is drawn


def _is_tree(rows: Sequence[str]) -> bool:
    """Whether a tree decides, and is none of files or services."""
    rows = [row for row in rows if _MARGIN.sub("", row, count=1).strip()]
    if any(row.rstrip().endswith(_SIDES) for row in rows):
        return False  # boxes, or the table that a program prints
    drawn = sum(bool(_DRAWN.match(row) or _WAY.search(row)) for row in rows)
    return len(rows) < 2 * drawn and any(map(_decides, rows))


def _decides(row: str) -> bool:
    drawn = _MARGIN.match(row)
    said = row[drawn.end() :].strip() if drawn else row
    if "?" in said or read_answer(said) is not None:
        return True
    return (opens(said) and " " in said) or read_otherwise(said) is not None


def _undrawn(rows: Rows) -> Iterator[tuple[int, str]]:
    """A tree that is drawn, as a list in a list; the root that only tells is the text over it."""
    drawn = [(line, _MARGIN.match(row), row) for line, row in rows]
    ends = [(line, one.end() if one else 0, row) for line, one, row in drawn]
    found = [(line, margin, row[margin:].strip()) for line, margin, row in ends]
    found = [one for one in found if one[2]]
    roots = [margin for _, margin, _ in found if margin <= found[0][1]]
    first = found[0][2]
    is_over = len(roots) == 1 and not _decides(first) and not is_order(first)
    margins: list[int] = []
    for at, (line, margin, said) in enumerate(found):
        while margins and margins[-1] >= margin:
            margins.pop()
        inside = at + 1 < len(found) and found[at + 1][1] > margin
        if inside and opens(said) and read_decision(said) is None:
            said = f"{said.rstrip(':')}:"
        if is_over and not margins:
            yield line, f"{said.rstrip(':')}:"
        else:
            mark = "" if _LIST_LINE.match(said) else "- "
            yield line, f"{'    ' * (len(margins) - is_over)}{mark}{said}"
        margins.append(margin)


def _ladder(rows: Rows) -> Rows:
    """What is done at each of several levels: ``P1 → page the duty lead``."""
    rungs = [_RUNG.fullmatch(row.strip()) for _, row in rows]
    told = [one for one in rungs if one is not None and begins(one["then"])]
    if len(rows) < 2 or len(told) < _MOST * len(rows) or not all(rungs):
        return []
    if not all(one is not None and _LEVEL.match(one["level"]) for one in rungs):
        return []
    return [
        (line, f"- If {one['level'].strip()}: {one['then']}")
        for (line, _), one in zip(rows, rungs, strict=True)
        if one is not None
    ]


def _flow(rows: Rows) -> Rows:
    """Orders with arrows between them, in rows or below one another."""
    found = [
        (line, f"- {part.strip()}")
        for line, row in rows
        if not _DOWN.fullmatch("".join(row.split()))
        for part in re.split(rf"\s{ARROW}\s", row)
        if part.strip()
    ]
    split = len(rows) == 1 or len(found) < len(rows)
    return found if split and len(found) > 2 and _are_orders(found) else []


def _boxes(rows: Rows) -> Rows:
    """Boxes below one another, each with an order."""
    found: Rows = []
    opening = False
    for line, row in rows:
        said = row.strip()
        if _BORDER.fullmatch(said):
            opening = True
        elif side := _SIDE.fullmatch(said):
            if side["said"].strip():
                found.append((line, f"{'- ' if opening else '  '}{side['said'].strip()}"))
                opening = False
        elif not _DOWN.fullmatch(said):
            return []
    return found if len(found) > 1 and _are_orders(found) else []


def _are_orders(rows: Rows) -> bool:
    begun = [row[2:] for _, row in rows if row.startswith("- ")]
    told = [row for row in begun if " " in row and is_order(plain(row))]  # ``build`` is a stage
    return len(told) >= _MOST * len(begun)
