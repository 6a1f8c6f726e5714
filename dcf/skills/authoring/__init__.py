"""What authors write: read with places, checked against schemas and rules."""
