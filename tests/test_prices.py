"""Prices come from the bundled table, through a child, and never from a guess."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ralph.facts.usage import MICRO, Price, Tokens
from ralph.prices import Lookup, lookup, price_of
from ralph.prices.table import spellings


def test_a_model_has_the_price_of_the_table() -> None:
    found = lookup("claude-opus-4-8")
    assert found.price == Price(5 * MICRO, 25 * MICRO, 0.5 * MICRO, 6.25 * MICRO)
    assert found.age_days is not None
    assert found.price is not None
    assert found.price.of(Tokens(1000, 20, 0, 0)) == 5500


@pytest.mark.parametrize("name", ["nonsense-9", "claude-ultra-77", "", None, "-c", "--help", "a\nb", "x" * 300])
def test_an_unknown_model_has_no_price(name: str | None) -> None:
    assert price_of(name) is None


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-8[1m]", "claude-opus-4-8"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("openai/gpt-5.5-2026-04-01", "gpt-5.5"),
    ],
)
def test_prefixes_dates_and_suffixes_are_not_part_of_a_name(given: str, plain: str) -> None:
    assert plain in list(spellings(given))


def test_a_gateway_name_has_the_price_of_its_model() -> None:
    assert price_of("openai/gpt-5.5-2026-04-01") == price_of("gpt-5.5") is not None


def test_an_old_table_is_said() -> None:
    price = Price(1, 1)
    assert "200 days old" in Lookup(price, 200).warning
    assert Lookup(price, 20).warning == Lookup(None, 900).warning == ""


def test_the_table_never_stays_in_our_process() -> None:
    code = "import sys, ralph.prices as p; assert p.price_of('gpt-5.5'); assert 'genai_prices' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
