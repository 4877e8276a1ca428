"""The values that every room speaks in: frozen records, no behaviour that touches the world."""
