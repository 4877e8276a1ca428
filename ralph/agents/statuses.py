"""What an HTTP status, or the name of an exception of the `litellm` library, says stopped a model call."""

from __future__ import annotations

from ralph.agents.fields import count
from ralph.agents.limits import trouble_of
from ralph.facts.event import Trouble

_STATUS = {
    401: Trouble.AUTH,
    402: Trouble.QUOTA,
    403: Trouble.AUTH,
    404: Trouble.MISCONFIGURED,
    408: Trouble.OUTAGE,
    413: Trouble.CONTEXT,
    429: Trouble.OUTAGE,
}
LITELLM = {
    "AuthenticationError": Trouble.AUTH,
    "PermissionDeniedError": Trouble.AUTH,
    "NotFoundError": Trouble.MISCONFIGURED,
    "ContextWindowExceededError": Trouble.CONTEXT,
    "BudgetExceededError": Trouble.QUOTA,
    "RateLimitError": Trouble.OUTAGE,
    "APIError": Trouble.OUTAGE,
    "APIConnectionError": Trouble.OUTAGE,
    "InternalServerError": Trouble.OUTAGE,
    "ServiceUnavailableError": Trouble.OUTAGE,
    "BadGatewayError": Trouble.OUTAGE,
    "Timeout": Trouble.OUTAGE,
}
"""Its exceptions by class name; `BadRequestError` is not here, since only its text tells."""
_MORE_EXACT = frozenset({Trouble.QUOTA, Trouble.CONTEXT})


def of_status(status: object) -> Trouble | None:
    """Return what a status of 400 and above says, None for a 400 itself and for anything that is no status."""
    code = count(status)
    if code is not None and 500 <= code <= 599:
        return Trouble.OUTAGE
    return _STATUS.get(code) if code is not None else None


def weighed(structured: Trouble | None, words: str) -> Trouble | None:
    """Return the kind of trouble: the structured one, unless the words say that it is a used-up plan or a full context.

    A rate limit and a used-up quota are one status (429), an overflow is any 400.
    """
    read = trouble_of(words)
    if structured is None or (structured is Trouble.OUTAGE and read in _MORE_EXACT):
        return read
    return structured
