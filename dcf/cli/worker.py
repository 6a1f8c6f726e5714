"""``dcf worker``: one worker process in the foreground."""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from dcf.cli.age import read_retention
from dcf.cli.agents_home import demand_agents_home
from dcf.cli.answer import Answer
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import worker_command
from dcf.cli.exits import INTERRUPTED
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.model_check import demand_models
from dcf.cli.patience import Patience
from dcf.cli.redis_access import find_redis
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.memory import source_of
from dcf.worker import Post, Words, WorkerConfig, assignment_of, import_handlers, serve

log = logging.getLogger(__name__)

# Whoever watches it ends it soon after.
_SOLO_DRAIN_S = 0.5


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """The command line of ``dcf worker``. With ``solo`` it works on one state, which it reads from
    its standard input."""

    concurrency: int
    pool: str
    lease_s: float
    name: str | None
    handlers: str | None
    attached: bool
    solo: bool
    as_json: bool


async def work(order: WorkerOrder, settings: Settings) -> Answer:
    """Work until told to stop."""
    words = Words() if order.solo else None
    if order.solo and not sys.stdin.readline():
        # Whoever started it has died since.
        return Answer(status="drained")
    log_to_stderr(settings.log_level)
    demand_models(settings)
    await demand_agents_home(settings)
    # A script that is run finds the modules beside it; so do handlers.
    sys.path.insert(0, str(Path.cwd()))
    handlers = import_handlers(order.handlers) if order.handlers else {}
    address = await find_redis(settings, Screen(as_json=True), Patience(log.warning))
    post = replace(
        post_of(settings, address.url, order.name, order.pool, order.lease_s),
        config=WorkerConfig(concurrency=order.concurrency, ttl_ms=round(order.lease_s * 1000)),
        handlers=handlers,
        attached=order.attached,
    )
    if order.solo:
        post = replace(post, config=replace(post.config, drain_s=_SOLO_DRAIN_S))
    else:
        post = replace(post, solo=_solo_command(order, post.name))

    def ready() -> None:
        if words is not None:
            words.begun()
            return
        line = {
            "event": "ready",
            "worker": post.name,
            "pool": post.pool,
            "generated": str(settings.generated),
            "pid": os.getpid(),
            "agents": settings.skills is not None,
            "handlers": sorted(handlers),
        }
        # With --json stdout carries the one document at the end.
        print(json.dumps(line), file=sys.stderr if order.as_json else sys.stdout, flush=True)

    def assignment() -> tuple[str, str, str] | None:
        if words is not None:
            words.up()
        # Nothing, if whoever started it needs it no more.
        line = sys.stdin.readline()
        return assignment_of(line) if line else None

    orderly = await serve(post, on_ready=ready, assignment=assignment if order.solo else None)
    if words is not None and orderly:
        words.over()
    return Answer(
        {"worker": post.name, "drained": orderly},
        status="drained" if orderly else "interrupted",
        exit_code=0 if orderly else INTERRUPTED,
    )


def _solo_command(order: WorkerOrder, name: str) -> tuple[str, ...]:
    """The command line of a process that does for one state what this one does for all."""
    handlers = ("--handlers", order.handlers) if order.handlers else ()
    same = worker_command(name, pool=order.pool, lease_s=order.lease_s, attached=True)
    return (*same, *handlers, "--solo")


def post_of(
    settings: Settings, redis_url: str, name: str | None, pool: str, lease_s: float
) -> Post:
    """Where a process that works is, and what it works with."""
    folder = BackgroundFolder(settings.notes, settings.logs)
    return Post(
        redis_url=redis_url,
        name=name or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}",
        pool=pool,
        config=WorkerConfig(ttl_ms=round(lease_s * 1000)),
        generated=settings.generated,
        objects=settings.objects,
        env=_without_key(settings),
        stub_url=StubServer(settings, folder).url_now,
        memory=source_of(settings.env, settings.home),
        home=settings.home,
        templates=settings.templates,
        retention=read_retention(settings.env.get("DCF_RETENTION") or ""),
    )


def _without_key(settings: Settings) -> dict[str, str]:
    """The environment for the placeholders of the tool registry: without the memory's key."""
    return {name: value for name, value in settings.env.items() if name != "DCF_MEMORY_KEY"}
