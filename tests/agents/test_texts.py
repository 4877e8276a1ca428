"""The two agents that print text for people: aider and mini-swe-agent, with its trajectory file."""

from __future__ import annotations

import json

import pytest

from ralph.agents.aider_text import number
from ralph.facts.event import (
    Finish,
    Finished,
    Known,
    Retrying,
    Said,
    Scope,
    Started,
    ToolCalled,
    ToolReturned,
    Trouble,
    UsageSeen,
)
from ralph.facts.usage import Tokens
from tests.agents.captures import captures, events_of
from tests.agents.telling import finishes, returned, text, troubles

HEAD = "Aider v0.86.2\nMain model: gpt with diff edit format\nRepo-map: disabled\n\n"


@pytest.mark.parametrize(("shown", "count"), [("734", 734), ("2.5k", 2500), ("1.2M", 1_200_000), (None, 0)])
def test_aider_rounds_its_counts(shown: str | None, count: int) -> None:
    assert number(shown) == count


def test_aider_s_line_of_tokens_is_a_model_call() -> None:
    line = "Tokens: 12k sent, 3.2k cache write, 8k cache hit, 300 received. Cost: $0.05 message, $1.10 session."
    events = text("aider", f"{HEAD}An answer.\n{line}", code=0)
    assert events == [
        Started(None, "gpt", "0.86.2"),
        Said("An answer.", "call_1"),
        UsageSeen(Scope.CALL, "call_1", Tokens(4000, 300, 8000, 3200), 50_000),
        Finished(Finish.OK, "An answer.", "", 1),
    ]


def test_r014_aider_s_exit_code_0_is_no_success_without_an_answer() -> None:
    assert finishes(text("aider", HEAD, code=0)) == []
    assert finishes(text("aider", f"{HEAD}An answer.\nTokens: 1 sent, 2 received.", code=1)) == []


def test_an_error_that_aider_overcame_is_a_retry() -> None:
    error = "litellm.RateLimitError: RateLimitError: slow \ndown.\nRetrying in 0.5 seconds...\n"
    events = text("aider", f"{HEAD}{error}Fine.\nTokens: 1 sent, 2 received.", code=0)
    assert [e.delay_s for e in events if isinstance(e, Retrying)] == [0.5]
    assert finishes(events) == [Finish.OK]
    assert troubles(events) == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("litellm.AuthenticationError: no", Trouble.AUTH),
        ("litellm.RateLimitError: slow down", Trouble.OUTAGE),
        ("litellm.RateLimitError: You exceeded your current quota", Trouble.QUOTA),
        ("litellm.BadRequestError: prompt is too long", Trouble.CONTEXT),
        ("litellm.ContextWindowExceededError: x", Trouble.CONTEXT),
        ("litellm.NotFoundError: x", Trouble.MISCONFIGURED),
        ("litellm.InternalServerError: x", Trouble.OUTAGE),
    ],
)
def test_aider_s_last_error_is_its_end(error: str, kind: Trouble) -> None:
    events = text("aider", f"{HEAD}{error}", code=0)
    assert troubles(events) == [kind]
    assert finishes(events) == [Finish.FAILED]


def test_r023_an_answer_that_quotes_an_error_is_an_answer() -> None:
    quoted = "litellm.RateLimitError: usage limit reached\nApplied edit to x\nModel x has hit a token limit!\n"
    events = text("aider", f"{HEAD}See:\n{quoted}Tokens: 1 sent, 2 received.", code=0)
    assert finishes(events) == [Finish.OK]
    assert troubles(events) == []
    assert not returned(events)


STEP = "mini-swe-agent (step {}, ${}):\nThinking.\n\n```\nls\n```\n\nTool:\n<returncode>\n{}\n<output>\na\nb\n\n"


def test_mini_s_steps_are_told_as_they_come() -> None:
    rule = "─" * 80
    events = text("mini", STEP.format(1, "0.00", 0) + f"{rule}\n" + STEP.format(2, "0.37", 3) + rule)
    assert events == [
        Said("Thinking.", "step_1"),
        ToolCalled("call_1", "bash", '{"command":"ls"}', "step_1"),
        ToolReturned("call_1", "a\nb", Known.KNOWN, failed=False),
        UsageSeen(Scope.RUN, "", None, 365_000),
        Said("Thinking.", "step_2"),
        ToolCalled("call_2", "bash", '{"command":"ls"}', "step_2"),
        ToolReturned("call_2", "a\nb", Known.KNOWN, failed=True),
    ]


def test_a_result_that_mini_cut_is_told_as_cut() -> None:
    shown = STEP.format(1, "0.00", 0).replace("<output>", "<output_head>")
    assert [e.known for e in returned(text("mini", shown))] == [Known.TRUNCATED]


@pytest.mark.parametrize(
    ("words", "code", "how"),
    [
        ("", 0, Finish.OK),
        ("LimitsExceeded", 0, Finish.OWN_LIMIT),
        ("litellm.AuthenticationError: no", 1, Finish.FAILED),
    ],
)
def test_without_its_file_mini_ends_by_its_text(words: str, code: int, how: Finish) -> None:
    assert finishes(text("mini", f"Exit:\n{words}\nSaved trajectory to 'x'", code=code)) == [how]


def test_mini_interrupted_tells_no_end() -> None:
    assert finishes(text("mini", "Exit:\n\n", code=1)) == []
    assert finishes(text("mini", "mini-swe-agent (step 1, $0.00):\nhm", code=0)) == []


def test_mini_s_file_tells_dollars_and_tokens_and_what_the_text_did_not() -> None:
    run = next(c for c in captures() if c.name == "mini-swe-agent-2.4.6/tool_error")
    document = json.loads(run.files["trajectory"])
    document["info"]["model_stats"]["instance_cost"] = 0.0123
    events = events_of("mini", [], files={"trajectory": json.dumps(document).encode()})
    assert events == [
        Said("THOUGHT: scripted", "message_2"),
        ToolCalled("call_scripted_0001_0", "bash", '{"command":"echo about to fail >&2; exit 3"}', "message_2"),
        ToolReturned("call_scripted_0001_0", "about to fail\n", Known.KNOWN, failed=True),
        Said("Finishing.", "message_4"),
        UsageSeen(Scope.RUN, "", Tokens(2000, 40), 12_300, "scripted-model"),
        Finished(Finish.OK, "Finishing.", "", 2),
    ]


def test_mini_s_file_of_a_run_that_was_killed_tells_no_end() -> None:
    document = {"info": {"model_stats": {"instance_cost": 0.5, "api_calls": 3}, "exit_status": ""}, "messages": []}
    events = events_of("mini", [], files={"trajectory": json.dumps(document).encode()})
    assert events == [UsageSeen(Scope.RUN, "", None, 500_000)]
