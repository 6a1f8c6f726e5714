"""Pass states that assign and show variables."""

from __future__ import annotations

from typing import Any


def assigning(count: str, kept: str) -> list[dict[str, Any]]:
    """Passes that assign the variables of their frame."""
    return [
        {"Assign": {f"{count}.$": f"States.MathAdd(${count}, 1)"}},
        {"Assign": {kept: {"list": [], "big": 2**53 + 1}}},
        {
            "QueryLanguage": "JSONata",
            "Assign": {count: f"{{% ${count} + 1 %}}", kept: f"{{% [${count}, 'x'] %}}"},
            "Output": f"{{% $merge([$states.input, {{'before': ${count}}}]) %}}",
        },
    ]


def reading(name: str) -> dict[str, Any]:
    """A Pass that shows a variable."""
    return {"Parameters": {"var.$": f"${name}"}, "ResultPath": "$.seen"}
