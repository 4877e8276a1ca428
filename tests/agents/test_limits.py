"""Every generation of limit text is understood, with its reset time; content never raises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.agents.limits import AHEAD, diagnosis, epoch, read_limit, reset_of, trouble_of
from ralph.facts.event import Trouble

NOW = datetime(2026, 11, 30, 3, 5, tzinfo=UTC)

RESETS = {
    "You've hit your 5-hour limit · resets 6:06am (UTC)": "2026-11-30T06:06",
    "You've hit your weekly limit · resets Dec 3, 6:06am (UTC)": "2026-12-03T06:06",
    "You’ve hit your limit · resets 4:50am (Europe/Rome)": "2026-11-30T03:50",
    "5-hour limit reached ∙ resets 6am": "2026-11-30T06:00",
    "Claude AI usage limit reached|1796018803": "2026-11-30T06:06:43",
    "Claude AI usage limit reached|1796018803000": "2026-11-30T06:06:43",
    "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).": "2026-11-30T18:00",
    "You've hit your limit · resets Dec 30, 11:30am (Asia/Calcutta)": "2026-12-30T06:00",
    "You've hit your limit · resets Dec 23 at 4pm (America/Recife)": "2026-12-23T19:00",
    "You've hit your usage limit · resets 1am (UTC)": "2026-12-01T01:00",
    "You’ve hit your usage limit. Upgrade to Pro (https://x.example/pro), visit https://x.example/usage to purchase"
    " more credits or try again at 5:39 AM.": "2026-11-30T05:39",
    "You've hit your usage limit. Try again at Dec 5th, 2026 4:12 PM.": "2026-12-05T16:12",
    "You've hit your usage limit. Try again at Dec 5, 2026 12:12 AM.": "2026-12-05T00:12",
    "You've hit your usage limit. Upgrade to Pro (https://x) or try again in 5 days 22 hours 11 minutes.":
        "2026-12-06T01:16",
    "You exceeded your current quota, please check your plan. Please retry in 42.5s. Suggested retry after 2s.":
        "2026-11-30T03:05:42.500000",
    "usage limit reached, resets 2026-12-01T10:00:00Z": "2026-12-01T10:00",
    "You have exhausted your capacity on this model. Your quota will reset after 3h12m5s.": "2026-11-30T06:17:05",
    "quota exceeded, try again in 1d2h": "2026-12-01T05:05",
    "[API Error: You exceeded your current quota. Please retry in 42.5s.\nSuggested retry after 2s.]":
        "2026-11-30T03:05:42.500000",
}  # fmt: skip


@pytest.mark.parametrize(("text", "until"), RESETS.items())
def test_a_used_up_plan_is_a_quota_with_its_reset(text: str, until: str) -> None:
    found = read_limit(text, NOW)
    assert found is not None
    assert found.kind is Trouble.QUOTA
    assert found.until == datetime.fromisoformat(until).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "You've hit your usage limit. Visit https://x.example to purchase more credits or try again later.",
        "Credit balance is too low",
        "You hit your spend cap set by the owner of your workspace. Ask an owner to increase your spend cap.",
        "Your workspace is out of credits. Add credits to continue.",
        "Quota exceeded. Check your plan and billing details.",
        "You have exhausted your daily quota on this model.",
        "You've hit your monthly spend limit",
        "You're out of extra usage",
        "To use Codex with your ChatGPT plan, upgrade to Plus: https://x.example",
        "Qwen OAuth quota exceeded: Your free daily quota has been reached.",
        "402 You have no quota remaining this month.",
        "You have exceeded your premium request allowance.",
        "Error: Insufficient balance. Add credits to continue.",
        "litellm.RateLimitError: insufficient_quota",
    ],
)
def test_a_quota_without_a_time_has_no_reset(text: str) -> None:
    found = read_limit(text, NOW)
    assert found is not None
    assert (found.kind, found.until) == (Trouble.QUOTA, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("API Error: Request rejected (429) · This request would exceed your rate limit.", Trouble.OUTAGE),
        ("API Error: 529 Overloaded. This is a server-side issue", Trouble.OUTAGE),
        ("Selected model is at capacity. Please try a different model.", Trouble.OUTAGE),
        ("stream disconnected before completion: Transport error: network error", Trouble.OUTAGE),
        ("exceeded retry limit, last status: 429 Too Many Requests", Trouble.OUTAGE),
        ("unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:1/", Trouble.AUTH),
        ("OAuth token has expired. Please obtain a new token or refresh your existing token.", Trouble.AUTH),
        ("Not logged in · Please run /login", Trouble.AUTH),
        ("Prompt is too long · the request is ~210000 tokens", Trouble.CONTEXT),
        ("Codex ran out of room in the model’s context window. Start a new thread", Trouble.CONTEXT),
        ("The model `gpt-9` does not exist or you do not have access to it.", Trouble.MISCONFIGURED),
        ("error: unknown option '--dangerously'", Trouble.MISCONFIGURED),
        ("error: unexpected argument '--foo' found", Trouble.MISCONFIGURED),
        ("Not inside a trusted directory and --skip-git-repo-check was not specified.", Trouble.MISCONFIGURED),
        ("[API Error: This request would exceed your rate limit.]\nPlease wait and try again later.", Trouble.OUTAGE),
        ('[API Error: {"error":{"code":529,"message":"Overloaded","status":"overloaded_error"}}]', Trouble.OUTAGE),
        ("[API Error: Incomplete JSON segment at the end]", Trouble.OUTAGE),
        ("[API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]", Trouble.OUTAGE),
        ("The socket connection was closed unexpectedly.", Trouble.OUTAGE),
        ("Failed to get response from the AI model; retried 5 times Last error: unexpected EOF", Trouble.OUTAGE),
        ("litellm.APIConnectionError: Connection error.", Trouble.OUTAGE),
        ("Check your COPILOT_PROVIDER_API_KEY or COPILOT_PROVIDER_BEARER_TOKEN.", Trouble.AUTH),
        ("When using Gemini API, you must specify the GEMINI_API_KEY environment variable.", Trouble.AUTH),
        ("The API provider is not able to authenticate you. Check your API key.", Trouble.AUTH),
        ("The provider rejected the prompt as too long, but automatic recovery could not reduce it.", Trouble.CONTEXT),
        (
            "Gemini CLI is not running in a trusted directory. To proceed, either use `--skip-trust`",
            Trouble.MISCONFIGURED,
        ),
        ("No input provided via stdin. Input can be provided by piping data", Trouble.MISCONFIGURED),
        ("Error: User message must be provided through stdin or as argument", Trouble.MISCONFIGURED),
        ("[API Error: Model stream ended with empty response text.]", None),
        ("Reached max session turns for this session. Increase the number of turns", None),
        ("Reached maximum number of turns (3)", None),
        ("the loop is finished, all tests pass", None),
        ("", None),
    ],
)
def test_other_failures_have_their_kind(text: str, kind: Trouble | None) -> None:
    assert trouble_of(text) is kind


def test_a_reset_just_past_is_now_and_an_older_one_is_tomorrow() -> None:
    just = reset_of("usage limit reached · resets 3:00am (UTC)", NOW)
    older = reset_of("usage limit reached · resets 2:00am (UTC)", NOW)
    assert just == NOW.replace(minute=0)
    assert older == NOW.replace(day=1, month=12, hour=2, minute=0)


def test_a_january_date_in_december_is_next_year_s() -> None:
    found = reset_of("You've hit your limit · resets Jan 2, 11:30am (Asia/Calcutta)", NOW.replace(month=12))
    assert found == datetime(2027, 1, 2, 6, 0, tzinfo=UTC)


def test_a_window_shorter_than_its_reset_makes_the_text_stale() -> None:
    """A 5-hour limit cannot lift in 23 hours: it has lifted, go on at once."""
    assert reset_of("You've hit your 5-hour limit · resets 2am (UTC)", NOW) == NOW.replace(hour=2, minute=0)


def test_a_bare_time_is_in_the_zone_of_this_machine() -> None:
    local = NOW.astimezone(ZoneInfo("America/New_York"))  # 22:05 the day before
    assert reset_of("hit your usage limit or try again at 11:30 PM.", local) == NOW.replace(hour=4, minute=30)


@pytest.mark.parametrize(
    "text",
    [
        "usage limit reached|9999999999",
        "usage limit reached · resets 25:00pm (UTC)",
        "usage limit reached · resets Feb 30, 6am (UTC)",
        "try again in 99999 days",
        "resets Jan 2, 2031, 6am (UTC)",
        "limit resets 2026-13-45T99:99:99Z",
    ],
)
def test_a_reset_that_cannot_be_is_none(text: str) -> None:
    assert reset_of(text, NOW) is None


@pytest.mark.parametrize("zone", ["Mars/Base", "../../etc/passwd", "Europe", "////", "_"])
def test_an_unknown_zone_is_read_as_this_machine_s(zone: str) -> None:
    assert reset_of(f"limit reached · resets 6:06am ({zone})", NOW) == NOW.replace(hour=6, minute=6)


@pytest.mark.parametrize("value", [None, True, "1796018803", -5, 0, float("nan"), float("inf"), 10**400, [1]])
def test_an_epoch_that_is_none_is_none(value: object) -> None:
    assert epoch(value) is None


def test_the_last_line_that_says_why_is_quoted() -> None:
    tail = b"warming up\nError: OAuth token revoked\x1b[0m, please run /login\n    at main (cli.js:12)\n"
    assert diagnosis(tail) == (Trouble.AUTH, "Error: OAuth token revoked\x1b[0m, please run /login")
    assert diagnosis(b"Invalid API key " + b"x" * 8000) == (Trouble.AUTH, ("Invalid API key " + "x" * 8000)[:500])
    assert diagnosis(b"") is None


WORDS = """usage limit reached!resets !in !5 days !Jan !30, !6:06am !|!1796018803!(UTC)!(!)!2026-12-01T10:00:00!Z!
again at !99!:!pm!\u2219!429 !\ud800"""
PIECES = st.lists(st.sampled_from(WORDS.split("!")), max_size=14).map("".join)


@given(st.one_of(st.text(max_size=200), PIECES))
def test_no_text_raises_and_no_reset_is_far(text: str) -> None:
    found = read_limit(text, NOW)
    until = reset_of(text, NOW)
    assert until is None or NOW - timedelta(days=1) <= until <= NOW + AHEAD
    assert found is None or found.kind is trouble_of(text)
