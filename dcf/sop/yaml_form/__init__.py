"""The YAML form: the same procedure as members, the phrases inside them as in Markdown."""
