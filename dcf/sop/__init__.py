"""Standard operating procedures: written in Markdown or YAML, read with the line of every problem.

``parse(text, file)`` reads either form; ``print_markdown`` and ``print_yaml`` write them, and what
they write parses back to an equal ``Sop``. ``draft(text, file)`` makes a procedure of any runbook
in Markdown, ``draft_of(read_source(data, file))`` of one in any format; ``outcome(draft)`` tells by
line what became of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.sop.argument_list import (
        Argument,
        ArgumentList,
        NotPlain,
        Placeholder,
        read_argument_list,
    )
    from dcf.sop.clash import clashes, lane_name
    from dcf.sop.condition import (
        AllOf,
        AnyOf,
        Comparison,
        Condition,
        Constant,
        Match,
        Membership,
        Name,
        Not,
        Presence,
        names_in,
    )
    from dcf.sop.conduct import Approval, Budget, Join, Keep, Retry, Transfer, ValueType, Wait
    from dcf.sop.direction import CONTINUE, Continue, Direction, Finish, GoTo, Stop
    from dcf.sop.formats.read import read_source
    from dcf.sop.language.budget_text import print_budget
    from dcf.sop.language.choices_text import print_choices
    from dcf.sop.language.condition_print import print_condition
    from dcf.sop.language.condition_text import read_condition
    from dcf.sop.language.direction_text import print_direction
    from dcf.sop.language.duration import print_duration
    from dcf.sop.language.join_text import print_join
    from dcf.sop.language.loop_text import print_loop
    from dcf.sop.language.phrase import Unreadable
    from dcf.sop.language.retry_text import print_retry
    from dcf.sop.language.run_text import print_run
    from dcf.sop.language.type_text import print_type
    from dcf.sop.language.wait_text import print_wait
    from dcf.sop.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_STEPS
    from dcf.sop.markdown.printing import print_markdown
    from dcf.sop.parse import Form, check, form_of, parse, parse_markdown, parse_yaml
    from dcf.sop.procedure import VALUE_TYPES, Guardrail, Note, Role, Sop, Value
    from dcf.sop.reading import Reading
    from dcf.sop.runbook.drafted import (
        PLACES,
        Draft,
        NoDraft,
        Place,
        Question,
        Sentence,
        question_id,
    )
    from dcf.sop.runbook.kept_answers import (
        answers_file,
        answers_in,
        has_answers,
        unfit_answers,
    )
    from dcf.sop.runbook.outcome import outcome
    from dcf.sop.runbook.reading import draft, draft_of
    from dcf.sop.runbook.source import Source
    from dcf.sop.skeleton import new_sop
    from dcf.sop.step import (
        STEP_KINDS,
        YES_OR_NO,
        Branch,
        Command,
        Handler,
        Lane,
        Loop,
        Step,
        StepKind,
    )
    from dcf.sop.yaml_form.document import schema_text
    from dcf.sop.yaml_form.printing import print_yaml, to_data
else:
    export_late(__name__)

__all__ = [
    "CONTINUE",
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "MAX_STEPS",
    "PLACES",
    "STEP_KINDS",
    "VALUE_TYPES",
    "YES_OR_NO",
    "AllOf",
    "AnyOf",
    "Approval",
    "Argument",
    "ArgumentList",
    "Branch",
    "Budget",
    "Command",
    "Comparison",
    "Condition",
    "Constant",
    "Continue",
    "Direction",
    "Draft",
    "Finish",
    "Form",
    "GoTo",
    "Guardrail",
    "Handler",
    "Join",
    "Keep",
    "Lane",
    "Loop",
    "Match",
    "Membership",
    "Name",
    "NoDraft",
    "Not",
    "NotPlain",
    "Note",
    "Place",
    "Placeholder",
    "Presence",
    "Question",
    "Reading",
    "Retry",
    "Role",
    "Sentence",
    "Sop",
    "Source",
    "Step",
    "StepKind",
    "Stop",
    "Transfer",
    "Unreadable",
    "Value",
    "ValueType",
    "Wait",
    "answers_file",
    "answers_in",
    "check",
    "clashes",
    "draft",
    "draft_of",
    "form_of",
    "has_answers",
    "lane_name",
    "names_in",
    "new_sop",
    "outcome",
    "parse",
    "parse_markdown",
    "parse_yaml",
    "print_budget",
    "print_choices",
    "print_condition",
    "print_direction",
    "print_duration",
    "print_join",
    "print_loop",
    "print_markdown",
    "print_retry",
    "print_run",
    "print_type",
    "print_wait",
    "print_yaml",
    "question_id",
    "read_argument_list",
    "read_condition",
    "read_source",
    "schema_text",
    "to_data",
    "unfit_answers",
]
