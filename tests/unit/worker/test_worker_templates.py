"""The user's own templates: read until they change, and pinned with a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.worker.test_worker_agent_tasks import FIND, a_skill
from unit.workflow.stage import document_of, flow

from dcf.agents.templates import InvalidTemplate, template_named, templates
from dcf.skills import SkillCatalog
from dcf.workflow import further_pins

CATALOG = SkillCatalog([a_skill("find", FIND)])
TEMPLATE = """
apiVersion: agent-template/v1
kind: AgentTemplate
metadata: {{name: {name}, version: 1.0.0, description: Mine.}}
spec: {{role: worker, prompt: worker, modelTier: 1, lifecycle: ephemeral}}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "clerk.yaml").write_text(TEMPLATE.format(name="clerk"))
    return tmp_path


def pins(own: Path | None, **reference: str) -> dict[str, str]:
    binding = {"skills": ["find"], "agent_template_ref": reference}
    document = document_of(flow(A={"Type": "Task", "AgentBinding": binding}), catalog=CATALOG)
    return further_pins(document, CATALOG, {}, own)


def test_a_run_pins_the_templates_that_its_bindings_name(own: Path) -> None:
    assert pins(own, name="clerk") == {
        "template:clerk": template_named("clerk", own).digest,
        "template:worker": template_named("worker").digest,
    }
    # Bundles of other systems name templates that DCF has not: workers take their place.
    assert list(pins(own, name="triage-desk")) == ["template:worker"]
    assert list(pins(None, name="clerk")) == ["template:worker"]


def test_a_template_that_changes_has_another_pin(own: Path) -> None:
    before = pins(own, name="clerk")["template:clerk"]
    assert templates(own) is not None and template_named("clerk", own).digest == before
    text = (own / "clerk.yaml").read_text().replace("1.0.0", "1.0.10")
    (own / "clerk.yaml").write_text(text)
    assert pins(own, name="clerk")["template:clerk"] != before


def test_a_template_that_is_wrong_is_an_error_with_its_place(own: Path) -> None:
    (own / "clerk.yaml").write_text(TEMPLATE.format(name="clark"))
    with pytest.raises(InvalidTemplate) as wrong:
        pins(own, name="clerk")
    assert wrong.value.problems[0].code == "TEMPLATE_NAME"
    with pytest.raises(InvalidTemplate):
        pins(own / "nowhere", name="clerk")
