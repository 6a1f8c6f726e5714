"""``dcf memory doctor``: whether the memory is whole, who uses it, and how it is mended."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from rich.text import Text

from control_plane.embedded import Check
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.check_table import check_table
from dcf.cli.exits import FAILED
from dcf.cli.memory.backups import HEADER, copies_of, is_clear, opens
from dcf.cli.memory.opening import demand_memory, opened, source_in
from dcf.cli.memory.wording import size_text
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import listed
from dcf.cli.wording import counted
from dcf.memory import Memory, MemoryProblem, Source, users_of
from dcf.problem import Problem


async def examine_memory(settings: Settings, screen: Screen, *, rebuild: bool) -> Answer:
    """All that can be said of the memory file; exit code 1 when something is wrong with it.
    With ``rebuild`` the index of search is made anew first."""
    source = source_in(settings)
    demand_memory(source)
    checks = [_file(source), _users(source.path), _encryption(source), _versions()]
    problems: tuple[Problem, ...] = ()
    try:
        async with opened(settings) as memory:
            if rebuild:
                with screen.working("making the index anew"):
                    await memory.search.rebuild()
                    await memory.search.catch_up()
            with screen.working("checking every page and row") as progress:
                problems = (*await memory.check(progress.tell), *await memory.search.limits())
            checks += await _contents(memory)
    except MemoryProblem as refused:
        problems = (refused.problem,)
    wrong = [problem for problem in problems if problem.is_error]
    told = "whole" if not wrong else counted(len(wrong), "fault", "faults")
    checks.append(Check("integrity", not wrong, told, _mend(wrong)))
    checks.append(_backups(settings, source))
    checks += _clear_copies(settings, source)
    fields = {
        "memory": str(source.path),
        "checks": [asdict(check) for check in checks],
        "problems": [problem.to_dict() for problem in problems],
    }
    table = check_table(checks)
    if not wrong:
        warnings = [Text(line, "yellow") for line in listed(problems)]
        return Answer(fields, [table, *warnings, "The memory is whole."])
    note = ErrorNote("memory_faults", f"{source.path}: {told}", _mend(wrong), listed(problems))
    return Answer(fields, [table], "error", note, FAILED)


def _mend(wrong: list[Problem]) -> str:
    """What helps: the index can be made anew, a key given, anything else is restored."""
    codes = {problem.code for problem in wrong}
    if not codes:
        return ""
    if codes == {"memory_search_index"}:
        return "`dcf memory doctor --rebuild-index` makes the index of search anew"
    if codes & {"memory_busy", "memory_key", "memory_cipher_missing", "memory_too_new"}:
        return wrong[0].hint
    return "`dcf memory restore BACKUP` puts a backup in its place, and keeps this file aside"


def _file(source: Source) -> Check:
    sizes = [source.path.stat().st_size]
    wal = source.path.with_name(source.path.name + "-wal")
    found = f"{source.path}, {size_text(sizes[0])}"
    if wal.exists() and wal.stat().st_size:
        found += f", and {size_text(wal.stat().st_size)} not yet merged"
    return Check("file", True, found)


def _users(path: Path) -> Check:
    others = [pid for pid in users_of(path) if pid != os.getpid()]
    if not others:
        return Check("in use", True, "by nobody else")
    named = ", ".join(f"{pid} ({_command(pid)})" for pid in others)
    return Check("in use", True, f"by {counted(len(others), 'process', 'processes')}: {named}")


def _command(pid: int) -> str:
    """The command line of a process, in short; what it was given is not shown."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return "gone"
    names = [word.rpartition("/")[2] for word in words if word and not word.startswith("-")]
    return " ".join(names[:3])[:60] or "unknown"


def _encryption(source: Source) -> Check:
    with source.path.open("rb") as file:
        start = file.read(len(HEADER))
    plain, name = start in (HEADER, b""), "encryption"
    if plain and source.key is not None:
        hint = "unset DCF_MEMORY_KEY, or encrypt it: `dcf memory rekey`"
        return Check(name, False, "the file is in the clear, but DCF_MEMORY_KEY is set", hint)
    if plain:
        return Check(name, True, "none: `dcf memory rekey` encrypts it")
    if source.key is None:
        hint = "set DCF_MEMORY_KEY, if it is encrypted; else restore a backup"
        return Check(name, False, "not in the clear, and DCF_MEMORY_KEY is not set", hint)
    return Check(name, True, "with the key of DCF_MEMORY_KEY")


def _versions() -> Check:
    cipher = "sqlcipher3 is there" if find_spec("sqlcipher3") else "no sqlcipher3"
    return Check("SQLite", True, f"{sqlite3.sqlite_version}, {cipher}")


async def _contents(memory: Memory) -> list[Check]:
    stats = await memory.stats(agents=0, blocks=0)
    counts = ", ".join(f"{kind.count:,} {kind.kind.replace('_', ' ')}" for kind in stats.kinds)
    found = f"version {stats.version}; {counts}"
    return [Check("contents", True, found)]


def _backups(settings: Settings, source: Source) -> Check:
    """The files that a restore could take, which are those with the key of the memory."""
    copies = copies_of(settings, source)
    # To try a key takes a while: the first that it opens is enough.
    tried = 0
    for file in copies:
        if opens(file, source):
            break
        tried += 1
    other = f"; {counted(tried, 'copy has', 'copies have')} another key, or none" * (tried > 0)
    if tried == len(copies):
        hint = "`dcf memory backup` makes one"
        return Check("backups", False, f"none{other}", hint, required=False)
    return Check("backups", True, f"{len(copies) - tried}, the newest {copies[tried]}{other}")


def _clear_copies(settings: Settings, source: Source) -> list[Check]:
    """Copies that anybody can read, of a memory that has a key."""
    clear = [] if source.key is None else list(filter(is_clear, copies_of(settings, source)))
    if not clear:
        return []
    found = f"{counted(len(clear), 'copy', 'copies')} in the clear: {', '.join(map(str, clear))}"
    return [Check("clear copies", False, found, "remove what you need no more", required=False)]
