"""``dcf skills test``: every case of the tools called over MCP, and the tests in the skills."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, OK
from dcf.cli.generated_skills import demand_generated
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.skill_tests import (
    Choice,
    NothingToTest,
    Outcome,
    Report,
    junit_xml,
    make_plan,
    run_plan,
)

_OTHERS = (("default", "default answer", "default answers"), ("test", "test", "tests"))


@dataclass(frozen=True, slots=True)
class TestOrder:
    """The command line of ``dcf skills test``."""

    choice: Choice
    generated: Path
    url: str | None
    junit: Path | None
    coverage: bool
    as_json: bool


async def run_skill_tests(order: TestOrder, settings: Settings) -> Answer:
    """Test what was chosen. Raises BadInput for a choice that names nothing."""
    _check_url(order.url)
    demand_generated(order.generated)
    try:
        plan = make_plan(order.generated, order.choice)
    except NothingToTest as nothing:
        raise BadInput(nothing.problems) from nothing
    screen = Screen(as_json=order.as_json)
    with screen.working("testing") as working:

        def progress(done: int, total: int, last: Outcome) -> None:
            working.tell(f"{done} of {total}: {last.tool} {last.name}")

        report = await run_plan(
            plan,
            url=order.url,
            headers=_headers(order.url, settings),
            mark="0" if order.url is None else secrets.token_hex(4),
            progress=progress,
        )
    if order.junit is not None:
        order.junit.write_text(junit_xml(report), encoding="utf-8")
    return _answer(report, order)


def _check_url(url: str | None) -> None:
    if url is not None and not (url.startswith(("http://", "https://")) and urlsplit(url).hostname):
        hint = "as in http://127.0.0.1:8765 for a stub, http://127.0.0.1:9000/mcp for a server"
        raise BadInput([Problem("CLI_URL", f"{url!r} is no HTTP URL", hint=hint)])


def _headers(url: str | None, settings: Settings) -> dict[str, str]:
    """The token of stubs, for a stub; other servers must not learn it."""
    token = settings.env.get("DCF_TOKEN")
    if url is None or not token or urlsplit(url).path.strip("/"):
        return {}
    return {"Authorization": f"Bearer {token}"}


def _answer(report: Report, order: TestOrder) -> Answer:
    show: list[Any] = [line for outcome in report.outcomes for line in _fault_lines(outcome)]
    if order.coverage:
        show.append(_table(report))
    show.append(_summary(report))
    fields = report.to_dict()
    if report.ok:
        return Answer(fields, show, exit_code=OK)
    counts = report.counts
    wrong = [f"{counts[name]} {name}" for name in ("failed", "unreachable") if counts[name]]
    hint = "mend the case, the tool's schema or the test; --case and --tool run a part"
    note = ErrorNote("skill_tests_failed", ", ".join(wrong), hint)
    return Answer(fields, show, status="failed", error=note, exit_code=FAILED)


def _fault_lines(outcome: Outcome) -> Iterator[str]:
    """What is wrong, for people: where, with what arguments, and each difference."""
    if outcome.status == "passed":
        return
    word = "test" if outcome.kind == "test" else "case"
    yield f"{outcome.status}  {outcome.tool}  {word} {outcome.name}"
    if outcome.kind == "test":
        yield f"    of {outcome.skills[0]}"
    if outcome.arguments is not None and outcome.status == "failed":
        yield f"    called with {json.dumps(outcome.arguments, ensure_ascii=False)}"
    for line in outcome.details or (outcome.message,):
        yield f"    {line}"


def _table(report: Report) -> Any:
    from rich.table import Table

    table = Table(title="Coverage", title_justify="left")
    table.add_column("skill", no_wrap=True)
    for name in ("tools", "cases", "tests"):
        table.add_column(name, justify="right")
    for entry in report.coverage:
        table.add_row(
            entry.skill,
            f"{entry.tools_passed}/{entry.tools}",
            f"{entry.cases_passed}/{entry.cases}",
            f"{entry.tests_passed}/{entry.tests}",
        )
    return table


def _summary(report: Report) -> str:
    passed, total = report.cases
    parts = [f"{passed} of {counted(total, 'case', 'cases')}"]
    for kind, one, many in _OTHERS:
        found = [outcome for outcome in report.outcomes if outcome.kind == kind]
        if found:
            good = sum(outcome.status == "passed" for outcome in found)
            parts.append(f"{good} of {counted(len(found), one, many)}")
    skipped = report.counts["skipped"]
    tail = f", {skipped} skipped" if skipped else ""
    return f"{', '.join(parts)} passed{tail} in {report.seconds:.1f} s"
