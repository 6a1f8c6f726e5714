"""Which skills people get for what they say, with the search and the skills of this repository."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from contract.worlds import World, open_world
from integration.sessions.conducting import Stage

from dcf.search import DEFAULT_EMBEDDER, embedder_named
from dcf.sessions import Sessions
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch

CATALOG = SkillCatalog.load(Path(__file__).parents[3] / "generated")

ASKED = {
    # Questions, which get a skill that only looks something up.
    "where is the parcel of ORD-1004?": "support.check_delivery",
    "where is my parcel?": "support.check_delivery",
    "Has the delivery arrived yet?": "support.check_delivery",
    "What is ticket TCK-101 about?": "support.triage_ticket",
    "Who is the customer CUST-1003?": "support.know_customer",
    "What did the customer buy?": "support.know_customer",
    "Is the damage covered by the policy?": "finance.check_cover",
    "does the invoice match the purchase order?": "finance.match_invoice",
    "was the delivery kept cold on the way?": "warehouse.check_cold_chain",
    "is the machine healthy?": "operations.check_machine",
    "what do competitors charge for a standing desk?": "research.compare_prices",
    "are the papers complete?": "office.check_papers",
    # What is to be done.
    "track the shipment": "support.check_delivery",
    "Sort the ticket": "support.triage_ticket",
    "price the order": "orders.price_order",
    "read the invoice INV-2001": "finance.read_invoice",
    "find sources about standing desks": "research.find_sources",
    "Write an answer to the customer": "support.answer_ticket",
    "reply to the ticket": "support.answer_ticket",
    "Refund the order ORD-1004": "support.refund_order",
    "give the customer their money back": "support.refund_order",
    "Escalate the ticket": "support.escalate_ticket",
    "Cancel the order": "orders.cancel_order",
    "Ship the order": "orders.ship_order",
    "reserve stock for the order": "orders.reserve_stock",
    "charge the card": "orders.charge_payment",
    "tell the customer that it was shipped": "orders.notify_customer",
    "book the invoice": "finance.post_invoice",
    "quarantine the goods": "warehouse.quarantine_goods",
    "order more supplies": "warehouse.order_supplies",
    "isolate the computer HOST-17": "operations.isolate_host",
    "lock the account": "operations.lock_account",
    "book an appointment with the team": "office.book_appointment",
    "run the potassium test on the sample": "laboratory.run_test",
}
NOTHING = [
    # Nonsense, or nothing that a skill is about.
    "Sing a song", "What is the weather tomorrow?", "Tell me a joke", "asdf qwerty",
    "How old is the moon?", "Translate this into French", "Paint the fence", "Where is my cat?",
    "Open the door", "Who won the match yesterday?", "Bake a cake", "Write a poem about spring",
    "Play some music", "What time is it?", "Book a flight to Rome", "Solve x^2 = 4",
    "Water the plants", "Recommend a film", "Count to ten", "Walk the dog", "blue seven window",
    # A question to which only skills are near that do more than answer it, and an order for which
    # one is near that does something else.
    "what happened to the customer C-2002?", "pay the supplier",
]  # fmt: skip


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> SkillSearch:
    place = tmp_path_factory.mktemp("index") / "skills.db"
    return SkillSearch(place, embedder_named(DEFAULT_EMBEDDER))


@pytest.fixture
async def stage(redis_server: str, search: SkillSearch) -> AsyncIterator[Stage]:
    async def catalog() -> SkillCatalog:
        return CATALOG

    async def discover(text: str, limit: int) -> Sequence[tuple[str, float]]:
        hits = search.search(CATALOG, text, limit)
        return [(hit.manifest.manifest_id, hit.score) for hit in hits]

    world: World = await open_world(redis_server)
    stage = Stage(world, Sessions(world.store(), catalog=catalog))
    stage.conductor = stage.conduct(discover=discover)
    await stage.begin()
    yield stage
    await world.close()


async def test_people_get_the_skill_that_they_mean(stage: Stage) -> None:
    found = {}
    for text in ASKED:
        [row] = (await stage.say(text)).rows
        found[text] = ",".join(row.skills).removeprefix("skill.").partition("@")[0] or row.result
    wrong = {text: got for text, got in found.items() if got != ASKED[text]}
    assert wrong == {}, json.dumps(wrong, indent=1)


async def test_what_no_skill_is_about_is_asked_back(stage: Stage) -> None:
    replies = {text: await stage.say(text) for text in NOTHING}
    taken = {text: reply.rows[0].skills for text, reply in replies.items() if reply.task_ids}
    assert taken == {}
