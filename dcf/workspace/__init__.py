"""What agents share beside their runs: JSON documents under a prefix, files under a root."""
