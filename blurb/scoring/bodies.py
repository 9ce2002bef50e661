"""The body of an answer, in the forms that are understood; whatever else there is, is refused with its form.

An answer without text is one only where a form that is understood says so: its text is null, empty or only thinking,
the service filtered it, or the model refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

TOOL = "answer"
"""What requests call the form of an answer, and the tool that a model may call with it."""
REFUSED, FILTERED = "refused", "content_filter"
"""Why there is no text, where a body says it."""
CUT = ("length", "max_tokens", "max_output_tokens", "model_length")
"""Reasons to end that are the maximum of tokens."""
MESSAGE = {"content", "refusal", "tool_calls", "function_call", "reasoning", "reasoning_content", "reasoning_details"}
MESSAGE |= {"thinking", "annotations", "audio"}
"""Parts of a message that hold an answer, a refusal or thoughts; any other part might hold the answer."""
LOOKS = {
    "candidates": "an answer of Gemini",
    "content": "an answer of Anthropic",
    "generated_text": "an answer of text-generation-inference",
    "choices": "an answer of /v1/chat/completions with an unknown part",
    "output": "an answer of /v1/responses with an unknown part",
    "message": "an answer of Ollama with an unknown part",
}
"""Key of a body that is not understood -> what it looks like."""


class Said(NamedTuple):
    """What a model said.

    :param text: "" for nothing
    :param cut_off: at the maximum of tokens
    :param fault: `REFUSED` or `FILTERED`; else ""
    """

    text: str
    cut_off: bool
    fault: str


def read(body: Any) -> Said:
    """What a model said; a LookupError, TypeError or ValueError for a form that is not understood."""
    message, reason = _message(body)
    text, refused = _text(message.get("content"))
    old = message.get("function_call")
    calls = [each["function"] for each in message.get("tool_calls") or ()] + ([old] if old else [])
    if named := [call["arguments"] for call in calls if call["name"] == TOOL]:
        [given] = named  # of two answers none is the model's
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    fault = FILTERED if reason == "content_filter" else REFUSED if refused or message.get("refusal") else ""
    if not text and not fault:
        parts = {key for key, value in message.items() if value and key not in ("role", "name", "type", "id", "status")}
        if calls or parts - MESSAGE or MESSAGE.isdisjoint(message):
            raise ValueError
    whole = text.encode(errors="replace").decode()  # half an emoji, cut at the end
    return Said("" if fault == FILTERED else whole, reason in CUT, fault if fault == FILTERED or not text else "")


def _message(body: Any) -> tuple[Mapping[str, Any], object]:
    """The message of a body as chat completions have it, and why it ended."""
    match body:
        case {"choices": []}:
            return {"content": None}, None
        case {"choices": [{"message": dict(message), **choice}, *_]}:
            return message, choice.get("finish_reason")
        case {"choices": [{"text": text, **choice}, *_]}:
            return {"content": text}, choice.get("finish_reason")
        case {"message": dict(message)}:
            return message, body.get("done_reason")
        case {"output": [*items]} if body.get("status", "completed") in ("completed", "incomplete"):
            of = {kind: [item for item in items if item["type"] == kind] for kind in ("message", "function_call")}
            if {item["type"] for item in items} <= {*of, "reasoning"}:
                content = [part for item in of["message"] for part in item["content"]]
                calls = [{"function": item} for item in of["function_call"]]
                return {"content": content, "tool_calls": calls}, (body.get("incomplete_details") or {}).get("reason")
    raise ValueError


def _text(content: Any) -> tuple[str, bool]:
    """The text of a content without its thoughts, and whether a part of it is a refusal."""
    if content is None or isinstance(content, str):
        return content or "", False
    text, refused = "", False
    for part in content:
        match part:
            case {"type": "text" | "output_text", "text": str(more)}:
                text += more
            case {"type": "refusal"}:
                refused = True
            case {"type": "thinking" | "reasoning" | "redacted_thinking"}:
                pass
            case _:
                raise ValueError
    return text, refused


def form(body: Any) -> str:
    """What a body that is not understood looks like."""
    if isinstance(body, Mapping) and body:
        keys = ", ".join(str(key)[:40] for key in [*body][:5])
        return next((look for key, look in LOOKS.items() if key in body), f"an object with the keys {keys}")
    if isinstance(body, str):
        return "a page of HTML" if body.lstrip().startswith("<") else "a text"
    return "neither an answer nor an error" if not body else f"a {type(body).__name__}"
