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
class ConformanceOptions:
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


def conformance(corpus: Path, options: ConformanceOptions, screen: Screen) -> Answer:
    """Run the cases of ``corpus`` and judge them. Raises BadInput before anything is run."""
    check_outputs(
        {"--out": options.out, "--report": options.report},
        {"the corpus": corpus, "--against": options.against},
    )
    cases = _chosen(corpus, options)
    there = _read(options.against, read_results) if options.against else None
    results = _run(cases, options, screen)
    write_results(options.out, results.values())
    judged = report(cases, results)
    if options.report:
        _keep(judged, options, options.report)
    differing = differences(cases, results, there) if there is not None else None
    return _answer(judged, differing, options)


def _read(file: Path, read: Any) -> Any:
    try:
        return read(file)
    except BadCorpus as bad:
        raise BadInput(bad.problems) from bad
    except (OSError, ValueError) as error:
        message = f"it cannot be read: {getattr(error, 'strerror', None) or error}"
        hint = "give a file that this command wrote, or a corpus"
        raise BadInput([Problem("CLI_FILE", message, hint=hint, file=str(file))]) from error


def _chosen(corpus: Path, options: ConformanceOptions) -> list[Case]:
    cases: list[Case] = _read(corpus, read_corpus)
    chosen = [
        case
        for case in cases
        if (not options.ops or case.op in options.ops)
        and (not options.tags or options.tags & {*case.tags})
    ]
    if not chosen:
        tags = sorted({tag for case in cases for tag in case.tags})
        hint = f"tags there are: {', '.join(tags)}" if tags else "the corpus has no tags"
        message = f"none of {counted(len(cases), 'case is', 'cases is')} of that op and tag"
        raise BadInput([Problem("CLI_CORPUS", message, hint=hint, file=str(corpus))])
    return chosen


def _run(cases: Sequence[Case], options: ConformanceOptions, screen: Screen) -> dict[str, Result]:
    results: dict[str, Result] = {}
    try:
        with screen.working(f"{len(cases)} cases") as progress:
            for result in run_corpus(cases, engine=options.engine, jobs=options.jobs):
                results[result.name] = result
                progress.tell(f"{len(results)} of {len(cases)} cases")
    except ModuleNotFoundError as error:
        message = f"the engine `{options.engine}` needs {error.name}, which is not installed"
        hint = f"`{extra_command('sim')}` installs it; --engine pure needs nothing more"
        raise EnvironmentTrouble("engine_missing", message, hint) from error
    except BrokenProcessPool as error:
        message = "a process that ran cases was ended from outside, so the results are not whole"
        hint = "run it again; if memory ran out, with fewer --jobs"
        raise EnvironmentTrouble("process_ended", message, hint) from error
    return results


def _keep(judged: Report, options: ConformanceOptions, file: Path) -> None:
    """Write the counts into ``file`` beside those of other engines, with the day and the command
    that gave them."""
    kept: dict[str, Any] = {}
    if file.is_file():
        value = _read(file, lambda there: json.loads(there.read_text(encoding="utf-8")))
        kept = value if isinstance(value, dict) else {}
    kept[options.engine] = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": f"dcf {' '.join(Path(part).name or part for part in sys.argv[1:])}",
        **judged.to_json(),
    }
    file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _answer(
    judged: Report, differing: list[Difference] | None, options: ConformanceOptions
) -> Answer:
    level = options.require or "value"
    failing = judged.failing(level)
    fields: dict[str, Any] = {
        "engine": options.engine,
        "results": str(options.out),
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
        counts_line(judged, options.engine, options.out),
        *failing_lines(failing, level),
        *detail_lines(judged.judged),
        *(
            difference_lines(differing, options.against)
            if differing is not None and options.against
            else []
        ),
    ]
    note = _trouble(failing, differing, options)
    if note is None:
        return Answer(fields, show)
    return Answer(fields, show, status="failed", error=note, exit_code=FAILED)


def _trouble(
    failing: Sequence[Judged], differing: list[Difference] | None, options: ConformanceOptions
) -> ErrorNote | None:
    if options.require and failing:
        few = counted(len(failing), "case fails", "cases fail")
        return ErrorNote("below_required_level", f"{few} at the required level {options.require}")
    if differing:
        few = counted(len({one.name for one in differing}), "case differs", "cases differ")
        return ErrorNote("results_differ", f"{few} from {options.against}")
    return None
