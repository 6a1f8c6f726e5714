"""Runbooks in other formats at the command line: planned, compared, answered, followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dcf_user import Dcf

_RST = """\
Drain a node
============

.. warning:: Never drain two nodes at once.

Steps
-----

#. Move the work away::

     kubectl drain $NODE

#. Look at the node. TODO: who knows how?
"""


@pytest.fixture
def dcf(tmp_path: Path) -> Dcf:
    return Dcf(tmp_path)


def test_restructuredtext_is_planned_answered_compared_and_followed(dcf: Dcf) -> None:
    file = dcf.folder / "drain.rst"
    file.write_text(_RST)
    planned = dcf("plan", "--from-sop", "drain.rst", "--out", "drain.json", "--json")
    (question,) = planned.json["questions"]
    assert (planned.code, question["line"], question["text"]) == (0, 13, "TODO: who knows how?")
    answered = dcf("plan", "--from-sop", "drain.rst", "--answer", f"{question['id']}=guardrail")
    assert answered.code == 0 and (dcf.folder / "drain.answers.yaml").is_file()
    beside = dcf("sop", "show", "drain.rst", "--against", "drain.json")
    assert beside.code == 0 and "kubectl drain $NODE" in beside.out
    # Edited by hand and changed in the text: the edit stays, the answer too.
    workflow = json.loads((dcf.folder / "drain.json").read_text())
    workflow["asl"]["States"]["MoveTheWorkAway"]["TimeoutSeconds"] = 600
    (dcf.folder / "drain.json").write_text(json.dumps(workflow))
    file.write_text(_RST.replace("#. Look", "#. Wait 5 minutes\n#. Look"))
    followed = dcf("plan", "--from-sop", "drain.rst", "--out", "drain.json")
    assert followed.code == 0 and "MoveTheWorkAway" in followed.out
    states = json.loads((dcf.folder / "drain.json").read_text())["asl"]["States"]
    assert states["MoveTheWorkAway"]["TimeoutSeconds"] == 600
    assert any(state["Type"] == "Wait" for state in states.values())


def test_what_is_no_procedure_in_our_own_form_is_refused_by_its_format(dcf: Dcf) -> None:
    (dcf.folder / "drain.rst").write_text(_RST)
    (dcf.folder / "broken.docx").write_bytes(b"PK\x03\x04")
    for command in (("sop", "check"), ("plan", "--strict", "--from-sop")):
        done = dcf(*command, "drain.rst")
        assert done.code == 2 and "this is reStructuredText" in done.err
        assert "dcf plan --from-sop drain.rst makes a draft of it" in done.err
    done = dcf("plan", "--from-sop", "broken.docx")
    assert done.code == 2 and "[SOP_FORMAT]" in done.err and "Traceback" not in done.err
