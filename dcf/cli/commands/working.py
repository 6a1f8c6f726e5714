"""``worker`` and ``companion``: processes that work, in the foreground."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import (
    DEFAULT_LEASE_S,
    DEFAULT_POOL,
    JsonOption,
    LeaseOption,
    PoolOption,
    command,
)
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, INTERRUPTED, OK


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "worker",
        example=["dcf worker --concurrency 16", "dcf worker --handlers shop.tasks:HANDLERS"],
        exits=(OK, BAD_INPUT, ENVIRONMENT, INTERRUPTED),
    )(worker)
    command(
        app,
        "companion",
        example=["dcf companion", "dcf companion --max 50 --session support-42"],
        exits=(OK, BAD_INPUT, ENVIRONMENT, INTERRUPTED),
    )(companion)


def worker(
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=1000, help="States in work at a time.")
    ] = 8,
    pool: PoolOption = DEFAULT_POOL,
    lease_s: LeaseOption = DEFAULT_LEASE_S,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name in leases and history, unique.")
    ] = None,
    handlers: Annotated[
        str | None,
        typer.Option(
            "--handlers",
            metavar="MODULE:ATTRIBUTE",
            help="A dict of async functions by Resource, for Tasks without an agent.",
        ),
    ] = None,
    attached: Annotated[bool, typer.Option("--attached", hidden=True)] = False,
    solo: Annotated[bool, typer.Option("--solo", hidden=True)] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Work on ready states until SIGTERM or Ctrl-C.

    Then it finishes what is in work; a second signal stops at once. Prints one line of JSON when
    it is ready, and logs lines of JSON to stderr.
    """
    from dcf.cli.settings import Settings
    from dcf.cli.worker import WorkerOrder, work
    from dcf.worker import run_to_its_end

    order = WorkerOrder(concurrency, pool, lease_s, name, handlers, attached, solo, as_json)
    return run_to_its_end(work(order, Settings.from_env(os.environ)))


def companion(
    most: Annotated[
        int, typer.Option("--max", min=1, max=2000, help="Companions that it serves at most.")
    ] = 200,
    session: Annotated[
        str | None, typer.Option("--session", help="Serve the companions of this session alone.")
    ] = None,
    pool: PoolOption = DEFAULT_POOL,
    lease_s: LeaseOption = DEFAULT_LEASE_S,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name in history and logs, unique.")
    ] = None,
    attached: Annotated[bool, typer.Option("--attached", hidden=True)] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Serve companions of sessions until SIGTERM or Ctrl-C.

    Then it finishes what is in work and gives its companions back for others to serve; a second
    signal stops at once. Prints one line of JSON when it is ready, and logs lines of JSON to
    stderr.
    """
    from dcf.cli.companion import HostOrder, host
    from dcf.cli.settings import Settings
    from dcf.worker import run_to_its_end

    order = HostOrder(most, session, pool, lease_s, name, attached, as_json)
    return run_to_its_end(host(order, Settings.from_env(os.environ)))
