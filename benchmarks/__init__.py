"""Measurements: each module prints ratios against a yardstick of the same run."""
