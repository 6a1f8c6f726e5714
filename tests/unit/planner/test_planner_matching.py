"""An objective finds the stored procedure that does it; what nothing does is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from planning_desk import ROOT, embedder

from dcf.planner import Matched, Matcher, Stored, stored_in

PARAPHRASES = {
    "sops/customer-refund.md": [
        "refund a customer who is owed money",
        "a client paid too much, give it back to their card and answer them",
    ],
    "sops/cold-chain-excursion.yaml": [
        "handle medicines that were too warm during delivery",
        "decide whether a cold delivery with a temperature excursion can be released",
    ],
    "sops/content-publication.yaml": [
        "write an article, have it checked and publish it",
        "publish something readable about a new topic",
    ],
    "sops/employee-onboarding.md": [
        "bring somebody who starts next month on board",
        "onboard a new employee",
    ],
    "sops/goods-receipt.md": [
        "a lorry stands at the gate: receive what it brings",
        "receive a delivery and count what came",
    ],
    "sops/insurance-claim.md": [
        "a household reports damage; settle the claim",
        "settle an insurance claim",
    ],
    "sops/lab-sample.md": [
        "take in a laboratory sample and report the results",
        "run the tests on a sample and release the results",
    ],
    "sops/machine-maintenance.md": [
        "repair a machine that reports a fault",
        "maintenance of a machine whose bearing is worn",
    ],
    "sops/security-incident.yaml": [
        "triage an alert of the security monitoring",
        "somebody attacks our hosts: contain it and save the evidence",
    ],
    "sops/supplier-invoice.md": [
        "approve the invoice of a supplier",
        "pay an invoice after it was compared with the purchase order",
    ],
    "delivery-watch.json": ["watch a delivery until the parcel has arrived"],
    "market-research.json": ["research the market for several topics"],
    "order-processing.json": ["process an order of the shop"],
    "order-return.json": ["handle an order that came back"],
    "tree-search.json": ["search for the recipe of a strong glue"],
    "support-ticket.json": ["answer a ticket of the support"],
}
UNRELATED = [
    "translate a poem into Finnish",
    "organise a chess tournament",
    "book a table in a restaurant for eight",
    "compile a kernel for a new processor",
    "teach a dog to sit",
    "prune the apple trees in winter",
    "plan the seating of a wedding",
    "tune a piano",
    "calculate the orbit of a comet",
    "renew a passport before a journey",
    "choose the colours of a logo",
    "write a will",
    "find a nursery place for a child",
    "train for a marathon",
]


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory):
    stored, problems = stored_in(ROOT / "workflows")
    assert problems == []
    by_id = {one.id: one for one in stored}
    # What the repository may have besides stays out: the numbers are of these.
    chosen = [by_id[id_] for id_ in PARAPHRASES]
    matcher = Matcher(tmp_path_factory.mktemp("match") / "stored.db", embedder())
    return lambda objective: matcher.match(objective, chosen)


def test_most_paraphrases_find_their_procedure_and_none_is_taken_for_another(match) -> None:
    asked = [(id_, text) for id_, texts in PARAPHRASES.items() for text in texts]
    taken = [(id_, text, match(text)) for id_, text in asked]
    wrong = [(text, found.best.stored.id) for id_, text, found in taken
             if found.best is not None and found.best.stored.id != id_]  # fmt: skip
    right = [text for id_, text, found in taken if found.best and found.best.stored.id == id_]
    asks = [text for id_, text, found in taken if id_ in {one.stored.id for one in found.rivals}]
    assert wrong == []
    assert len(right) >= 0.7 * len(asked)
    # The others are asked about, or named as near.
    assert len({*right, *asks}) >= 0.85 * len(asked)


@pytest.mark.parametrize("objective", UNRELATED)
def test_what_nothing_stored_does_is_refused_and_the_nearest_are_named(match, objective) -> None:
    found: Matched = match(objective)
    assert found.best is None and found.rivals == ()
    assert len(found.nearest) == 3


@pytest.mark.parametrize("objective", ["customer", "process", "handle it"])
def test_a_word_alone_is_no_objective(match, objective) -> None:
    found = match(objective)
    assert found.best is None
    assert not found.says_enough and match(f"{objective} refund").says_enough


def test_what_says_nothing_finds_nothing(match) -> None:
    assert match("…").nearest == ()


def test_a_workflow_made_of_a_stored_procedure_is_that_procedure(tmp_path: Path) -> None:
    (tmp_path / "sops").mkdir()
    (tmp_path / "generated").mkdir()
    (tmp_path / "sops" / "tune.md").write_text(
        "# Tune a piano\n\n## Objective\n\nIt sounds right.\n\n## Steps\n\n"
        "1. **Tune.** Each string.\n"
    )
    state = {"Type": "Pass", "End": True}
    workflow = '{"workflow_name": "%s", "asl": {"StartAt": "A", "States": {"A": %s}}}'
    text = str(state).replace("'", '"').replace("True", "true")
    (tmp_path / "generated" / "wf-1.json").write_text(workflow % ("tune-a-piano", text))
    (tmp_path / "generated" / "wf-2.json").write_text(workflow % ("sell-it", text))
    (tmp_path / "broken.json").write_text("{")
    stored, problems = stored_in(tmp_path)
    assert [one.id for one in stored] == ["sops/tune.md", "generated/wf-2.json"]
    assert {Path(one.file or "").name for one in problems} == {"broken.json"}


def test_two_that_fit_alike_are_rivals(tmp_path: Path) -> None:
    same = [
        Stored(f"{n}.md", "procedure", n, "Tune a piano", "It sounds.", (), (), "") for n in "ab"
    ]
    found = Matcher(tmp_path / "x.db", embedder()).match("tune a piano", same)
    assert found.best is None
    assert [one.stored.id for one in found.rivals] == ["a.md", "b.md"]
