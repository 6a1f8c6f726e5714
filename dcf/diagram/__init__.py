"""Pictures of state machines: Mermaid, SVG and PNG."""
