"""From a workflow document, or plain ASL, back to a procedure."""
