"""One module for each family of tools."""
