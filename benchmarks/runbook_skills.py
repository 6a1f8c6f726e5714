"""How often a skill that is offered for a step of a runbook is the right one:
``python -m benchmarks.runbook_skills [FOLDER]``.

``runbook_skills.txt`` has steps with the skill of this repository that does each, or none. With
``FOLDER`` the steps of the runbooks in it are counted, too, for which a skill is offered: these
skills do nothing of what runbooks of strangers are about, so that nearly every offer is wrong."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from dcf.planner import FEWEST_MATCHED, LEAST_OFFERED, MOST_CLOSE, fitting, is_open_to_skills
from dcf.search import embedder_named, words
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillHit, SkillSearch
from dcf.sop import NoDraft, draft

_TABLE = Path(__file__).with_suffix(".txt")
_GENERATED = Path(__file__).parents[1] / "generated"
_TRIED = (0.4, 0.45, 0.5, 0.55, 0.56, 0.6, 0.65, 0.7)
NONE = "-"


def labelled() -> list[tuple[str, str]]:
    """The steps of the table, each behind the skill that does it."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(skill, step) for skill, step in rows]


def titles_in(folder: Path) -> Iterator[str]:
    """The titles of the steps in the runbooks of ``folder`` that a skill could do."""
    for file in sorted(folder.iterdir()):
        try:
            found = draft(file.read_text(encoding="utf-8"), str(file))
        except (NoDraft, UnicodeDecodeError):
            continue
        if not found.exact:
            steps = filter(is_open_to_skills, found.sop.all_steps())
            yield from (step.title for step in steps if words(step.title))


def main(arguments: Sequence[str]) -> None:
    titles = [title for folder in arguments for title in titles_in(Path(folder))]
    print(
        f"ahead by {MOST_CLOSE}, {FEWEST_MATCHED} words or more; the least score in use is marked"
    )
    catalog = SkillCatalog.load(_GENERATED)
    for name, used in LEAST_OFFERED.items():
        with tempfile.TemporaryDirectory() as folder:
            search = SkillSearch(Path(folder) / "skills.db", embedder_named(name))
            found = [(skill, search.search(catalog, step, 2)) for skill, step in labelled()]
            others = [search.search(catalog, title, 2) for title in titles]
        for least in sorted({*_TRIED, used}):
            print(f"{name:9} {'*' if least == used else ' '} {_row(found, others, least)}")


def _row(
    found: Sequence[tuple[str, list[SkillHit]]], others: Sequence[list[SkillHit]], least: float
) -> str:
    offers = [
        (skill, best.manifest.name)
        for skill, hits in found
        if (best := fitting(hits, least)) is not None
    ]
    right = sum(skill == name for skill, name in offers)
    with_skill = sum(skill != NONE for skill, _ in found)
    wrong = len(offers) - right
    elsewhere = sum(fitting(hits, least) is not None for hits in others)
    return (
        f"{least:.2f}: {right}/{with_skill} right, {wrong}/{len(found)} wrong"
        f" ({100 * wrong / (len(offers) or 1):.1f} % of offers);"
        f" {elsewhere}/{len(others)} elsewhere"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
