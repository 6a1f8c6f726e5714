"""`dcf advise`: a person's word to planners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcf.cli.advise import AdviceOrder, advise
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput

TASK = "support.refund_order"


def settings(home: Path) -> Settings:
    generated = Path(__file__).parents[3] / "generated"
    env = {"DCF_HOME": str(home), "DCF_GENERATED": str(generated), "DCF_EMBEDDER": "none"}
    return Settings.from_env(env)


def options(**changes: Any) -> AdviceOrder:
    said = {"prefer": None, "avoid": None, "withdraw": False, "reason": "", "planner": "planner"}
    return AdviceOrder(TASK, **{**said, **changes})


async def test_it_is_written_as_a_persons_word_and_taken_back(tmp_path: Path) -> None:
    told = await advise(options(prefer=f"{TASK}@1.0.0", reason="the bank"), settings(tmp_path))
    (item,) = told.fields["items"]
    assert (item["prefer"], item["written_by"]) == (f"{TASK}@1.0.0", "person")
    back = await advise(options(withdraw=True), settings(tmp_path))
    assert (back.fields["items"], back.fields["revision"]) == ([], 2)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({}, "say what to want"),
        ({"prefer": f"{TASK}@1.0.0", "withdraw": True}, "say what to want"),
        ({"prefer": f"{TASK}@99.0.0"}, "there is no skill"),
        ({"avoid": TASK}, "is not one version"),
    ],
)
async def test_what_nobody_can_follow_is_refused(
    tmp_path: Path, said: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        await advise(options(**said), settings(tmp_path))
    assert not (tmp_path / "memory.db").exists()
