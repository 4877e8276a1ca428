"""E10: hostile names and words render as themselves and as nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ralph.encode.markdown import cell, fenced, inline

HOSTILE = [
    "![x](http://evil.invalid/beacon)",
    "[click](javascript:alert(1))",
    "<script>alert(1)</script>",
    "@everyone look",
    "| a | b |",
    "# head",
    "```\nbreak out\n```",
    "https://evil.invalid",
    "&lt;img src=x&gt;",
    "a\n\n---\n\nb",
]


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_e10_nothing_is_made_of_foreign_text(text: str) -> None:
    html = rendered(inline(text))
    for made in ("<a ", "<img", "<script", "<h1", "<hr", "<pre", "<code"):
        assert made not in html
    assert "@e" not in html
    assert rendered(f"| a |\n| --- |\n| {cell(text)} |").count("<td>") == 1


@given(st.text(alphabet="`~ab\n", max_size=60))
def test_e10_a_fence_cannot_be_broken(text: str) -> None:
    assert rendered(fenced(text)).count("<pre>") == 1
