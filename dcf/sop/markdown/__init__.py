"""The Markdown form: headings, bullet lists, numbered steps."""
