"""What the language has, as lists: its fields, operators, functions, formats, errors and limits.

They are those that the readers and checkers use; the reference pages are written from them.
"""

from __future__ import annotations

from dcf.asl import errors
from dcf.asl.checks.problem_codes import PROBLEM_CODES
from dcf.asl.comparison import OPERATORS
from dcf.asl.intrinsics.catalogue import INTRINSICS
from dcf.asl.jsonata.functions import AWS_FUNCTIONS, FUNCTION_NAMES
from dcf.asl.jsonpath.comparison import COMPARISONS
from dcf.asl.jsonpath.functions import FUNCTIONS as PATH_FUNCTIONS
from dcf.asl.maps.item_format import DELIMITERS
from dcf.asl.maps.item_manifest import KINDS
from dcf.asl.payload import MAX_DEPTH, PAYLOAD_LIMIT
from dcf.asl.reading.fields import (
    JSONATA_FIELDS,
    JSONPATH_FIELDS,
    PROCESSOR_FIELDS,
    ROOT_FIELDS,
    STATE_FIELDS,
)
from dcf.asl.reading.item_reader_fields import INPUT_TYPES
from dcf.asl.reading.source import MAX_DEFINITION

__all__ = [
    "AWS_FUNCTIONS",
    "COMPARISONS",
    "DELIMITERS",
    "FUNCTION_NAMES",
    "INPUT_TYPES",
    "INTRINSICS",
    "JSONATA_FIELDS",
    "JSONPATH_FIELDS",
    "KINDS",
    "MAX_DEFINITION",
    "MAX_DEPTH",
    "OPERATORS",
    "PATH_FUNCTIONS",
    "PAYLOAD_LIMIT",
    "PROBLEM_CODES",
    "PROCESSOR_FIELDS",
    "ROOT_FIELDS",
    "STATE_FIELDS",
    "errors",
]
