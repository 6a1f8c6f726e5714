"""Skills tried over the wire: every case and every test of a skill, with what they cover."""
