"""E7: no secret value comes through, however it is written and wherever it was cut; innocent text stays."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.encode.redact import Redactor, secret_names
from ralph.encode.terminal import clean

SECRET = 'cana/ry+7Q"x\\Zé 99=='
ENVIRON = {"MY_API_KEY": SECRET, "HOME": "/home/somebody"}
REDACTOR = Redactor.of(ENVIRON)
MARK = "[redacted MY_API_KEY]"


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "MYSQL_PWD",
        "npm_config_authToken",
        "COOKIE",
        "SESSION_COOKIE",
        "SENTRY_DSN",
        "GITHUBTOKEN",
        "APIKEY",
        "CLIENT-SECRET",
        "basicAuth",
        "SSH_KEY_PASSPHRASE",
        "DB_PASS",
        "MY_CREDENTIALS",
        "RALPH_NOTIFY__WEBHOOK",
    ],
)
def test_a_name_that_says_secret_is_one(name: str) -> None:
    assert secret_names({name: SECRET}) == (name,)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "GIT_AUTHOR_NAME",
        "SSH_AUTH_SOCK",
        "XAUTHORITY",
        "KEYBOARD",
        "MONKEY",
        "AUTHOR",
        "TURKEY",
        "GOOGLE_CREDENTIALS_FILE",
        "TOKEN_PATH",
        "COMPASS",
        "PASSAGE",
    ],
)
def test_a_name_that_says_something_else_is_none(name: str) -> None:
    assert secret_names({name: "/some/where/else"}) == ()


@pytest.mark.parametrize("value", ["", "true", "64000", "seven77", "xxxxxxxxxxxx", "   7   "])
def test_a_value_that_tells_nothing_is_no_secret(value: str) -> None:
    assert secret_names({"MAX_OUTPUT_TOKENS": value}) == ()


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(SECRET, id="itself"),
        pytest.param(f"x{SECRET}y", id="inside a word"),
        pytest.param(base64.b64encode(SECRET.encode()).decode(), id="base64"),
        pytest.param(base64.urlsafe_b64encode(b"u:" + SECRET.encode() + b"\n").decode(), id="base64, second place"),
        pytest.param(base64.b64encode(b"me:" + SECRET.encode()).decode(), id="base64, first place again"),
        pytest.param(base64.b64encode(b"a" + SECRET.encode() + b"z").decode(), id="base64, third place"),
        pytest.param(quote(SECRET, safe=""), id="URL"),
        pytest.param(quote_plus(SECRET), id="form"),
        pytest.param(re.sub("%..", lambda m: m[0].lower(), quote(SECRET, safe="")), id="URL, small letters"),
        pytest.param(json.dumps({"k": SECRET}), id="JSON"),
        pytest.param(json.dumps({"k": SECRET}, ensure_ascii=False), id="JSON, UTF-8"),
        pytest.param(json.dumps(json.dumps({"k": SECRET})), id="JSON in JSON"),
        pytest.param(json.dumps(SECRET).replace("/", "\\/"), id="JSON of PHP"),
    ],
)
def test_e7_a_value_is_found_however_it_is_written(written: str) -> None:
    shown = REDACTOR.text(f"before {written} after")
    assert MARK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert len(shown) < len("before  after") + len(MARK) + 20, "what is left is the frame"


@pytest.mark.parametrize("cut", ["…", "...", "", "\nmore", "\n… 90 characters, 77ab …\nmore", '", "next": 1'])
def test_e7_a_beginning_that_was_cut_off_goes_too(cut: str) -> None:
    shown = REDACTOR.text(f"failed with {SECRET[:11]}{cut}")
    assert shown == f"failed with {MARK}{cut}"


@pytest.mark.parametrize("before", ["", "lines before\n", "…", "… 90 characters …\n"])
def test_e7_an_end_whose_beginning_was_cut_off_goes_too(before: str) -> None:
    assert REDACTOR.text(f"{before}{SECRET[-11:]} was wrong") == f"{before}{MARK} was wrong"


def test_a_beginning_in_the_middle_of_a_text_is_no_secret() -> None:
    text = f"the word {SECRET[:9]}, and more"
    assert REDACTOR.text(text) == text


def test_e7_each_line_of_a_secret_of_several_lines_is_one() -> None:
    redactor = Redactor.of({"DEPLOY_SECRET": "first-line-77\r\nsecond-line-88\nab\n"})
    assert redactor.text("a second-line-88 b\nab") == "a [redacted DEPLOY_SECRET] b\nab"
    assert redactor.text("first-line-77\nsecond-line-88") == "[redacted DEPLOY_SECRET]"


TOKENS = {
    "anthropic": "sk-ant-api03-Zz11Yy22Xx33",
    "openai": "sk-proj-abcdef1234567890abcd",
    "github": "ghp_" + "a1B2" * 9,
    "github, fine": "github_pat_11ABCDEFG0" + "x9" * 20,
    "gitlab": "glpat-" + "A1b2-" * 4,
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "google": "AIzaSy" + "A1b2C" * 7,
    "slack": "xoxb-1234567890-abcdefghij",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123",
    "bearer": "Authorization: Bearer abc123def456ghi789",
    "basic": "authorization: Basic dXNlcjpwYXNzd29yZDEyMw==",
    "url": "postgres://admin:hunter2hunter@db.invalid/x",
    "key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC/+=\n-----END RSA PRIVATE KEY-----",
    "key in JSON": "-----BEGIN PRIVATE KEY-----\\nMIIEow\\nIBAAKC/+=\\n-----END PRIVATE KEY-----\\n",
    "key, cut": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEAAAABBBBBB",
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("frame", ["{}", "it is {} here", '{{"text":"key:\\n{}"}}', "({})"])
def test_e7_a_well_known_token_needs_no_environment(token: str, frame: str) -> None:
    shown = Redactor().text(frame.format(token))
    assert "[redacted " in shown
    for word in (
        "Zz11",
        "abcdef1234",
        "a1B2",
        "x9x9",
        "A1b2",
        "IOSFODNN",
        "abcdefghij",
        "eyJzdWIi",
        "def456",
        "hunter2",
    ):
        assert word not in shown
    for word in ("dXNlcjpw", "MIIEow", "IBAAKC", "b3Blbn", "ZXktdj"):
        assert word not in shown


@pytest.mark.parametrize(
    "text",
    [
        "task-force-of-twenty-people-2026-or-so",
        "git@example.invalid:team/repo.git and https://example.invalid:8080/a@b",
        "risk-adjusted-returns-are-better-than-none-1",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "the bearer of bad news; basic understanding of things",
        "-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----",
        "tests/test_token.py::test_secret_key_is_read FAILED",
        "/home/somebody/project",
    ],
)
def test_innocent_text_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_a_forged_beginning_of_a_key_hides_nothing_but_what_could_be_one() -> None:
    told = "-----BEGIN PRIVATE KEY-----\ntwo words: here\nverdict: red"
    assert Redactor().text(told) == "[redacted key]\ntwo words: here\nverdict: red"
    lines = Redactor().lines()
    assert [lines.line(one) for one in told.split("\n")] == ["[redacted key]", "two words: here", "verdict: red"]


def test_e7_a_key_that_comes_line_by_line_is_one() -> None:
    lines = Redactor().lines()
    came = [
        "x -----BEGIN RSA PRIVATE KEY-----",
        "Proc-Type: 4,ENCRYPTED",
        "",
        "MIIE/+=",
        "-----END RSA PRIVATE KEY-----",
    ]
    shown = [lines.line(one) for one in (*came, "MIIEow again")]
    assert shown == ["x [redacted key]", "[redacted key]", "", "[redacted key]", "[redacted key]", "MIIEow again"]


def test_e7_every_text_of_a_json_value_is_looked_at_and_our_own_words_stay() -> None:
    redactor = Redactor.of({"PASSWORD": "completed", "OTHER_TOKEN": "Tok-77-en"})
    data = {
        "outcome": "completed",
        "detail": "it was completed",
        "deep": [{"x": ("Tok-77-en", 3, None, True, 0.5)}],
        "Tok-77-en": 1,
        "completed": 2,
    }
    assert redactor.value(data) == {
        "outcome": "completed",
        "detail": "it was [redacted PASSWORD]",
        "deep": [{"x": ["[redacted OTHER_TOKEN]", 3, None, True, 0.5]}],
        "[redacted OTHER_TOKEN]": 1,
        "completed": 2,
    }


def test_a_value_that_contains_itself_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert isinstance(REDACTOR.value(loop), list)


HARD = [
    "redacted",
    "[redacted A_TOKEN]",
    "A_TOKEN] [redact",
    "abababab",
    "babababa",
    "]xxxyyzz[",
    "aaaaaaab",
    "a\tb\nc d e",
]
WORDS = st.sampled_from([*HARD, "sk-ant-", "12345678", "…", "\n", '"', "ab", "a", "[", "Bearer ", "://", ":", "@"])


@given(st.lists(st.sampled_from(HARD) | st.text(min_size=8, max_size=16), max_size=4), st.lists(WORDS).map("".join))
def test_e7_any_text_is_redacted_once_and_for_all(values: list[str], text: str) -> None:
    redactor = Redactor.of({f"{'ABCD'[i]}_TOKEN": value for i, value in enumerate(values)})
    shown = redactor.text(text)
    assert redactor.text(shown) == shown
    assert isinstance(redactor.text(clean(shown)), str)


@given(st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"]), min_size=9), st.text(), st.text())
def test_e7_a_canary_is_found_between_any_texts(canary: str, before: str, after: str) -> None:
    redactor = Redactor.of({"CANARY_TOKEN": canary})
    if not secret_names({"CANARY_TOKEN": canary}):
        return
    shown = redactor.text(before + canary + after).replace("[redacted CANARY_TOKEN]", "")
    assert canary.strip() not in shown


@given(st.text(min_size=12, max_size=40, alphabet="abcXYZ0189+/="), st.integers(8, 12), st.integers(0, 40))
def test_e7_a_cut_anywhere_leaves_no_long_piece(secret: str, least: int, at: int) -> None:
    redactor = Redactor.of({"CUT_TOKEN": secret})
    if not secret_names({"CUT_TOKEN": secret}) or secret != secret.strip():
        return
    text = f"was {secret} told"
    shown = redactor.text(text[: min(at, len(text))] + "…")
    kept = shown.replace("[redacted CUT_TOKEN]", "")
    pieces = [secret[i : i + least] for i in range(len(secret) - least + 1)]
    assert not any(piece in kept for piece in pieces[:1]), shown
