"""``dcf advise``."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dcf.cli.answer import Answer
from dcf.cli.generated_skills import open_skills
from dcf.cli.reflect import planner_board
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class AdviceOrder:
    """What a person wants of tasks of a type; neither ``prefer`` nor ``avoid``: nothing any more.
    ``planner`` is the name or id of who is told."""

    task_type: str
    prefer: str | None
    avoid: str | None
    withdraw: bool
    reason: str
    planner: str


async def advise(options: AdviceOrder, settings: Settings) -> Answer:
    """Write the options into the planner's guidelines, or take it out of them."""
    from dcf.advisors import publish_wish, withdraw_wishes
    from dcf.guidelines import SkillRecommendation, item_json

    says = options.prefer is not None or options.avoid is not None
    if says is options.withdraw:
        message = "say what to want: --prefer or --avoid, or --withdraw alone"
        hint = f"`dcf advise {options.task_type} --prefer {options.task_type}@1.0.0`"
        raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="dcf advise")])
    _check_versions(options, settings)
    now = time.time_ns() // 1_000_000
    async with planner_board(options.planner, settings) as board:
        if options.withdraw:
            guidelines = await withdraw_wishes(board, options.task_type, now=now)
            said = f"The advice on {options.task_type} is withdrawn."
        else:
            item = SkillRecommendation(
                condition=f"task_type = {options.task_type}",
                task_type=options.task_type,
                prefer=options.prefer,
                avoid=options.avoid,
                reason=options.reason,
            )
            guidelines = await publish_wish(board, item, now=now)
            said = "Planners follow it, whatever is measured, for 30 days from now."
    items = [item_json(one) for one in guidelines.for_task(options.task_type)]
    fields = {"revision": guidelines.revision, "task_type": options.task_type, "items": items}
    return Answer(fields, [f"{said} Guidelines of {options.planner}: {guidelines.revision}."])


def _check_versions(options: AdviceOrder, settings: Settings) -> None:
    """Raises BadInput for what is no version of a skill that is there."""
    from dcf.skills import UnknownSkill, parse_ref

    given = {"--prefer": options.prefer, "--avoid": options.avoid}
    named = {option: ref for option, ref in given.items() if ref is not None}
    if not named:
        return
    catalog = open_skills(settings.generated)
    problems = []
    for option, ref in named.items():
        try:
            found = catalog.resolve(ref)
        except UnknownSkill as unknown:
            near = ", ".join(unknown.closest)
            hint = f"did you mean {near}?" if near else "see `dcf skills list`"
            message = f"there is no skill {ref!r}"
            problems.append(Problem("CLI_USAGE", message, hint=hint, file=option))
            continue
        if parse_ref(ref).wanted != found.version:
            message = f"{ref!r} is not one version"
            hint = f"as in {found.name}@{found.version}"
            problems.append(Problem("CLI_USAGE", message, hint=hint, file=option))
    if problems:
        raise BadInput(problems)
