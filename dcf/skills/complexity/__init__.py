"""How hard a skill is, and the tier of model that asks for."""
