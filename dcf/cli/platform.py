"""The platform that ``dcf serve`` and ``dcf mcp`` serve, opened from the settings."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast, get_args

from control_plane import RedisBackend
from control_plane.embedded import Address
from dcf.cli.agents_home import demand_agents_home
from dcf.cli.background import BackgroundFolder
from dcf.cli.generated_skills import no_skills
from dcf.cli.model_check import demand_models
from dcf.cli.redis_access import find_redis
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.cli.trouble import BadInput
from dcf.mcp import Platform, PlatformConfig, Role
from dcf.memory import source_of
from dcf.problem import Problem
from dcf.search import DEFAULT_EMBEDDER
from dcf.skills.discovery import index_path

_log = logging.getLogger(__name__)

APPROVAL_TOKEN = "DCF_APPROVAL_TOKEN"
MEMORY_KEY = "DCF_MEMORY_KEY"
_NOWHERE = "redis://127.0.0.1:0"
DECISIONS_OFF = f"set {APPROVAL_TOKEN} to a secret of those who may, or use dcf approve and reject"


@asynccontextmanager
async def open_platform(
    settings: Settings,
    screen: Screen,
    *,
    root: Path | None,
    pool: str,
    exposed: bool = False,
    alone: bool = False,
) -> AsyncIterator[Platform]:
    """The platform on the Redis of ``settings``, closed after the block. It is ``exposed`` when it
    is served to other machines; ``alone``, no Redis is looked for and none is started. Raises
    BadInput for an approval token that cannot be used, and InvalidDocument for a policy or a lock
    that cannot."""
    token = approval_token(settings, exposed=exposed)
    demand_models(settings)
    await demand_agents_home(settings)
    # One that nobody calls, where it is alone.
    address = Address(_NOWHERE, "configured") if alone else await find_redis(settings, screen)
    stub = StubServer(settings, BackgroundFolder(settings.notes, settings.logs))
    workspace = root or settings.workspace
    workspace.mkdir(parents=True, exist_ok=True)
    here = Path(os.getcwd())  # noqa: PTH109 - as text, at the start, nothing waits for it
    config = PlatformConfig(
        home=settings.home,
        generated=settings.generated,
        skills_src=here / "skills_src",
        workspace=workspace,
        workflows=here / "workflows",
        runs=here / "workflows" / "runs",
        archives=here / "sessions",
        memory=source_of(settings.env, settings.home),
        templates=settings.templates,
        objects=settings.objects,
        pool=pool,
        index=index_path(settings.home, settings.generated, DEFAULT_EMBEDDER),
        env=_without(settings.env, APPROVAL_TOKEN, MEMORY_KEY),
        stub_url=stub.url_now,
        approval_token=token,
        exposed=exposed,
        is_alone=alone,
    )
    backend = RedisBackend.from_url(address.url)
    platform = Platform(backend, config)
    try:
        # A policy or a lock that cannot be believed is told now, not at the first call.
        await platform.policy()
        await platform.skills.pins()
        await platform.home()
        _tell(settings, None if alone else f"Redis {address.label}", workspace)
        yield platform
    finally:
        await platform.close()
        await backend.close()


def _tell(settings: Settings, redis: str | None, workspace: Path) -> None:
    """Which Redis and which folders: a client starts its server in a folder nobody chose. Without a
    Redis there are no workflows: no skill is used then, and nothing is approved."""
    if redis is None:
        _log.info("serving with no Redis, home %s, workspace %s", settings.home, workspace)
        return
    where = f"{redis}, home {settings.home}, workspace {workspace}"
    _log.info("serving with %s, skills %s", where, settings.generated)
    if settings.skills is None:
        none = no_skills(settings.generated)
        _log.warning("%s in %s: %s", none.message, none.file, none.hint)
    if not settings.env.get(APPROVAL_TOKEN):
        _log.info("nobody decides on approvals over MCP: %s", DECISIONS_OFF)


def approval_token(settings: Settings, *, exposed: bool = False) -> str | None:
    """The secret of those who decide on approvals over MCP; where other machines may try, none that
    can be guessed. Raises BadInput."""
    from dcf.tools.serving import NEW_TOKEN, weakness

    token = settings.env.get(APPROVAL_TOKEN) or None
    if token is None:
        return None
    if not token.isascii() or not token.isprintable() or token != token.strip():
        message, hint = (
            "is no token",
            "printable ASCII, as `openssl rand -hex 32` writes",
        )
    elif token == settings.env.get("DCF_TOKEN"):
        message, hint = "is DCF_TOKEN, which every client has", "give it a value of its own"
    elif exposed and weakness(token):
        message, hint = weakness(token), f"{NEW_TOKEN} writes a good one"
    else:
        return token
    raise BadInput([Problem("CLI_APPROVAL_TOKEN", message, hint=hint, file=APPROVAL_TOKEN)])


def _without(env: Mapping[str, str], *names: str) -> dict[str, str]:
    """No placeholder of the tool registry may send these secrets anywhere."""
    return {key: value for key, value in env.items() if key not in names}


def role_of(given: str | None) -> Role | None:
    """The role that was asked for. Raises BadInput."""
    known = get_args(Role)
    if given is not None and given not in known:
        hint = f"one of {', '.join(known)}"
        raise BadInput([Problem("CLI_ROLE", f"{given!r} is no role", hint=hint, file="--role")])
    return cast("Role | None", given)
