"""The bridge to Agent Skills: folders with a SKILL.md, in and out, and as resources."""
