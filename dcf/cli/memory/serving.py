"""``dcf memory serve``: the memory of an experiment for programs in other processes."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.exits import OK
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.scope_nodes import project_named
from dcf.cli.serve import check_exposed, token_of
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.problem import Problem
from dcf_agents.installation import installed_version

_GRACE_S = 10


@dataclass(frozen=True, slots=True)
class ServingOrder:
    """The command line of ``dcf memory serve``. ``files`` is the folder that artifacts lie in."""

    checkpoint: str
    project: str | None
    host: str
    port: int
    token_file: Path | None
    files: Path
    stdio: bool
    as_json: bool


async def serve_experiment(settings: Settings, order: ServingOrder) -> Answer:
    """Serve until told to stop, or until the client leaves. Raises BadInput, EnvironmentTrouble, a
    MemoryProblem."""
    log_to_stderr(settings.log_level)
    if not order.checkpoint or "/" in order.checkpoint:
        message = f"{order.checkpoint!r} names no checkpoint"
        hint = "one word without a slash, as in `exp-1`"
        raise BadInput([Problem("CLI_NODE", message, hint=hint, file="CHECKPOINT")])
    if not order.files.is_dir():
        message = f"there is no folder {order.files}"
        hint = "name the folder that the files of the experiment are in"
        raise BadInput([Problem("CLI_FOLDER", message, hint=hint, file="--files")])
    token = token_of(order.token_file, settings)
    if not order.stdio:
        check_exposed(order.host, token)
    from dcf.mcp.experiment import ExperimentDesk, create_experiment_app, serve_experiment_stdio
    from dcf.tools.serving import CannotServe, Guard, serve_app

    served: list[str] = []

    def ready(url: str, port: int) -> None:
        served.append(url)
        line = {"event": "ready", "url": url, "mcp": f"{url}/mcp", "port": port, "pid": os.getpid()}
        # With --json stdout carries the one document at the end.
        print(json.dumps(line), file=sys.stderr if order.as_json else sys.stdout, flush=True)

    async with opened(settings, make=True) as memory:
        desk = ExperimentDesk(
            memory,
            project_named(settings, order.project),
            order.checkpoint,
            person("served by `dcf memory serve`"),
            settings.env,
            order.files.resolve(),
        )
        version = installed_version()
        if order.stdio:
            left = await serve_experiment_stdio(desk, version=version)
            if not left:
                # Nothing is open but the thread that waits for input.
                os._exit(OK)
            # Whatever is on standard output is the client's.
            return Answer()
        guard = Guard.from_env(settings.env, order.host, token)
        app = create_experiment_app(desk, guard, version=version)
        try:
            await serve_app(app, order.host, order.port, grace_s=_GRACE_S, on_ready=ready)
        except CannotServe as error:
            raise EnvironmentTrouble(error.code, str(error), error.hint) from error
    return Answer({"url": served[0] if served else None}, status="stopped")
