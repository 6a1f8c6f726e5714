"""``dcf skills validate`` and ``generate``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.generated_skills import no_sources
from dcf.cli.trouble import BadInput
from dcf.cli.validate import judge
from dcf.cli.wording import counted
from dcf.problem import has_errors
from dcf.skills import GenerateResult, check_generated, generate_all, validate_sources


def check_sources(src: Path) -> Answer:
    """The verdict on the sources in ``src``."""
    demand_folder(src)
    return judge(validate_sources(src), f"{src} checked")


def generate(src: Path, out: Path) -> Answer:
    """Bring ``out`` up to date with ``src``."""
    demand_folder(src)
    result = generate_all(src, out)
    counts = f"{len(result.written)} written, {len(result.removed)} removed"
    done = f"{out}: {counts}, {len(result.unchanged)} unchanged"
    answer = judge(result.problems, done)
    if has_errors(result.problems):
        return answer
    return replace(answer, fields={**answer.fields, **_files(result, out)})


def check_up_to_date(src: Path, out: Path) -> Answer:
    """Whether ``out`` is what ``src`` gives; nothing is written."""
    demand_folder(src)
    result = check_generated(src, out)
    answer = judge(result.problems, f"{out} is up to date with {src}")
    if has_errors(result.problems):
        return answer
    fields = {**answer.fields, **_files(result, out)}
    stale = [
        f"{'stale   ' if (out / name).exists() else 'missing '} {name}" for name in result.written
    ]
    stale += [f"leftover {name}" for name in result.removed]
    if not stale:
        return replace(answer, fields=fields)
    count = counted(len(stale), "file", "files")
    message = f"{count} of {out} differ from what {src} gives"
    note = ErrorNote("stale", message, "run `dcf skills generate` and commit", tuple(stale))
    return Answer(fields, status="stale", error=note, exit_code=FAILED)


def _files(result: GenerateResult, out: Path) -> dict[str, Any]:
    return {
        "out": str(out),
        "written": list(result.written),
        "removed": list(result.removed),
        "unchanged": list(result.unchanged),
        "summary": result.report["summary"],
    }


def demand_folder(src: Path) -> None:
    """Raises BadInput unless ``src`` is a folder."""
    if not src.is_dir():
        raise BadInput([no_sources(src)])
