"""``dcf memory observations export``: observations as lines of JSON, for programs and other
memories."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.memory.observations import ObservationsQuestion
from dcf.cli.memory.opening import opened, source_in
from dcf.cli.memory.wording import size_text
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.cli.whole_file import whole_file
from dcf.cli.wording import counted
from dcf.memory import Filter, line_of
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class LinesOrder:
    """Which observations to write to the file ``out``, or to standard output."""

    asked: ObservationsQuestion
    out: Path | None = None
    overwrite: bool = False


async def export_observations(settings: Settings, order: LinesOrder, screen: Screen) -> Answer:
    """Write the observations, one line each. Raises BadInput, also when the file is there already,
    and OSError, which names the file."""
    which = order.asked.filter()
    if order.out is None:
        # Closed here: who reads standard output may go before the end.
        async with aclosing(_lines(settings, which)) as lines:
            async for line in lines:
                _print(line)
        return Answer()
    out, taken = order.out, BadInput([_is_there(order.out)])
    if out.exists() and not order.overwrite:
        raise taken
    written = 0
    try:
        with (
            whole_file(out, overwrite=order.overwrite) as file,
            screen.working(f"writing {out}") as progress,
        ):
            async with aclosing(_lines(settings, which)) as lines:
                async for line in lines:
                    file.write(line.encode())
                    written += 1
                    progress.tell(f"{out}: {counted(written, 'observation', 'observations')}")
    except FileExistsError as error:
        raise taken from error
    size = out.stat().st_size
    fields = {"file": str(out), "observations": written, "bytes": size}
    told = counted(written, "observation", "observations")
    return Answer(fields, [f"{out}: {told}, {size_text(size)}"], "exported")


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


def _is_there(file: Path) -> Problem:
    hint = "choose another --out, or say --overwrite"
    return Problem("CLI_OUT", "this file is there already", hint=hint, file=str(file))
