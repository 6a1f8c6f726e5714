"""``dcf retrieval migrate``."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, INTERRUPTED
from dcf.cli.memory.opening import opened, person, source_in
from dcf.cli.retrieval.opening import file_folder, memory_file, memory_settings, open_lasting
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, listed
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.retrieval import (
    Migrated,
    MigratedDocuments,
    migrate,
    migrate_documents,
    projects_of,
    where_of_url,
)

_NOTED = "migrations"
"""A file of the home with a place in each line: what is forgotten may still be there."""
_ALL = 1_000_000
_LASTING = ("sqlite", "file", "postgres")
_URLS = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Staying:
    """A ``memory`` that is left, by its path, and how many ``playbooks`` it has."""

    memory: str
    playbooks: int

    @property
    def told(self) -> str:
        """For people, what that means."""
        had = counted(self.playbooks, "playbook", "playbooks")
        return (
            f"{had}, the observations and the threads of the memory {self.memory} stay there:"
            " questions to the new place do not find them. `dcf memory backup` copies all of it."
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A backend and where it lies. ``name`` says both, without a password; ``switch`` are the
    variables with which DCF uses it."""

    setting: RetrievalSetting
    name: str
    switch: Mapping[str, str]

    @classmethod
    def of(cls, text: str, settings: Settings) -> Place:
        """The place that ``BACKEND``, ``BACKEND:WHERE`` or the URL of a database names. Raises
        BadInput."""
        backend, _, where = text.partition(":")
        if text.startswith(_URLS):
            backend, where = "postgres", text
        if backend == "memory":
            message = "memory ends with its service: nothing can be copied from it or to it"
            raise BadInput([_problem(message, "name sqlite, file or postgres")])
        if backend not in _LASTING:
            hint = f"name one of {', '.join(_LASTING)}, as in file:FOLDER"
            raise BadInput([_problem(f"{backend!r} is no backend", hint)])
        env = dict(settings.env)
        # A path that the environment has is that of the backend that it names.
        if where or backend != (env.get("MEM_BACKEND") or "sqlite"):
            env["MEM_PATH"] = str(Path(where).expanduser()) if where else ""
        if backend == "postgres" and where:
            env["DATABASE_URL"] = where
        setting = RetrievalSetting.from_env({**env, "MEM_BACKEND": backend})
        if backend == "postgres":
            name = f"postgres:{where_of_url(setting.store.database)}"
            return cls(setting, name, {"MEM_BACKEND": backend, "DATABASE_URL": "…"})
        lies = memory_file if backend == "sqlite" else file_folder
        path = str(lies(settings, setting).resolve())
        return cls(setting, f"{backend}:{path}", {"MEM_BACKEND": backend, "MEM_PATH": path})

    def demand_other(self, other: Place) -> None:
        """Raises BadInput where both are one."""
        if (self.name, self.setting.store.database) == (other.name, other.setting.store.database):
            raise BadInput([_problem(f"both are {self.name}", "name two places")])


async def migrate_items(
    settings: Settings, source: str, target: str, roots: Sequence[Path], screen: Screen
) -> Answer:
    """Copy all that was logged, and documents, until Ctrl-C or SIGTERM. Raises BadInput, NotSo,
    UnnamedProjects, a MemoryProblem, a StoreProblem."""
    come, go = await asyncio.to_thread(
        lambda: (Place.of(source, settings), Place.of(target, settings))
    )
    come.demand_other(go)
    named = [*projects_of([*roots], None).roots, *come.setting.projects.roots]
    by = person(f"`dcf retrieval migrate`: copied from {come.name}")
    told = ""

    def tell(text: str) -> None:
        nonlocal told
        told = text
        progress.tell(text)

    try:
        with _ending_on_sigterm(), screen.working(f"copying to {go.name}") as progress:
            async with (
                open_lasting(settings, come.setting, by, make=False) as (items, documents),
                open_lasting(settings, go.setting, by, make=True) as (kept, there),
            ):
                await asyncio.to_thread(_note, settings, (come.name, go.name))
                done = await migrate(items, kept, named, tell)
                read = await migrate_documents(documents, there, by=by, tell=tell)
        staying = await _staying(settings, come, go)
    except asyncio.CancelledError:
        return _interrupted(come, go, told)
    return _answer(come, go, done, read, staying)


async def _staying(settings: Settings, come: Place, go: Place) -> Staying | None:
    """What is told with items of the one place and is not with those of the other: the memory that
    has it is another one then."""
    before, after = (memory_settings(settings, one.setting.store) for one in (come, go))
    path = source_in(before).path.resolve()
    if path == source_in(after).path.resolve() or not await asyncio.to_thread(path.exists):
        return None
    async with opened(before) as memory:
        return Staying(str(path), len(await memory.playbooks.list(limit=_ALL)))


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """SIGTERM cancels this task, as Ctrl-C does."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


def copied_places(settings: Settings) -> tuple[str, ...]:
    """The places that anything was ever copied from or to by this home, as ``Place.name`` has
    them, each once."""
    try:
        text = (settings.home / _NOTED).read_text("utf-8")
    except FileNotFoundError:
        return ()
    return tuple(dict.fromkeys(text.splitlines()))


def _note(settings: Settings, names: Sequence[str]) -> None:
    # Before anything is copied: what a kill leaves there is found, too.
    known = copied_places(settings)
    new = [name for name in names if name not in known]
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (settings.home / _NOTED).open("a", encoding="utf-8") as stream:
        stream.writelines(f"{name}\n" for name in new)


def _interrupted(come: Place, go: Place, told: str) -> Answer:
    reached = f" ({told})" if told else ""
    message = f"interrupted{reached}; what is copied stays, and {come.name} is as it was"
    hint = "run the same command again: it goes on where this one ended"
    note = ErrorNote("interrupted", message, hint)
    return Answer(
        {"from": come.name, "to": go.name}, status="interrupted", error=note, exit_code=INTERRUPTED
    )


def _answer(
    come: Place,
    go: Place,
    done: Sequence[Migrated],
    read: MigratedDocuments,
    staying: Staying | None,
) -> Answer:
    fields: dict[str, Any] = {
        "from": come.name,
        "to": go.name,
        "projects": [asdict(one) for one in done],
        "documents": asdict(read),
        "switch": dict(go.switch),
        "staying": None if staying is None else asdict(staying),
    }
    switch = " ".join(
        f"{name}={value if value == '…' else shlex.quote(value)}"
        for name, value in go.switch.items()
    )
    show = [
        _table(done) if done else f"Nothing was logged in {come.name}.",
        f"Documents: {read.copied:,} copied, {read.there:,} already there",
        *([] if staying is None else [staying.told]),
        f"{come.name} is as it was. DCF uses {go.name} with {switch}",
        "What is logged in the old place meanwhile is not there: end its services, and do this "
        "again to copy the rest.",
    ]
    problems = _problems(done, read)
    if not problems:
        return Answer(fields, show, "migrated")
    fields["problems"] = [one.to_dict() for one in problems]
    left = counted(len(problems), "entry is", "entries are")
    hint = "they are where they were; nothing was overwritten"
    note = ErrorNote("retrieval_not_copied", f"{left} not copied", hint, listed(problems))
    return Answer(fields, show, "incomplete", note, FAILED)


def _table(done: Sequence[Migrated]) -> Table:
    table = Table("project", box=None, pad_edge=False)
    for name in ("copied", "already there", "forgotten there", "forgotten with it"):
        table.add_column(name, justify="right")
    for one in done:
        counts = (one.copied, one.there, one.forgotten, one.given_up)
        table.add_row(one.project, *(f"{count:,}" for count in counts))
    return table


def _problems(done: Sequence[Migrated], read: MigratedDocuments) -> list[Problem]:
    differing = [
        Problem(
            "retrieval_differing",
            f"{item_id} has another content there, or is another project's",
            hint="delete it in one of the two places, if that is wrong",
            file=one.project,
        )
        for one in done
        for item_id in one.differing
    ]
    refused = [
        Problem("retrieval_refused", f"{item_id} cannot be kept: {fault}", file=one.project)
        for one in done
        for item_id, fault in one.refused.items()
    ]
    unread = [
        Problem("retrieval_refused", f"{document_id} cannot be kept: {fault}")
        for document_id, fault in read.refused.items()
    ]
    return differing + refused + unread


def _problem(message: str, hint: str) -> Problem:
    return Problem("CLI_RETRIEVAL", message, hint=hint, file="FROM, TO")
