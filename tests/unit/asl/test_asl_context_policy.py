"""``context``: what the agent of a Task is told of its project."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import alone, parsed

from dcf.asl import ContextPolicy, DefinitionError, parse
from dcf.retrieval import KINDS


def policy(**context: Any) -> ContextPolicy:
    found = parsed({"Type": "Task", "AgentBinding": {"context": context}}).context
    assert found is not None
    return found


def test_a_task_asks_for_no_context_unless_it_says_so() -> None:
    assert parsed({"Type": "Task", "AgentBinding": {}}).context is None
    assert parsed({"Type": "Task", "Resource": "r"}).context is None


def test_without_members_it_is_all_kinds_in_2000_tokens() -> None:
    assert policy() == ContextPolicy(2_000, KINDS, None)
    assert policy(kinds=["document", "code"], budget=100) == ContextPolicy(
        100, ("code", "document"), None
    )


INPUT = {"ticket": {"text": "no refund", "n": 3}, "tags": ["late"]}


@pytest.mark.parametrize(
    ("context", "question"),
    [
        ({}, "Answer\nBe kind.\nno refund\nlate"),
        ({"query": "how are refunds paid"}, "how are refunds paid"),
        ({"query": "$.ticket.text"}, "no refund"),
        ({"query": "$.ticket"}, '{"text": "no refund", "n": 3}'),
        ({"query": "$.tags[0]"}, "late"),
        # Nothing is there.
        ({"query": "$.tags[1]"}, "Answer\nBe kind.\nno refund\nlate"),
    ],
)
def test_what_is_looked_for_is_the_query_or_what_the_task_is_told(
    context: dict[str, Any], question: str
) -> None:
    assert policy(**context).question("Answer", "Be kind.", INPUT) == question


def test_all_that_is_wrong_is_told_with_a_way_to_mend_it() -> None:
    context = {"kinds": ["cod", None], "budget": 1_000_001, "query": "$.a.."}
    with pytest.raises(DefinitionError) as wrong:
        parse(alone({"Type": "Task", "AgentBinding": {"context": context}}))
    at = "/States/S/AgentBinding/context"
    found = {one.path.removeprefix(at): one for one in wrong.value.problems}
    assert sorted(found) == ["/budget", "/kinds/0", "/kinds/1", "/query"]
    assert found["/kinds/0"].hint == "did you mean `code`?"
    assert found["/kinds/1"].hint == f"use one of: {', '.join(KINDS)}"
