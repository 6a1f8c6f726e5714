"""A workflow that follows the text it was compiled from, and keeps what was edited by hand."""
