"""``dcf asl conformance``: a corpus is run and judged, the scores are shown by op and tag."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.asl_scores import (
    counts_line,
    detail_lines,
    difference_lines,
    failing_lines,
    scores_table,
    told,
    told_difference,
)
from dcf.cli.exits import FAILED
from dcf.cli.output_file import check_outputs
from dcf.cli.screen import Screen
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.cli.wording import counted
from dcf.conformance import (
    BadCorpus,
    Case,
    Difference,
    EngineName,
    Judged,
    Report,
    Required,
    Result,
    differences,
    read_corpus,
    read_results,
    report,
    run_corpus,
    write_results,
)
from dcf.problem import Problem
from dcf_agents.installation import extra_command


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for. ``ops`` and ``tags`` choose cases (empty: all); ``require`` is the level
    below which a case makes the command fail; ``report`` is where the counts go."""

    engine: EngineName
    out: Path
    ops: frozenset[str]
    tags: frozenset[str]
    jobs: int
    require: Required | None
    against: Path | None
    report: Path | None


def conformance(corpus: Path, wish: Wish, screen: Screen) -> Answer:
    """Run the cases of ``corpus`` and judge them. Raises BadInput before anything is run."""
    check_outputs(
        {"--out": wish.out, "--report": wish.report},
        {"the corpus": corpus, "--against": wish.against},
    )
    cases = _chosen(corpus, wish)
    there = _read(wish.against, read_results) if wish.against else None
    results = _run(cases, wish, screen)
    write_results(wish.out, results.values())
    judged = report(cases, results)
    if wish.report:
        _keep(judged, wish, wish.report)
    differing = differences(cases, results, there) if there is not None else None
    return _answer(judged, differing, wish)


def _read(file: Path, read: Any) -> Any:
    try:
        return read(file)
    except BadCorpus as bad:
        raise BadInput(bad.problems) from bad
    except (OSError, ValueError) as error:
        message = f"it cannot be read: {getattr(error, 'strerror', None) or error}"
        hint = "give a file that this command wrote, or a corpus"
        raise BadInput([Problem("CLI_FILE", message, hint=hint, file=str(file))]) from error


def _chosen(corpus: Path, wish: Wish) -> list[Case]:
    cases: list[Case] = _read(corpus, read_corpus)
    chosen = [
        case
        for case in cases
        if (not wish.ops or case.op in wish.ops) and (not wish.tags or wish.tags & {*case.tags})
    ]
    if not chosen:
        tags = sorted({tag for case in cases for tag in case.tags})
        hint = f"tags there are: {', '.join(tags)}" if tags else "the corpus has no tags"
        message = f"none of {counted(len(cases), 'case is', 'cases is')} of that op and tag"
        raise BadInput([Problem("CLI_CORPUS", message, hint=hint, file=str(corpus))])
    return chosen


def _run(cases: Sequence[Case], wish: Wish, screen: Screen) -> dict[str, Result]:
    results: dict[str, Result] = {}
    try:
        with screen.working(f"{len(cases)} cases") as progress:
            for result in run_corpus(cases, engine=wish.engine, jobs=wish.jobs):
                results[result.name] = result
                progress.tell(f"{len(results)} of {len(cases)} cases")
    except ModuleNotFoundError as error:
        message = f"the engine `{wish.engine}` needs {error.name}, which is not installed"
        hint = f"`{extra_command('sim')}` installs it; --engine pure needs nothing more"
        raise EnvironmentTrouble("engine_missing", message, hint) from error
    except BrokenProcessPool as error:
        message = "a process that ran cases was ended from outside, so the results are not whole"
        hint = "run it again; if memory ran out, with fewer --jobs"
        raise EnvironmentTrouble("process_ended", message, hint) from error
    return results


def _keep(judged: Report, wish: Wish, file: Path) -> None:
    """Write the counts into ``file`` beside those of other engines, with the day and the command
    that gave them."""
    kept: dict[str, Any] = {}
    if file.is_file():
        value = _read(file, lambda there: json.loads(there.read_text(encoding="utf-8")))
        kept = value if isinstance(value, dict) else {}
    kept[wish.engine] = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": f"dcf {' '.join(Path(part).name or part for part in sys.argv[1:])}",
        **judged.to_json(),
    }
    file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _answer(judged: Report, differing: list[Difference] | None, wish: Wish) -> Answer:
    level = wish.require or "value"
    failing = judged.failing(level)
    fields: dict[str, Any] = {
        "engine": wish.engine,
        "results": str(wish.out),
        **judged.to_json(),
        "level": level,
        "failing": [told(one) for one in failing],
        "mismatches": {
            one.case.name: one.result.mismatches for one in judged.judged if one.result.mismatches
        },
        "differences": None if differing is None else [told_difference(one) for one in differing],
    }
    show: list[Any] = [
        scores_table("by op", judged.ops),
        scores_table("by tag", judged.tags),
        counts_line(judged, wish.engine, wish.out),
        *failing_lines(failing, level),
        *detail_lines(judged.judged),
        *(
            difference_lines(differing, wish.against)
            if differing is not None and wish.against
            else []
        ),
    ]
    note = _trouble(failing, differing, wish)
    if note is None:
        return Answer(fields, show)
    return Answer(fields, show, status="failed", error=note, exit_code=FAILED)


def _trouble(
    failing: Sequence[Judged], differing: list[Difference] | None, wish: Wish
) -> ErrorNote | None:
    if wish.require and failing:
        few = counted(len(failing), "case fails", "cases fail")
        return ErrorNote("below_required_level", f"{few} at the required level {wish.require}")
    if differing:
        few = counted(len({one.name for one in differing}), "case differs", "cases differ")
        return ErrorNote("results_differ", f"{few} from {wish.against}")
    return None
