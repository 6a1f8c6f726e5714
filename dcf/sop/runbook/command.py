"""Commands that stand in a runbook. They are shown, and never run because they stand there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcf.destructive import is_destructive
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.wording import is_order
from dcf.sop.step import Command

_FENCED = re.compile(r"^(?:```|~~~)")
_PROMPT = re.compile(r"(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[^$#\s]{0,40}\s?)?[$%]\s+(?=\S)")
_ROOT_PROMPT = re.compile(r"(?:[\w.-]+@[\w.-]+[^$#\s]{0,40}\s?)?[#>]\s+(?=\S)|PS [^>]{0,80}>\s*")
_SESSION = frozenset({"console", "shell-session", "sh-session", "terminal", "session", "pycon"})
_SHELL = frozenset(
    {
        "bash",
        "sh",
        "shell",
        "zsh",
        "ksh",
        "fish",
        "powershell",
        "ps1",
        "pwsh",
        "cmd",
        "bat",
        "batch",
    }
    | {"sql", "psql", "mysql", "dockerfile-run", "hcl-cli"}
)
_NO_COMMANDS = re.compile(r"[\[{(<|+*=\"']|[0-9]|[A-Z][a-z]|-{2,}|[\w.-]+:(?:\s|$)")
_WORD = re.compile(r"(?:\w+=\S*\s+)*[a-z_./~][\w./~+-]*(?=\s|$|;)")
_SCRIPTS = frozenset({"bash", "sh", "shell", "zsh", "ksh"})
_BLOCK_OF_SHELL = re.compile(
    r"<<|^\s*(?:if|for|while|until|case|function|select)\b|[{(\\]\s*$|^\s*(?:fi|done|esac|\})\s*$"
)
_HERE_DOCUMENT = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")


def read_commands(text: str, info: str, line: int) -> tuple[Command, ...]:
    """The commands in a block of code; ``info`` is the language that its fence names, ``line`` the
    line of its first line. Lines with a prompt are commands, and then the others are output."""
    rows = text.split("\n")
    language = (info.split() or [""])[0].strip("{}").lower()
    prompts = (_PROMPT, _ROOT_PROMPT) if language in _SESSION else (_PROMPT,)
    if any(prompt.match(row.strip()) for prompt in prompts for row in rows):
        return _prompted(rows, prompts, line)
    if language in _SHELL or language in _SESSION:
        return _script(rows, line)
    if language == "" and _looks_like_commands(rows):
        return _script(rows, line)
    return ()


def _prompted(
    rows: list[str], prompts: tuple[re.Pattern[str], ...], line: int
) -> tuple[Command, ...]:
    found: list[Command] = []
    goes_on = False
    for at, row in enumerate(rows):
        body = row.strip()
        prompt = next((match for one in prompts if (match := one.match(body))), None)
        if goes_on and found:
            joined = f"{found[-1].text}\n{body.removeprefix('> ')}"
            found[-1] = Command(joined, found[-1].line, is_destructive(joined))
            goes_on = body.endswith("\\")
        elif prompt is not None:
            said = body[prompt.end() :]
            found.append(Command(said, line + at, is_destructive(said)))
            goes_on = said.endswith("\\")
    return tuple(found)


def _script(rows: list[str], line: int) -> tuple[Command, ...]:
    found: list[Command] = []
    gathered: list[str] = []
    began, closing = line, ""
    for at, row in enumerate(rows):
        body = row.strip()
        if not gathered:
            if not body or body.startswith(("#", "--", "//", "REM ")):
                continue
            began = line + at
        gathered.append(row.rstrip() if closing else body)
        if closing:
            if body != closing:
                continue
            closing = ""
        elif opened := _HERE_DOCUMENT.search(body):
            closing = opened[1]
            continue
        if body.endswith(("\\", "|", "&&", "||")):
            continue
        found.append(_command(gathered, began))
        gathered = []
    if gathered:
        found.append(_command(gathered, began))
    return tuple(found)


def _command(gathered: list[str], line: int) -> Command:
    said = "\n".join(gathered)
    return Command(said, line, is_destructive(said))


def _looks_like_commands(rows: list[str]) -> bool:
    said = [row.strip() for row in rows if row.strip() and not row.strip().startswith("#")]
    return bool(said) and not _NO_COMMANDS.match(said[0]) and bool(_WORD.match(said[0]))


_INLINE = re.compile(r"`([^`\n]{3,400})`")


def inline_commands(text: str, line: int) -> tuple[Command, ...]:
    """Commands between backticks in a sentence: of two words at least, the first a program."""
    found = []
    for inline in _INLINE.finditer(text):
        said = _PROMPT.sub("", inline[1].strip(), count=1)
        if " " in said and _WORD.match(said) and not _NO_COMMANDS.match(said):
            found.append(Command(said, line, is_destructive(said)))
    return tuple(found)


def commented_parts(block: Block) -> list[Block]:
    """A script as its parts, where at least two comments that are orders head commands; else it is
    one. What a shell reads as more than lines (blocks, texts within) is not taken apart."""
    rows = block.lines[1:-1]
    language = (block.info.split() or [""])[0].strip("{}").lower()
    if language not in _SCRIPTS or any(_BLOCK_OF_SHELL.search(row) for _, row in rows):
        return [block]
    begins: list[int] = []
    for at, (_, row) in enumerate(rows):
        has_more = at + 1 < len(rows) and bool(rows[at + 1][1].strip())
        if row.startswith("#") and has_more and comment_over(rows[at : at + 1]):
            begins.append(at)
    # A comment of several lines is one.
    begins = [at for at in begins if at - 1 not in begins]
    told = [at for at in begins if not rows[at + 1][1].startswith("#")]
    if len(told) < 2:
        return [block]
    ends = [*told[1:], len(rows)]
    told[0] = 0
    return [_part(block, rows[at:end]) for at, end in zip(told, ends, strict=True)]


def _part(block: Block, rows: list[tuple[int, str]]) -> Block:
    while not rows[-1][1].strip():
        rows = rows[:-1]
    first, last = block.lines[0][1], block.lines[-1][1]
    lines = [(rows[0][0], first), *rows, (rows[-1][0], last)]
    return Block("code", rows[0][0], rows[-1][0], lines, info=block.info, indent=block.indent)


def comment_over(lines: Sequence[tuple[int, str]]) -> str:
    """The comment over commands, where it says what they are for."""
    said = lines[0][1].strip() if lines else ""
    told = said.lstrip("#").strip()
    return told if said.startswith("#") and is_order(told) else ""
