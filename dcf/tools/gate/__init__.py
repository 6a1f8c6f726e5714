"""The gate: what every tool call passes before it is made, and the words it decides with."""
