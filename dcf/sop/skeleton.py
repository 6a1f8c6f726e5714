"""A procedure to start from."""

from __future__ import annotations

from dcf.sop.condition import Comparison, Constant, Name
from dcf.sop.conduct import Retry, Transfer
from dcf.sop.direction import Finish, GoTo, Stop
from dcf.sop.procedure import Guardrail, Sop, Value
from dcf.sop.step import Branch, Handler, Step


def new_sop(title: str) -> Sop:
    """A procedure called ``title`` without problems, one step of each common kind."""
    looked_at = Branch(Comparison(Name("answer"), "==", Constant("no")), GoTo("4"))
    return Sop(
        title,
        "Say here what is reached when all is done.",
        (
            Step(
                "1",
                "Find something out",
                text="Say in words what is done; whoever does it reads this.",
                reads=(Transfer("request", "request"),),
                writes=(Transfer("answer", "answer"),),
                retries=(Retry(3, 10, 2.0, errors=("DCF.ToolUnavailable",)),),
                handlers=(Handler((), Stop("NotFoundOut")),),
            ),
            Step("2", "Is it what was hoped for?", "decision", branches=(looked_at,)),
            Step("3", "Finish", "end", then=Finish()),
            Step("4", "Stop with Refused: the answer was `answer`", "end", then=_REFUSED),
        ),
        inputs=(Value("request", description="What is asked for"),),
        outputs=(Value("answer", description="What came of it"),),
        guardrails=(Guardrail("Change nothing that was not asked for."),),
    )


_REFUSED = Stop("Refused", "the answer was `answer`")
