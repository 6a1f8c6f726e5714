"""The platform as an MCP server: one module for each family of tools, thin over the other rooms."""
