"""``dcf memory observations render``: observations as a section of a Markdown file."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.memory.observations import ObservationsQuestion, observation_entry
from dcf.cli.memory.opening import opened
from dcf.cli.memory.project import current_project
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NotSo
from dcf.cli.whole_file import whole_file
from dcf.cli.wording import counted
from dcf.memory import (
    ContextSetting,
    Filter,
    InvalidEntry,
    Memory,
    Section,
    project_of_runs,
    with_section,
)
from dcf.regular_file import read_regular

_MODE = 0o666


@dataclass(frozen=True, slots=True)
class RenderOrder:
    """Which observations go into which ``file``, of at most ``tokens`` (None: as many as agents are
    told), also those that a model found, if they are ``extracted``; with ``check`` it is only said
    whether they stand there."""

    file: Path
    asked: ObservationsQuestion
    tokens: int | None = None
    check: bool = False
    extracted: bool = False


async def render_observations(settings: Settings, order: RenderOrder) -> Answer:
    """Write the section of the file, or say whether it is as it would be written. Raises BadInput,
    NotSo, OSError, which names the file."""
    which, full = order.asked.filter(), order.asked.format == "full"
    # A link stays one: what it names is written.
    file = order.file.resolve()
    before = read_regular(file) if file.exists() else None
    setting = ContextSetting.from_env(settings.env)
    most = setting.details_tokens if full else setting.index_tokens
    async with opened(settings) as memory:
        which = replace(
            which,
            projects=which.projects or await _projects(memory, settings),
            extracted=None if order.extracted else False,
        )
        by_model = replace(which, extracted=True)
        passed = () if order.extracted else await memory.observations.list(by_model, limit=1)
        section = await memory.contexts.section(
            which,
            tokens=most if order.tokens is None else order.tokens,
            rows=order.asked.limit,
            full=full,
        )
    try:
        after = with_section(before or b"", section.text)
    except InvalidEntry as invalid:
        raise BadInput(one.at(file=str(order.file)) for one in invalid.problems) from invalid
    if before != after and not order.check:
        _write(file, before, after)
    answer = _answer(order, which, section, is_same=before == after)
    hint = "What a model found is left out; --extracted writes it, too."
    return replace(answer, show=[*answer.show, hint]) if passed else answer


async def _projects(memory: Memory, settings: Settings) -> list[str]:
    """This project: the folder of the memory's agent, and that in which runs are worked on from
    here, where it is another one."""
    project = await current_project(memory)
    here = str(Path.cwd()) if project is None else project.path
    return sorted({here, project_of_runs(settings.generated) or here})


def _write(file: Path, before: bytes | None, after: bytes) -> None:
    """Raises NotSo where somebody else has written the file meanwhile."""
    hint = "nothing was written; say it again"
    meanwhile = NotSo("CLI_SECTION", f"{file} was changed meanwhile", hint)
    try:
        with whole_file(file, overwrite=before is not None) as stream:
            stream.write(after)
            os.fchmod(stream.fileno(), _mode(file))
            if before is not None and read_regular(file) != before:
                raise meanwhile
    except FileExistsError as error:
        # Or a file stands where the folder should be.
        raise (meanwhile if file.exists() else error) from error


def _mode(file: Path) -> int:
    """Who may read it: as before, or as any new file."""
    if file.exists():
        return stat.S_IMODE(file.stat().st_mode)
    mask = os.umask(0o077)
    os.umask(mask)
    return _MODE & ~mask


def _answer(order: RenderOrder, which: Filter, section: Section, *, is_same: bool) -> Answer:
    fields: dict[str, Any] = {
        "file": str(order.file),
        "projects": list(which.projects),
        "observations": [observation_entry(one) for one in section.told],
        "left_out": section.left_out,
        "text": section.text,
    }
    told = counted(len(section.told), "observation", "observations")
    show = [f"{order.file}: {told}"]
    if section.left_out:
        show.append(f"{section.left_out} more did not fit; --budget makes room.")
    if is_same:
        return Answer(fields, [*show, "Nothing to change."], "unchanged")
    if not order.check:
        return Answer(fields, show, "rendered")
    message = f"{order.file} does not say what the observations say now"
    note = ErrorNote("section_outdated", message, "the same command without --check writes it")
    return Answer(fields, show, "outdated", note, FAILED)
