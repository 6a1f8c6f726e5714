"""The generated skills, for commands that show them: where there are none, how to get some."""

from __future__ import annotations

from pathlib import Path

from dcf.cli.trouble import BadInput
from dcf.problem import Problem
from dcf.skills import SkillCatalog

_BEGIN = "begin with `dcf init`, or with `dcf skills new NAME` and `dcf skills generate`"


def open_skills(generated: Path) -> SkillCatalog:
    """The skills in ``generated``. Raises BadInput where nothing was generated, CatalogUnreadable
    for what cannot be read."""
    demand_generated(generated)
    return SkillCatalog.load(generated)


def demand_generated(generated: Path) -> None:
    """Raises BadInput where no skills were generated."""
    if not (generated / "catalogs").is_dir():
        raise BadInput([no_skills(generated)])


def no_skills(generated: Path) -> Problem:
    """That there are none, and what makes some here."""
    if Path("skills_src").is_dir():
        hint = "`dcf skills generate` writes them; DCF_GENERATED names the folder"
    else:
        hint = f"{_BEGIN}; or set DCF_GENERATED to a folder that has some"
    return Problem("CLI_NO_SKILLS", "there are no generated skills", hint=hint, file=str(generated))


def no_sources(src: Path) -> Problem:
    """That there is no folder of sources, and what makes one."""
    hint = f"{_BEGIN}; --src names a folder that is there"
    return Problem("CLI_FOLDER", "there is no such folder", hint=hint, file=str(src))
