"""``dcf retrieval serve``."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dcf.cli.answer import Answer
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.memory.opening import now_ms
from dcf.cli.retrieval.answerer import SWITCH_S
from dcf.cli.retrieval.opening import open_retrieval
from dcf.cli.retrieval.setting import TOKENS, RetrievalSetting
from dcf.cli.retrieval.tending import night_of
from dcf.cli.serve import check_exposed, token_of, warn_of_readers
from dcf.cli.settings import Settings
from dcf.cli.trouble import EnvironmentTrouble
from dcf.memory import Actor
from dcf.retrieval import maintain
from dcf_agents.installation import installed_version

if TYPE_CHECKING:
    from dcf.retrieval.serving import Answerers

_GRACE_S = 10
_BY = Actor("system", "dcf retrieval", "logged over HTTP")
_ANSWERER = (sys.executable, "-P", "-m", "dcf.cli.retrieval.answerer")


async def serve_retrieval(
    settings: Settings,
    setting: RetrievalSetting,
    host: str,
    token_file: Path | None,
    *,
    processes: int,
    as_json: bool,
) -> Answer:
    """Serve until told to stop; of several ``processes`` this one listens and writes, the others
    answer questions. Raises BadInput, EnvironmentTrouble, a MemoryProblem, a StoreProblem."""
    from dcf.retrieval.serving import create_app
    from dcf.tools.serving import CannotServe, Guard, is_loopback, serve_app

    log_to_stderr(settings.log_level)
    sys.setswitchinterval(SWITCH_S)
    token = token_of(token_file, settings)
    # Each token opens something: none of them may be one that can be guessed.
    if token or not setting.projects.tokens:
        check_exposed(host, token)
    if settings.env.get(TOKENS):
        warn_of_readers(Path(settings.env[TOKENS]))
    for one, project in setting.projects.tokens.items():
        check_exposed(host, one, f"{TOKENS}, the line of {project}")
    limits = setting.limits(exposed=not is_loopback(host))
    guard = Guard.from_env(settings.env, host, token)
    served: list[str] = []

    def ready(url: str, port: int) -> None:
        served.append(url)
        line = {"event": "ready", "url": url, "port": port, "pid": os.getpid()}
        about = {
            "backend": setting.backend,
            "roots": list(setting.projects.roots),
            "processes": processes,
        }
        # With --json stdout carries the one document at the end.
        print(json.dumps({**line, **about}), file=sys.stderr if as_json else sys.stdout, flush=True)

    async with (
        open_retrieval(settings, setting, _BY) as retrieval,
        _answerers(setting, processes - 1) as others,
    ):

        async def work() -> None:
            await maintain(retrieval, setting.projects.roots, now_ms(), setting.audit_days)

        night = setting.night
        app = create_app(
            retrieval,
            setting.projects,
            guard,
            limits,
            version=installed_version(),
            backend=setting.backend,
            nightly=None
            if night is None
            else lambda: night_of(settings, setting, night).watch(work),
            answer=None if others is None else others.answer,
            embed=None if others is None else others.vectors,
        )
        try:
            await serve_app(app, host, setting.port, grace_s=_GRACE_S, on_ready=ready)
        except CannotServe as error:
            raise EnvironmentTrouble(error.code, str(error), error.hint) from error
    return Answer({"url": served[0] if served else None}, status="stopped")


@asynccontextmanager
async def _answerers(setting: RetrievalSetting, count: int) -> AsyncIterator[Answerers | None]:
    """So many processes that answer questions; None for none. Raises EnvironmentTrouble."""
    from dcf.retrieval import AnswerersFailed
    from dcf.retrieval.serving import Answerers

    if not count:
        yield None
        return

    def end() -> None:
        # As from outside: what is asked meanwhile is answered first.
        signal.raise_signal(signal.SIGTERM)

    try:
        async with Answerers(_ANSWERER, pickle.dumps(setting), count, end) as others:
            yield others
    except AnswerersFailed as error:
        raise EnvironmentTrouble(error.code, str(error), error.hint) from error
