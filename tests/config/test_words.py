"""Every word of the configuration that is refused, and what the accepted ones mean."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.config import kinds, phrases, words
from ralph.config.kinds import Word
from ralph.config.schema import KEYS
from ralph.config.words import WordError

TAKEN: list[tuple[Callable[[object], object], object, object]] = [
    (words.duration, "90s", 90.0),
    (words.duration, "30m", 1800.0),
    (words.duration, "8h", 28800.0),
    (words.duration, "1h30m", 5400.0),
    (words.duration, "2d", 172800.0),
    (words.duration, "500ms", 0.5),
    (words.duration, "1.5h", 5400.0),
    (words.duration, "365d", 31536000.0),
    (words.money, "5", 5_000_000),
    (words.money, "5.00", 5_000_000),
    (words.money, "$5", 5_000_000),
    (words.money, "0.000001", 1),
    (words.money, 5, 5_000_000),
    (words.money, Decimal("0.1"), 100_000),
    (words.count, "50", 50),
    (words.count, 50, 50),
    (words.size, "512MB", 512_000_000),
    (words.size, "512MiB", 512 << 20),
    (words.size, "1.5KiB", 1536),
    (words.clock_time, "07:00", "07:00"),
    (words.clock_time, datetime.time(7, 0), "07:00"),
    (words.switch, "on", True),
    (words.switch, False, False),
    (words.command, "pytest -q", ["/bin/sh", "-c", "pytest -q"]),
    (words.command, ["pytest", "-q"], ["pytest", "-q"]),
    (words.command, ("make", ""), ["make", ""]),
    (phrases.gate, "promise", "promise"),
    (phrases.gate, "promise=ALL DONE", "promise=ALL DONE"),
    (phrases.gate, "checklist=docs/TODO.md", "checklist=docs/TODO.md"),
    (phrases.gate, "command=make check", "command=make check"),
    (phrases.reason, "iteration-limit", "iteration-limit"),
]

REFUSED: list[tuple[Callable[[object], object], object, str]] = [
    (words.duration, "90", '"90s"'),
    (words.duration, 90, '"90m"'),
    (words.duration, Decimal("1.5"), '"90s"'),
    (words.duration, "0s", "above zero"),
    (words.duration, "0.0001ms", "above zero"),
    (words.duration, "-5m", "8h"),
    (words.duration, "+5m", "8h"),
    (words.duration, "08h", "8h"),
    (words.duration, "8h30", "8h"),
    (words.duration, "1h,30m", "8h"),
    (words.duration, "30m1h", "8h"),
    (words.duration, "1h1h", "8h"),
    (words.duration, "1e3s", "8h"),
    (words.duration, "inf", "8h"),
    (words.duration, "nan", "8h"),
    (words.duration, "", "8h"),
    (words.duration, " 8h", "8h"),
    (words.duration, "8H", "8h"),
    (words.duration, "٣s", "8h"),
    (words.duration, "366d", "365d"),
    (words.duration, f"{'9' * 400}d", "365d"),
    (words.duration, "1y", "8h"),
    (words.duration, True, "8h"),
    (words.duration, Decimal("NaN"), '"90s"'),
    (words.duration, "unlimited", "8h"),
    (words.money, "0", "above zero"),
    (words.money, 0, "above zero"),
    (words.money, "0.00", "above zero"),
    (words.money, "-5", "5.00"),
    (words.money, "five", "5.00"),
    (words.money, "05", "5.00"),
    (words.money, "5e3", "5.00"),
    (words.money, "1,000", "5.00"),
    (words.money, "inf", "5.00"),
    (words.money, Decimal("NaN"), "5.00"),
    (words.money, Decimal("Infinity"), "5.00"),
    (words.money, "", "5.00"),
    (words.money, "$", "5.00"),
    (words.money, "5.", "5.00"),
    (words.money, "5€", "5.00"),
    (words.money, True, "5.00"),
    (words.money, "0.0000001", "six decimals"),
    (words.money, "1000000001", "1000000000"),
    (words.money, "9" * 5000, "5.00"),
    (words.count, "0", "above zero"),
    (words.count, 0, "above zero"),
    (words.count, -1, "above zero"),
    (words.count, "08", "above zero"),
    (words.count, "+20", "above zero"),
    (words.count, "5.0", "above zero"),
    (words.count, Decimal("5.0"), "above zero"),
    (words.count, "", "above zero"),
    (words.count, "inf", "above zero"),
    (words.count, "nan", "above zero"),
    (words.count, "1_000", "above zero"),
    (words.count, True, "above zero"),
    (words.count, None, "above zero"),
    (words.count, "1" * 40, str(words.MOST_COUNTED)),
    (words.size, "512", "512MB"),
    (words.size, 512, "512MB"),
    (words.size, "0MB", "above zero"),
    (words.size, "-1MB", "512MB"),
    (words.size, "08MB", "512MB"),
    (words.size, "512mb", "512MB"),
    (words.size, "", "512MB"),
    (words.size, "inf", "512MB"),
    (words.size, "99999TB", "B"),
    (words.clock_time, "7:00", "07:00"),
    (words.clock_time, "24:00", "07:00"),
    (words.clock_time, "07:60", "07:00"),
    (words.clock_time, "", "07:00"),
    (words.clock_time, datetime.time(7, 0, 30), "07:00"),
    (words.switch, "yes", "on or off"),
    (words.switch, 1, "on or off"),
    (words.switch, "", "on or off"),
    (words.command, "", "Give a value"),
    (words.command, "  ", "Give a value"),
    (words.command, [], "Name a program"),
    (words.command, [" "], "Name a program"),
    (words.command, ["make", 4], "quotes"),
    (words.command, "a\0b", "out"),
    (words.command, ["a", "b\0"], "out"),
    (words.command, 5, "pytest"),
    (phrases.gate, "promis", "Did you mean promise?"),
    (phrases.gate, "promise=", "promise=TOKEN"),
    (phrases.gate, "promise=  ", "promise=TOKEN"),
    (phrases.gate, "promise=`x`", "backticks"),
    (phrases.gate, "promise=**", "backticks"),
    (phrases.gate, "promise=a\nb", "printable"),
    (phrases.gate, "checklist=", "checklist=FILE"),
    (phrases.gate, "checklist=/etc/passwd", "relative"),
    (phrases.gate, "checklist=../TODO.md", "relative"),
    (phrases.gate, "command=", "command=CMD"),
    (phrases.gate, "", "Give a value"),
    (phrases.gate, 3, "quotes"),
    (phrases.pattern, "a\nb", "one pattern"),
    (phrases.word, "a b", "blanks"),
    (phrases.reason, "itration-limit", "Did you mean iteration-limit?"),
    (phrases.reason, "bug", "words are"),
]


@pytest.mark.parametrize(("read", "raw", "value"), TAKEN)
def test_a_word_has_this_meaning(read: Callable[[object], object], raw: object, value: object) -> None:
    assert read(raw) == value


@pytest.mark.parametrize(("read", "raw", "fix"), REFUSED)
def test_a_wrong_word_is_refused_with_the_way_out(read: Callable[[object], object], raw: object, fix: str) -> None:
    """R075, R076: a cap that is not understood is an error, never no cap."""
    with pytest.raises(WordError) as caught:
        read(raw)
    assert fix in caught.value.fix
    assert caught.value.what
    assert caught.value.fix.endswith(".")


@pytest.mark.parametrize("raw", ["lint", "=x", "a b=x", "lint=", "lint= ", "tests=x", "../x=y", "a.b=c"])
def test_a_check_needs_a_name_and_a_command(raw: str) -> None:
    with pytest.raises(WordError):
        phrases.named_check(raw)


def test_a_check_may_hold_equals_signs() -> None:
    assert phrases.named_check("lint=A=1 ruff check") == ("lint", "A=1 ruff check")


def test_a_long_foreign_value_is_quoted_short() -> None:
    with pytest.raises(WordError) as caught:
        words.duration("x" * 10_000 + "\x1b[2J")
    assert len(caught.value.what) < 120
    assert "\x1b" not in caught.value.what


LIMITS = [key for key in KEYS if key.is_limit and isinstance(key.kind, Word)]
NEAR_MISSES = st.sampled_from(
    [
        "",
        " ",
        "none",
        "None",
        "null",
        "no",
        "OFF",
        "Unlimited",
        "unlimited ",
        " off",
        "infinite",
        "inf",
        "nan",
        "-1",
        "0",
    ]
)


@given(
    raw=st.one_of(NEAR_MISSES, st.text(max_size=12), st.from_regex(r"[-+]?[0-9.e]{1,6}[a-zA-Z]{0,3}", fullmatch=True))
)
def test_no_text_but_the_typed_words_lifts_a_cap(raw: str) -> None:
    for key in LIMITS:
        assert isinstance(key.kind, Word)
        try:
            value = key.kind.read(raw)
        except WordError:
            continue
        if value is None:
            assert raw in ("unlimited", "off")
        elif not isinstance(value, str):
            assert isinstance(value, int | float)
            assert 0 < value < float("inf")


@given(raw=st.one_of(st.none(), st.booleans(), st.integers(), st.decimals(), st.lists(st.text()), st.just({"a": 1})))
def test_no_toml_value_of_another_type_lifts_a_cap(raw: object) -> None:
    for key in LIMITS:
        assert isinstance(key.kind, Word)
        try:
            assert key.kind.read(raw) is not None
        except WordError:
            continue


@pytest.mark.parametrize("word", words.OFF_WORDS)
def test_the_typed_words_lift_a_cap(word: str) -> None:
    assert kinds.limit(kinds.MONEY).read(word) is None


@given(micro=st.integers(1, words.MOST_DOLLARS * 10**6))
def test_money_spelled_is_money_read(micro: int) -> None:
    assert words.money(phrases.spell_money(micro)) == micro


@given(millis=st.integers(1, 365 * 86_400_000))
def test_a_duration_spelled_is_a_duration_read(millis: int) -> None:
    assert words.duration(phrases.spell_duration(millis / 1000)) == pytest.approx(millis / 1000)


@given(found=st.integers(1, words.MOST_COUNTED))
def test_a_size_spelled_is_a_size_read(found: int) -> None:
    assert words.size(phrases.spell_size(found)) == found


@pytest.mark.parametrize("typed", ["promise", "promise=X Y", "checklist=a/b.md", "command=make x=y"])
def test_a_gate_spelled_is_a_gate_read(typed: str) -> None:
    assert phrases.gate_text(phrases.gate_of(typed)) == typed
