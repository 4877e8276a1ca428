"""Print the price of one model as JSON. A program of its own, run by path: it imports nothing of ralph."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

from genai_prices import data_snapshot, types


def spellings(name: str) -> Iterator[str]:
    """Yield the name as given, then without what gateways and dates put around it.

    `openrouter/anthropic/claude-sonnet-4.5`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `claude-opus-4-8[1m]`,
    `models/gemini-2.5-pro`, `vertex_ai/claude-sonnet-4-5@20250929`, `gpt-5.5-2026-04-01`.
    """
    yield name
    bare = re.sub(r"\[[^\]]*\]$", "", name.rsplit("/", 1)[-1].lower())
    bare = re.sub(r"^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral|cohere)\.", "", bare)
    bare = re.sub(r"(?:-v\d+)?(?::[a-z0-9-]+)?$", "", bare)
    yield bare
    undated = re.sub(r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|default))+$", "", bare)
    yield undated
    yield undated.replace(".", "-")


def dollars(price: Decimal | types.TieredPrices | None) -> float | None:
    """Return the rate per million tokens; of a tiered one the base."""
    if isinstance(price, types.TieredPrices):
        price = price.base
    return None if price is None else float(price)


def price(name: str) -> dict[str, float | None]:
    """Return the rates of the model, {} where no spelling of its name is in the table."""
    table = data_snapshot.get_snapshot()
    for spelled in dict.fromkeys(spellings(name)):
        try:
            _, model = table.find_provider_model(spelled, None, None, None)
        except LookupError:
            continue
        rates = model.get_prices(datetime.now(UTC))
        names = {"input": "input_mtok", "output": "output_mtok"}
        names |= {"cache_read": "cache_read_mtok", "cache_write": "cache_write_mtok"}
        return {ours: dollars(getattr(rates, theirs, None)) for ours, theirs in names.items()}
    return {}


def age_days() -> int | None:
    """Return the days since the table was installed, which it is at least old; the table itself has no date."""
    for file in importlib.metadata.files("genai-prices") or ():
        if file.name == "METADATA":
            installed = file.locate().stat().st_mtime  # type: ignore[attr-defined]
            return max(0, int((time.time() - installed) // 86400))
    return None


if __name__ == "__main__":
    print(json.dumps({**price(sys.argv[1]), "age_days": age_days()}))  # noqa: T201 - its one result
