"""The file of an exported run, read in place of a run in Redis."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from control_plane import BadRunFile, RunExport, ServerError, Store, lay_out, unpack
from dcf.regular_file import read_regular

_ID = re.compile(r"[A-Za-z0-9_-]+")


def is_file_name(given: str) -> bool:
    """Whether somebody who may name a run or a file means a file: what cannot be the id of a run,
    ``x.run.gz`` or ``./x``."""
    return not _ID.fullmatch(given)


def read_run_file(file: Path) -> RunExport:
    """The run in ``file``, checked whole. Raises OSError, and BadRunFile with the file's name."""
    try:
        return unpack(read_regular(file))
    except BadRunFile as error:
        where, why = error.fields["where"], error.fields["why"]
        raise BadRunFile(where=f"{file}: {where}", why=why) from error


async def shelve(export: RunExport) -> Store:
    """A store of its own, in this process, in which the run can be read. Raises BadRunFile."""
    from control_plane.twin import Shelf

    store = Store(Shelf(lambda: time.time_ns() // 1_000))
    with reading_file(export.run.workflow_id):
        await lay_out(store, export)
    return store


@contextmanager
def reading_file(workflow_id: str) -> Iterator[None]:
    """For who reads the documents of a file: BadRunFile where they say what no run's documents say.
    A schema has not all of it, such as the words between which a number stands."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"they are not those of a run ({type(error).__name__}: {error})"
    except ServerError as error:
        # There is no server: the store is in this process.
        why = f"they cannot be put together ({error})"
    else:
        return
    raise BadRunFile(where=f"the documents of {workflow_id}", why=why)
