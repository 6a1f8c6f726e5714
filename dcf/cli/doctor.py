"""``dcf doctor``."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import urlsplit

from control_plane import RedisBackend, Refused, Store, space_of_runs
from control_plane.embedded import Check, Embedded, diagnose
from dcf.cli.agents_home import runtime_check
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.background import BackgroundFolder
from dcf.cli.check_table import check_table
from dcf.cli.crew import Garrison, name_of
from dcf.cli.exits import ENVIRONMENT, OK
from dcf.cli.graph.doctor import graph_checks
from dcf.cli.health import ask_redis, read_hosts, read_refusal
from dcf.cli.memory.extraction_standing import extraction_checks
from dcf.cli.memory.wording import size_text
from dcf.cli.model_check import model_checks
from dcf.cli.open_sessions import read_sessions
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.cli.trouble import NotSo
from dcf.cli.wording import counted
from dcf.skills import SkillCatalog, SkillError
from dcf.tools import InvalidDocument, Registry
from dcf.workflow import earlier_runs
from dcf_agents.installation import DISTRIBUTION, package_command, reinstall_command

_PACKAGES = (DISTRIBUTION, "redis", "mcp", "pydantic-ai-slim", "typer")
_CONNECT_S = 2.0


async def examine(settings: Settings) -> Answer:
    """Every finding; exit code 3 when something that is needed is missing."""
    folder = BackgroundFolder(settings.notes, settings.logs)
    stub = StubServer(settings, folder)
    answers, refused = await _refused(settings)
    checks = [
        *await diagnose(settings.env),
        *(_installed(package) for package in _PACKAGES),
        *await _redis(settings),
        *_writes(refused),
        *(await _runs(settings) if answers else ()),
        *(await _earlier(settings) if answers else ()),
        *await graph_checks(settings),
        await _stub(stub, settings),
        _workers(folder),
        await _companions(settings, folder, answers),
        _skills(settings),
        runtime_check(settings),
        *model_checks(settings),
        *await extraction_checks(settings),
        *await _servers(settings, stub.url),
    ]
    missing = [check for check in checks if check.required and not check.ok]
    fields: dict[str, Any] = {"checks": [asdict(check) for check in checks]}
    if refused is not None:
        fields["refused"] = refused.to_json()
    if not missing:
        return Answer(
            fields, [check_table(checks), "Everything that is needed is there."], exit_code=OK
        )
    names = ", ".join(check.name for check in missing)
    note = ErrorNote("not_ready", f"missing: {names}", missing[0].hint)
    return Answer(fields, [check_table(checks)], "error", note, ENVIRONMENT)


def _installed(package: str) -> Check:
    name = f"package {package}"
    try:
        return Check(name, True, version(package))
    except PackageNotFoundError:
        hint = reinstall_command() if package == DISTRIBUTION else package_command(package)
        return Check(name, False, "not installed", hint)


async def _redis(settings: Settings) -> list[Check]:
    """The embedded server, if it is the one that is used."""
    if settings.redis_url is not None:
        return []
    status = await Embedded.from_env(settings.env, patience_s=_CONNECT_S).status()
    name = "redis server"
    if status.died:
        return [Check(name, False, "it died, nobody stopped it", "`dcf up` starts it again")]
    if not status.running:
        found = "not running: `dcf up`, and what needs it, starts it"
        return [Check(name, True, found, required=False)]
    if status.loading:
        return [Check(name, True, f"loads its data, pid {status.pid}")]
    if not status.responding:
        hint = f"`dcf down` ends it; its log is {status.data_dir / 'server.log'}"
        return [Check(name, False, f"runs and does not answer, pid {status.pid}", hint)]
    found = f"Redis {status.version}, JSON {status.json_version}, pid {status.pid}"
    return [Check(name, True, found)]


async def _refused(settings: Settings) -> tuple[bool, Refused | None]:
    """Whether Redis answers, and how it refuses. What does not answer is not asked again: other
    checks tell it."""
    try:
        return True, await read_refusal(settings)
    except NotSo:
        return False, None


def _writes(refused: Refused | None) -> list[Check]:
    if refused is None:
        return []
    found = f"{refused.sentence}; runs go on by themselves when it ends"
    return [Check("redis writes", False, found, refused.hint)]


async def _runs(settings: Settings) -> list[Check]:
    """The space that runs take, and how fast it grows."""
    try:
        space = await ask_redis(settings, lambda backend: space_of_runs(Store(backend)))
    except NotSo:
        # The checks above say that Redis does not answer.
        return []
    found = f"{counted(space.runs, 'run', 'runs')}, about {size_text(space.size)}"
    found += f"; {space.day_runs:,} of the last 24 hours, {size_text(space.day_size)} a day"
    kept = settings.env.get("DCF_RETENTION")
    found += f"; kept: {kept}" if kept else "; kept until somebody removes them"
    hint = "`dcf runs remove`, or DCF_RETENTION for workers to do it"
    return [Check("runs", True, found, hint, required=False)]


async def _earlier(settings: Settings) -> list[Check]:
    """Runs that keep the workers of this version from starting."""

    async def names(backend: RedisBackend) -> list[str]:
        return [name async for name in earlier_runs(Store(backend))]

    try:
        found = await ask_redis(settings, names)
    except NotSo:
        # The checks above say that Redis does not answer.
        return []
    hint = "let workers of the version before finish them, or `dcf cancel` each and start anew"
    return [Check("runs of before", False, ", ".join(found), hint)] if found else []


async def _stub(stub: StubServer, settings: Settings) -> Check:
    found = await stub.find()
    if found is None:
        hint = "`dcf up` starts it; `dcf run` does when a workflow needs it"
        if settings.stub_url is not None:
            hint = "start it there, or unset DCF_STUB_URL: DCF then starts a stub of its own"
        nothing = f"not running at {stub.url} for {settings.generated}"
        return Check("stub tools", False, nothing, hint, required=False)
    tools = counted(found.tools, "tool", "tools")
    return Check("stub tools", True, f"{found.url}, {tools}, {settings.generated}")


def _workers(folder: BackgroundFolder) -> Check:
    said = [process.details for process in Garrison(folder).all()]
    names = [
        f"{one.get('worker')} (pool {one.get('pool')}, {one.get('generated')})" for one in said
    ]
    return Check("background workers", True, ", ".join(names) or "none", required=False)


async def _companions(settings: Settings, folder: BackgroundFolder, answers: bool) -> Check:
    """The background hosts, and what goes on in sessions."""
    names = [
        f"{name_of(one)} ({one.details.get('generated')})"
        for one in Garrison(folder, "companions").all()
    ]
    found = ", ".join(names) or "none in the background"
    if not answers:
        return Check("companion hosts", True, found, required=False)
    try:
        hosts, sessions = await read_hosts(settings), await read_sessions(settings)
    except NotSo:
        # The checks above say that Redis does not answer.
        return Check("companion hosts", True, found, required=False)
    found += f"; {counted(len(hosts), 'host lives', 'hosts live')}"
    found += f", {counted(sessions.open, 'session goes', 'sessions go')} on"
    found += f", {counted(sessions.waiting, 'task waits', 'tasks wait')}"
    served = bool(hosts) or not sessions.waiting
    hint = "`dcf up --companions 1` serves companions, and so does who chats or watches"
    return Check("companion hosts", served, found, hint, required=False)


def _skills(settings: Settings) -> Check:
    hint = "`dcf skills generate`, or set DCF_GENERATED"
    if settings.skills is None:
        found = f"none in {settings.generated}"
        return Check("generated skills", False, found, hint, required=False)
    try:
        count = len(SkillCatalog.load(settings.skills))
    except SkillError as error:
        return Check("generated skills", False, str(error), hint)
    return Check("generated skills", True, f"{count} in {settings.generated}")


async def _servers(settings: Settings, stub_url: str) -> list[Check]:
    """Whether the tool servers of the registry answer, each address once; the stub is known."""
    file = settings.generated / "registry.json"
    if not file.is_file():
        return []
    try:
        registry = Registry.load(file, {**settings.env, "DCF_STUB_URL": stub_url})
    except InvalidDocument as error:
        text = "; ".join(problem.message for problem in error.problems)
        return [Check("tool registry", False, text, "mend skills_src/registry.yaml")]
    places: dict[str, list[str]] = {}
    for server_id in registry.ids():
        url = registry.server(server_id).url or ""
        if url and not url.startswith(f"{stub_url}/"):
            places.setdefault(urlsplit(url).netloc, []).append(server_id)
    return [await _answers(place, ids) for place, ids in places.items()]


async def _answers(place: str, server_ids: list[str]) -> Check:
    name = f"tool server {', '.join(server_ids)}"
    parts = urlsplit(f"//{place}")
    try:
        async with asyncio.timeout(_CONNECT_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443)
            writer.close()
    except (OSError, TimeoutError) as error:
        found = f"{place}: {error or 'no answer'}"
        return Check(name, False, found, "start it, or correct its endpoint", required=False)
    return Check(name, True, f"{place} accepts connections")
