"""Reads the body of an answer in the known forms; any other is refused with its form.

An answer without text counts only if a known form says so: its text is null, empty or only thinking, the service
filtered it, or the model refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

TOOL = "answer"
"""Name of the form of an answer in requests, and of the tool that a model may call with it."""
REFUSED, FILTERED = "refused", "content_filter"
"""Reasons for a missing text that a body may state."""
CUT = ("length", "max_tokens", "max_output_tokens", "model_length")
"""Reasons to end that mean the maximum of tokens."""
ENDS = frozenset(
    {
        *CUT,
        FILTERED,
        "none",
        "stop",
        "stop_sequence",
        "eos",
        "eos_token",
        "end_turn",
        "complete",
        "completed",
    }
    | {"tool_calls", "tool_use", "function_call"}
)
"""Reasons that are understood; with any other (`error`, `abort`, `load`) a text may be a part of the answer."""
PARTS = {
    "text": "text",
    "output_text": "text",
    "refusal": "",
    **dict.fromkeys(("thinking", "redacted_thinking"), ""),
}
"""Type of a part of a message -> its key with a text of the answer; "" for none."""
MESSAGE = frozenset(
    {
        *("content", "refusal", "tool_calls", "function_call"),
        *("thinking", "reasoning", "reasoning_content", "reasoning_details"),
    }
)
"""Keys of a message that may have an answer, a refusal or thoughts; any other might have the answer."""
BESIDE = frozenset({"role", "name", "type", "id", "status", "annotations"})
"""Keys that have none of these."""
RESPONSES = frozenset({"message", "function_call", "reasoning"})
"""Types of the items of /v1/responses."""
LOOKS = {
    "custom_id": "a request or a line of another service; give the file with the answers",
    "candidates": "an answer of Gemini",
    "content": "an answer of Anthropic",
    "generated_text": "an answer of text-generation-inference",
    "choices": "an answer of /v1/chat/completions with an unknown part",
    "output": "an answer of /v1/responses with an unknown part",
    "message": "an answer of Ollama with an unknown part",
}
"""Key of a body that is not understood -> what it looks like."""


def read(body: Any) -> tuple[str, bool, str]:
    """The text of an answer, "" for none, whether the maximum of tokens cut it, and why there is none.

    :returns: the last is `REFUSED` or `FILTERED`, else ""
    :raises LookupError: or TypeError or ValueError for a form that is not understood
    """
    message, reason = _message_of(body)
    content = message.get("content")
    parts = (
        [{"type": "text", "text": content or ""}] if isinstance(content, str | None) else content
    )
    said = "".join(part[PARTS[part["type"]]] if PARTS[part["type"]] else "" for part in parts)
    given = [*(message.get("tool_calls") or ()), {"function": message.get("function_call")}]
    calls = [each["function"] for each in given if each["function"]]
    [answer] = [call["arguments"] for call in calls if call["name"] == TOOL] or [said]
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    refused = message.get("refusal") or any(part["type"] == "refusal" for part in parts)
    fault = FILTERED if reason == FILTERED else REFUSED if refused and not text else ""
    unknown = {key for key, value in message.items() if value} - MESSAGE - BESIDE
    if (
        any(call["name"] != TOOL for call in calls)
        or reason not in ENDS
        or message.get("role", "assistant") != "assistant"
        or (not (text or fault) and (unknown or MESSAGE.isdisjoint(message)))
    ):
        raise ValueError  # the answer may be in an unknown part, or is not whole
    # The text may end with half an emoji.
    return ("" if fault else text.encode(errors="replace").decode(), reason in CUT, fault)


def _message_of(body: Any) -> tuple[Mapping[str, Any], str]:
    """The message of a body as chat completions have it, and why it ended, in small letters."""
    message: Any
    match body:
        case {"choices": []}:
            message, ends = {"content": None}, body
        case {"choices": [{"message": dict(message)} as ends]} if not ends.get("error"):
            pass
        case {"choices": [{"text": text} as ends]} if not ends.get("error"):
            message = {"content": text}
        case {"message": dict(message)} as ends if ends.get("done", True):
            pass
        case {"output": [*items]} as ends if {*(item["type"] for item in items)} <= RESPONSES:
            calls = [{"function": item} for item in items if item["type"] == "function_call"]
            parts = [
                part for item in items if item["type"] == "message" for part in item["content"]
            ]
            message = {"content": parts, "tool_calls": calls}
            ends = {"finish_reason": ends.get("status"), **(ends.get("incomplete_details") or {})}
        case _:
            raise ValueError
    reasons = (ends.get(key) for key in ("reason", "finish_reason", "done_reason"))
    return message, next(filter(None, reasons), "none").casefold()


def form(body: Any) -> str:
    """What a body that is not understood looks like."""
    if isinstance(body, Mapping) and body:
        keys = ", ".join(str(key)[:40] for key in [*body][:5])
        return next(
            (look for key, look in LOOKS.items() if key in body), f"an object with the keys {keys}"
        )
    kind = (
        "a page of HTML"
        if str(body).lstrip().startswith("<")
        else f"a {type(body).__name__} and no object"
    )
    return kind if body else "neither an answer nor an error"
