"""``dcf companion``: one companion host in the foreground."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import dataclass, replace

from dcf.cli.agents_home import demand_agents_home
from dcf.cli.answer import Answer
from dcf.cli.exits import INTERRUPTED
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.model_check import demand_models
from dcf.cli.patience import Patience
from dcf.cli.redis_access import find_redis
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.worker import post_of
from dcf.sessions.companions import HostConfig, serve_companions

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HostOrder:
    """The command line of ``dcf companion``."""

    most: int
    session_id: str | None
    pool: str
    lease_s: float
    name: str | None
    attached: bool
    as_json: bool


async def host(order: HostOrder, settings: Settings) -> Answer:
    """Serve companions until told to stop."""
    log_to_stderr(settings.log_level)
    demand_models(settings)
    await demand_agents_home(settings)
    address = await find_redis(settings, Screen(as_json=True), Patience(log.warning))
    post = replace(
        post_of(settings, address.url, order.name, order.pool, order.lease_s),
        attached=order.attached,
    )

    def ready() -> None:
        line = {
            "event": "ready",
            "host": post.name,
            "companions": order.most,
            "session": order.session_id,
            "pool": order.pool,
            "generated": str(settings.generated),
            "pid": os.getpid(),
            "agents": settings.skills is not None,
        }
        # With --json stdout carries the one document at the end.
        print(json.dumps(line), file=sys.stderr if order.as_json else sys.stdout, flush=True)

    config = HostConfig(order.most, order.session_id)
    orderly = await serve_companions(post, config, on_ready=ready)
    return Answer(
        {"host": post.name, "drained": orderly},
        status="drained" if orderly else "interrupted",
        exit_code=0 if orderly else INTERRUPTED,
    )
