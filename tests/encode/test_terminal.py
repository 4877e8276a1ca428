"""B4: nothing an agent prints can steer the terminal of whoever reads our lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.encode.terminal import clean, one_line

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\ud800-\udfff]")
PIECES = [
    "\x1b",
    "[",
    "]",
    "0;",
    "31m",
    "52;c;",
    "\x07",
    "\\",
    "P",
    "\x9b",
    "\x9c",
    "\r",
    "\n",
    "\b",
    "a",
    "\u202e",
    "é",
]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        pytest.param("plain\ttext\n", "plain\ttext\n", id="text passes"),
        pytest.param("\x1b[31mred\x1b[0m", "red", id="colour goes"),
        pytest.param("\x1b]0;title\x07x", "x", id="title goes"),
        pytest.param("\x1b]52;c;aGk=\x1b\\x", "x", id="clipboard goes"),
        pytest.param("\x1bPq#0\x1b\\x", "x", id="device string goes"),
        pytest.param("\x9b2Jx", "x", id="8-bit control sequence goes"),
        pytest.param("ok\rEVIL", "ok\\x0dEVIL", id="overwriting is shown"),
        pytest.param("a\r\nb", "a\nb", id="line ends of other systems"),
        pytest.param("\u202egnp.exe", "\\u202egnp.exe", id="direction trick is shown"),
        pytest.param("a\U000e0041b", "a\\U000e0041b", id="tag character is shown"),
        pytest.param("\ud800", "\\ud800", id="lone surrogate is shown"),
        pytest.param("\x1b]52;unterminated", "\\x1b]52;unterminated", id="an unterminated sequence is defused"),
    ],
)
def test_b4_control_text_is_defused(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_b4_any_text_is_clean_and_stays_so(text: str) -> None:
    cleaned = clean(text)
    assert not FORBIDDEN.search(cleaned)
    assert clean(cleaned) == cleaned


@given(st.text(max_size=500))
def test_one_line_is_short_and_single(text: str) -> None:
    line = one_line(text, 40)
    assert len(line) <= 40
    assert "\n" not in line
