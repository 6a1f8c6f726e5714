"""A reflection on the real graph: outcomes are read from it, insights written to it are found by
the next one, and what somebody else wrote disturbs nothing."""

from __future__ import annotations

from integration.knowledge.world import write, writer_of
from unit.advisors.advisor_samples import BAD, DAY_MS, GOOD, HOUR_MS, NOW, outcome, shop

from dcf.advisors import Reflection, reflect
from dcf.knowledge import GraphConnection, InsightFact, Knowledge


class Told:
    """Takes what the outbox would carry."""

    def __init__(self) -> None:
        self.facts: list[InsightFact] = []

    async def put(self, kind: str, id_: str, data: object) -> None:
        assert isinstance(data, dict)
        self.facts.append(InsightFact.from_json(data))


async def reflected(graph: GraphConnection, now: int) -> Reflection:
    told = Told()
    reflection = await reflect(Knowledge(graph), since=now - 7 * DAY_MS, now=now, sink=told)
    await writer_of(graph).insights([(fact, now) for fact in told.facts])
    return reflection


async def test_insights_survive_the_graph(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write(graph, *shop(1, 61))
        foreign = InsightFact("other", "user_intent", "ask first", 0.9, NOW)
        await writer_of(graph).insights([(foreign, NOW)])
        first = await reflected(graph, NOW)
        (advice,) = (one for one in first.insights if one.topic == "version")
        assert (advice.prefer, advice.avoid) == (GOOD, BAD)

        later = NOW + 8 * HOUR_MS
        await write(
            graph,
            *(outcome(0, skills=(GOOD,), run=f"late-{n}", workflow_id=f"late-{n}",
                      ended_at=NOW + n * HOUR_MS) for n in range(1, 8)),
        )  # fmt: skip
        second = await reflected(graph, later)
        (given,) = (one for one in second.given if one.id == advice.id)
        assert given.condition == advice.condition
        assert given.evidence.measures == {
            name: round(value, 4) for name, value in advice.evidence.measures.items()
        }
        assert given.followed is not None
        assert (given.followed.offered, given.followed.taken) == (7, 7)
        (again,) = (one for one in second.insights if one.topic == "version")
        assert again.id == advice.id
        assert again.evidence.outcomes == advice.evidence.outcomes + 7

        facts = {fact.id: fact for fact in await Knowledge(graph).insights()}
        assert (facts[advice.id].taken, facts[advice.id].helped) == (7, 7)
        assert "other" in facts
