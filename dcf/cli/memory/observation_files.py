"""``dcf memory observations export``: observations as lines of JSON, for programs and other
memories."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from dcf.cli.answer import Answer
from dcf.cli.memory.observations import ObservationsQuestion
from dcf.cli.memory.opening import opened, source_in
from dcf.cli.memory.wording import size_text
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.cli.wording import counted
from dcf.memory import Filter, line_of
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class LinesOrder:
    """Which observations to write, of the last ``days`` if that is said, to the file ``out``, or
    to standard output."""

    asked: ObservationsQuestion
    days: int | None = None
    out: Path | None = None
    overwrite: bool = False

    def filter(self) -> Filter:
        """Which ones, for the memory. Raises BadInput with all that is wrong."""
        which = replace(self.asked, days=self.days or 0).filter()
        return which if self.days is not None or self.asked.since else replace(which, since=None)


async def export_observations(settings: Settings, order: LinesOrder, screen: Screen) -> Answer:
    """Write the observations, one line each. Raises BadInput, also when the file is there already,
    OSError, which names the file."""
    which = order.filter()
    if order.out is None:
        # Closed here: who reads standard output may go before the end.
        async with aclosing(_lines(settings, which)) as lines:
            async for line in lines:
                _print(line)
        return Answer()
    if order.out.exists() and not order.overwrite:
        raise BadInput([_is_there(order.out)])
    written = 0
    with (
        _whole_file(order.out, overwrite=order.overwrite) as file,
        screen.working(f"writing {order.out}") as progress,
    ):
        async with aclosing(_lines(settings, which)) as lines:
            async for line in lines:
                file.write(line)
                written += 1
                progress.tell(f"{order.out}: {counted(written, 'observation', 'observations')}")
    size = order.out.stat().st_size
    fields = {"file": str(order.out), "observations": written, "bytes": size}
    told = counted(written, "observation", "observations")
    return Answer(fields, [f"{order.out}: {told}, {size_text(size)}"], "exported")


def _print(line: str) -> None:
    try:
        sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"standard output cannot be written: {error.strerror}"
        raise EnvironmentTrouble("output_unwritable", message, "free some space there") from error


async def _lines(settings: Settings, which: Filter) -> AsyncGenerator[str, None]:
    if not source_in(settings).path.exists():
        return
    async with opened(settings) as memory:
        async for record in memory.observations.records(which):
            yield f"{line_of(record)}\n"


@contextmanager
def _whole_file(file: Path, *, overwrite: bool) -> Iterator[IO[str]]:
    """What is written is there whole at the end, or not at all. Raises BadInput when somebody else
    made the file meanwhile, OSError, which names it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            "w",
            encoding="utf-8",
            newline="\n",
            dir=file.parent,
            prefix=f".{file.name}.",
            delete=False,
        ) as unfinished:
            whole = Path(unfinished.name)
            try:
                yield unfinished
                unfinished.flush()
                if overwrite:
                    whole.replace(file)
                else:
                    os.link(whole, file)
            finally:
                whole.unlink(missing_ok=True)
    except FileExistsError as error:
        raise BadInput([_is_there(file)]) from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


def _is_there(file: Path) -> Problem:
    hint = "choose another --out, or say --overwrite"
    return Problem("CLI_OUT", "this file is there already", hint=hint, file=str(file))
