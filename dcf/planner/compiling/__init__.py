"""From a procedure to a workflow document, without a model."""
