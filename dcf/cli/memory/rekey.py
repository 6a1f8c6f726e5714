"""``dcf memory rekey``: the memory encrypted, with another key, or in the clear again."""

from __future__ import annotations

import asyncio
import getpass
from dataclasses import replace
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.asking import answer_to, at_terminal, confirm
from dcf.cli.memory.backup import free_name
from dcf.cli.memory.backups import copies_of, is_clear
from dcf.cli.memory.opening import demand_memory, now_ms, source_in
from dcf.cli.memory.wording import stamp
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.memory import Source, rekey

NEW_KEY = "DCF_MEMORY_NEW_KEY"


async def change_key(
    settings: Settings, screen: Screen, *, decrypt: bool, remove_old: bool, sure: bool
) -> Answer:
    """Give the memory another key, or none, once that is confirmed. The file with the old key is
    kept, unless it is to be removed. Raises a MemoryProblem, and then the memory is as it was."""
    source = source_in(settings)
    demand_memory(source)
    key = None if decrypt else _new_key(settings, screen)
    # A key that cannot be is refused before anything is asked.
    replace(source, key=key)
    question = "Take the encryption away?" if decrypt else "Encrypt it with the new key?"
    confirm(question, screen, sure=sure)
    aside = free_name(source, f"before-rekey-{stamp(now_ms())}")
    kept = source.path.with_name(f"{source.path.name}.{aside}")
    with screen.working(f"writing {source.path} anew"):
        await asyncio.to_thread(rekey, source, key, aside=aside)
    next_step = "unset DCF_MEMORY_KEY" if decrypt else f"set DCF_MEMORY_KEY to what {NEW_KEY} has"
    show = [f"{source.path} is {'in the clear' if decrypt else 'encrypted'}.", f"Now {next_step}."]
    if remove_old:
        for end in ("", "-wal", "-shm", "-journal"):
            kept.with_name(kept.name + end).unlink(missing_ok=True)
    else:
        how = "readable by anybody" if source.key is None else "with the old key"
        show.append(f"The file before is kept, {how}: {kept}. Remove it when you have seen that")
        show.append("`dcf memory doctor` finds nothing.")
    clear = [] if decrypt else await asyncio.to_thread(_clear, settings, source)
    if clear:
        show.append("These copies can be read by anybody, without a key:")
        show += [f"  {file}" for file in clear]
    fields = {
        "memory": str(source.path),
        "encrypted": key is not None,
        "kept": None if remove_old else str(kept),
        "clear_copies": [str(file) for file in clear],
        "next": next_step,
    }
    return Answer(fields, show)


def _clear(settings: Settings, source: Source) -> list[Path]:
    return list(filter(is_clear, copies_of(settings, source)))


def _new_key(settings: Settings, screen: Screen) -> str:
    """The new key: from the environment, or asked for twice; never from the command line, which
    others can read. Raises NotSo."""
    given = settings.env.get(NEW_KEY)
    if given:
        return given
    if not at_terminal(screen):
        hint = f"set {NEW_KEY}, or come to a terminal: it asks; --decrypt takes the key away"
        raise NotSo("memory_no_new_key", "no new key is given", hint)
    first = answer_to(getpass.getpass, "New key: ")
    if answer_to(getpass.getpass, "Once more: ") != first:
        raise NotSo("memory_no_new_key", "the two are not the same", "nothing was changed")
    return first
