"""Reading a definition: text with places, fields, states, machines."""
