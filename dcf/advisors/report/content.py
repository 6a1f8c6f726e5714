"""What a report on a reflection says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcf.advisors.analysis import Analysis
from dcf.advisors.reflector.reflecting import Reflection, SeenBefore
from dcf.advisors.report.counted_content import counted_sections
from dcf.advisors.report.report import Command, Report, Section
from dcf.advisors.report.tables import last_runs, table_of
from dcf.advisors.report.wording import moment, percent, points, short, span, span_points, sureness
from dcf.evidence import Counts
from dcf.guidelines import Insight, condition_text

_VERDICTS = {
    "helped": "it helped",
    "hurt": "it did harm",
    "unclear": "not clear yet",
    "not_taken": "nobody took it",
}


def report_of(reflection: Reflection) -> Report:
    """The report, with every section that has something to say."""
    analysis = reflection.analysis
    sections = [
        _summary(analysis),
        *_seen_before(reflection.playbooks),
        *_advice(reflection),
        *_followed(reflection.given),
        *counted_sections(analysis),
        _legend(),
    ]
    return Report("What finished runs show", tuple(sections))


def _summary(analysis: Analysis) -> Section:
    total = sum((track.counts for track in analysis.task_types()), Counts())
    low, high = total.interval()
    said = (
        f"From {moment(analysis.since)} to {moment(analysis.until)}: "
        f"{analysis.outcomes} finished tasks of {analysis.workflows} runs."
    )
    if not total.n:
        return Section("Summary", (said, "Nothing ended in this time."))
    return Section(
        "Summary",
        (
            said,
            f"{percent(total.rate)} of the tasks succeeded (95 %: {span(low, high)}). "
            f"{analysis.earlier} earlier outcomes were read to compare with.",
        ),
    )


def _seen_before(found: Sequence[SeenBefore]) -> Iterator[Section]:
    if not found:
        return
    rows = []
    for one in found:
        known = one.match.playbook
        counted = f"{known.counted}; stale: {one.match.stale}" if one.match.stale else known.counted
        failed = (one.error, str(one.n), last_runs(one.runs))
        rows.append((*failed, known.resolution, known.owner, counted, known.citation))
    columns = ("error", "n", "runs", "what to do", "owner", "so far", "playbook")
    said = "Playbooks fit these failures; `dcf retrieval playbooks helped` counts that one did."
    yield Section("Seen before", (said,), table_of(columns, rows, (1,)))


def _advice(reflection: Reflection) -> Iterator[Section]:
    if not reflection.insights:
        yield Section("Insights", ("Nothing stands out.",))
        return
    published = set(reflection.published)
    rows = [
        (
            insight.reason,
            _when(insight),
            short(insight.prefer or "–"),
            short(insight.avoid or "–"),
            sureness(insight.confidence),
            "yes" if insight.id in published else "not sure enough",
            insight.category.replace("_", " "),
            last_runs(insight.evidence.runs),
        )
        for insight in reflection.insights
    ]
    columns = ("what", "when", "prefer", "avoid", "confidence", "for planners", "kind", "runs")
    text = [conflict.words for conflict in reflection.conflicts]
    against = [insight for insight in reflection.insights if insight.conflicts_with]
    text += [f"{one.reason} – contradicts {', '.join(one.conflicts_with)}" for one in against]
    if reflection.retracted:
        text += [f"No longer so: {insight.reason}" for insight in reflection.retracted]
    yield Section("Insights", tuple(text), table_of(columns, rows, (4,)))


def _followed(given: Sequence[Insight]) -> Iterator[Section]:
    rows = [
        (
            condition_text(insight),
            insight.prefer or "–",
            moment(insight.created_at),
            f"{followed.taken} of {followed.offered}",
            points(followed.difference),
            span_points(followed.low, followed.high),
            _VERDICTS[followed.verdict],
        )
        for insight in given
        if (followed := insight.followed) is not None
    ]
    if rows:
        columns = ("when", "advice", "given", "taken", "points", "95 %", "verdict")
        text = "Success of later tasks that took the advice, less that of the same tasks before."
        yield Section("What became of earlier advice", (text,), table_of(columns, rows, (3, 4, 5)))


def _when(insight: Insight) -> str:
    """Its condition; the skill's name stands in what to prefer already."""
    said = dict(insight.condition)
    if insight.prefer is not None and insight.prefer.startswith(f"{said.get('skill')}@"):
        del said["skill"]
    return ", ".join(f"{name.replace('_', ' ')} {short(value)}" for name, value in said.items())


def _legend() -> Section:
    return Section(
        "How to read this",
        (
            "Intervals are Wilson's, of differences Newcombe's; p is of Fisher's exact test, "
            "verdicts allow for how many were made (Holm).",
            "Confidence is the probability that it is so, given the outcomes. The last runs that "
            "show it stand beside it; with the id of one:",
        ),
        commands=(
            Command("dcf graph run ID", "what ran, with which skills, and how it ended"),
            Command("dcf explain ID", "why it failed or does not go on"),
            Command("dcf reflect ID", "its tasks beside what is usual for them"),
        ),
    )
