"""``dcf retrieval maintain`` and ``audit``: the nightly work, and who read and deleted what."""

from __future__ import annotations

from dataclasses import asdict

from dcf.age_form import read_age
from dcf.cli.answer import Answer
from dcf.cli.memory.opening import now_ms, person
from dcf.cli.memory.wording import moment
from dcf.cli.retrieval.opening import demand_kept, open_audit, open_retrieval, place_of
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.digest import canonical_json, digest
from dcf.problem import Problem
from dcf.retrieval import EVERY_PROJECT, OPERATIONS, Access, Night, maintain

_LISTED = 5
_DIGITS = 16
"""Of a digest, in the name of a file."""


def night_of(settings: Settings, setting: RetrievalSetting, hour: int) -> Night:
    """When the services of this home do the nightly work: of those with the same backend, place
    and projects one does it."""
    what = [setting.backend, place_of(settings, setting.store), sorted(setting.projects.roots)]
    key = digest(canonical_json(what)).removeprefix("sha256:")[:_DIGITS]
    return Night(settings.home / f"retrieval-night-{key}", hour)


async def tend(settings: Settings, setting: RetrievalSetting) -> Answer:
    """Do the nightly work now. Raises NotSo, a MemoryProblem, a StoreProblem."""
    demand_kept(setting.store)
    by = person("`dcf retrieval maintain`")
    async with open_retrieval(settings, setting, by) as retrieval:
        done = await maintain(retrieval, setting.projects.roots, now_ms(), setting.audit_days)
    said = [f"{counted(done.swept, 'item', 'items')} whose time was over went; items are compacted"]
    if done.reread or done.removed:
        again = counted(done.reread, "document was", "documents were")
        said.append(f"{again} read again, {done.removed:,} whose file is gone went")
    if done.pruned:
        days = counted(done.pruned, "day", "days")
        said.append(f"{days} of the audit log went: older than {setting.audit_days}")
    return Answer(asdict(done), said, "maintained")


async def show_audit(
    settings: Settings,
    setting: RetrievalSetting,
    *,
    by: str | None,
    operation: str | None,
    since: str | None,
    all_projects: bool,
    limit: int,
) -> Answer:
    """Who read and deleted what, the newest first. Raises BadInput, FolderUnusable."""
    first = _first(since, operation)
    projects = (EVERY_PROJECT, *setting.projects.roots)

    def is_asked(one: Access) -> bool:
        return (
            (all_projects or one.project in projects)
            and by in (None, one.by)
            and operation in (None, one.operation)
            and one.at >= first
        )

    async with open_audit(settings) as audit:
        found = await audit.entries(is_asked, limit=limit)
    fields = {"accesses": [{**asdict(one), "ids": list(one.ids)} for one in found]}
    return Answer(fields, [*map(_line, found)] or ["Nothing is noted."])


def _first(since: str | None, operation: str | None) -> int:
    problems = []
    age = None if since is None else read_age(since)
    if since is not None and age is None:
        hint = "a whole number and m, h, d or w, as in 7d"
        problems.append(Problem("CLI_AGE", f"{since!r} is not a length of time", hint=hint))
    if operation not in (None, *OPERATIONS):
        hint = f"one of {', '.join(OPERATIONS)}"
        problems.append(Problem("CLI_AUDIT", f"{operation!r} is not noted", hint=hint))
    if problems:
        raise BadInput(problems)
    return 0 if age is None else now_ms() - age


def _line(one: Access) -> str:
    who = f"{one.by} {one.client}".strip()
    more = " …" if len(one.ids) > _LISTED else ""
    ids = f"  {' '.join(one.ids[:_LISTED])}{more}" if one.ids else ""
    return f"{moment(one.at)}  {one.operation:<7}{one.count:>4}  {who}  {one.project}{ids}"
