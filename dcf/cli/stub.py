"""``dcf stub``: the stub tool server in the foreground."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.problem import Problem
from dcf.tools.stub import CannotServe, Place, WrongPlace, place_from, serve


@dataclass(frozen=True, slots=True)
class StubOrder:
    """The command line of ``dcf stub``; what is None was not given."""

    config: Path | None
    host: str | None
    port: int | None
    path: str | None
    token: str | None
    seed: int | None
    as_json: bool


async def run_stub(order: StubOrder, settings: Settings) -> Answer:
    """Serve until SIGTERM or Ctrl-C. Raises BadInput and EnvironmentTrouble."""
    log_to_stderr(settings.log_level)
    given = order.token or None
    try:
        place = _place(order, settings)
        await serve(
            place,
            seed=order.seed,
            token=given or settings.env.get("DCF_TOKEN"),
            always_ask=given is not None,
            on_ready=lambda line: print_ready(line, as_json=order.as_json),
        )
    except CannotServe as error:
        raise cannot_serve(error) from None
    return Answer({"config": str(place.config)}, status="stopped")


def print_ready(line: Mapping[str, Any], *, as_json: bool) -> None:
    """With ``--json`` stdout carries the one document at the end."""
    print(json.dumps(line), file=sys.stderr if as_json else sys.stdout, flush=True)


def cannot_serve(error: CannotServe) -> BadInput | EnvironmentTrouble:
    """What the user is told."""
    if isinstance(error, WrongPlace):
        hint = error.hint or "see `dcf stub --help`"
        return BadInput([Problem("CLI_STUB_PLACE", str(error), hint=hint)])
    return EnvironmentTrouble("stub_cannot_serve", str(error), "choose another --port; 0: any")


def _place(order: StubOrder, settings: Settings) -> Place:
    usual = place_from(settings.env, settings.stub_config)
    return Place(
        config=(order.config or usual.config).resolve(),
        host=order.host or usual.host,
        port=usual.port if order.port is None else order.port,
        path=order.path or usual.path,
    )
