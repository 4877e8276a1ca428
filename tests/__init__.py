"""Tests mirror the package; `e2e` runs the installed command."""
