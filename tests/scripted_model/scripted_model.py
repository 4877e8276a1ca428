#!/usr/bin/env python3
"""A scripted model server for testing coding-agent CLIs without a model.

It listens on 127.0.0.1 and speaks four wire formats, streaming and not:

  * Anthropic Messages            POST .../messages            (+ /count_tokens)
  * OpenAI Responses              POST .../responses
  * OpenAI Chat Completions       POST .../chat/completions
  * Gemini                        POST .../models/M:generateContent
                                  POST .../models/M:streamGenerateContent

Every "main" request takes the next reply of a scenario (a JSON file); requests
that agents make on the side (titles, summaries, routing) get a stock answer and
do not use up the script.  Replies name abstract actions ("bash", "write",
"read") which are turned into whatever tool the calling agent offers, so that one
scenario file drives every agent.  See README.md for the scenario format.

Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

# --------------------------------------------------------------------------
# Scenario: which reply comes next
# --------------------------------------------------------------------------

DEFAULT_USAGE = {"input": 1000, "output": 20, "cache_read": 0, "cache_write": 0, "reasoning": 0}


class Script:
    """The list of replies and the place reached in it; shared by all threads."""

    def __init__(self, spec: JSON | list[Any], repo: str):
        if isinstance(spec, list):
            spec = {"replies": spec}
        self.name: str = spec.get("name", "unnamed")
        self.replies: list[JSON] = spec.get("replies", [])
        if not self.replies:
            raise ValueError("scenario has no replies")
        # What a main request gets once the list is used up:
        # "last" (repeat the last reply), "loop" (start again), or a reply.
        self.after: str | JSON = spec.get("after", {"text": "(script exhausted)"})
        # How side requests are told from main ones: "no-tools" or "never".
        self.aux: str = spec.get("aux", "no-tools")
        self.aux_text: str = spec.get("aux_text", "ok")
        self.usage: JSON = {**DEFAULT_USAGE, **spec.get("usage", {})}
        self.repo = repo
        self._lock = threading.Lock()
        self._next = 0

    def reset(self) -> None:
        with self._lock:
            self._next = 0

    @property
    def position(self) -> int:
        return self._next

    def take(self) -> tuple[int, JSON]:
        """Index and reply for a main request; moves on by one."""
        with self._lock:
            n = self._next
            self._next += 1
        flat = self.replies
        expanded: list[JSON] = []
        for reply in flat:
            expanded.extend([reply] * int(reply.get("times", 1)))
        if n < len(expanded):
            return n, expanded[n]
        if self.after == "last":
            return n, expanded[-1]
        if self.after == "loop":
            return n, expanded[n % len(expanded)]
        if isinstance(self.after, dict):
            return n, self.after
        raise ValueError(f"bad 'after': {self.after!r}")


# --------------------------------------------------------------------------
# Abstract actions -> the calling agent's own tools
# --------------------------------------------------------------------------

# (tool name an agent may offer, function making its arguments).  First match wins.
ToolTable = list[tuple[str, Callable[[JSON], Any]]]

BASH: ToolTable = [
    ("Bash", lambda a: {"command": a["command"], "description": "scripted step"}),
    ("bash", lambda a: {"command": a["command"], "description": "scripted step"}),
    ("exec_command", lambda a: {"cmd": a["command"]}),
    ("shell_command", lambda a: {"command": a["command"]}),
    ("run_shell_command", lambda a: {"command": a["command"], "description": "scripted step", "is_background": False}),
    ("shell", lambda a: {"command": ["bash", "-lc", a["command"]]}),
    ("execute_command", lambda a: {"command": a["command"]}),
]
WRITE: ToolTable = [
    ("Write", lambda a: {"file_path": a["abs"], "content": a["content"]}),
    ("write", lambda a: {"filePath": a["abs"], "content": a["content"]}),
    ("write_file", lambda a: {"file_path": a["abs"], "content": a["content"]}),
    ("create", lambda a: {"path": a["abs"], "file_text": a["content"]}),
    ("create_file", lambda a: {"path": a["abs"], "content": a["content"]}),
    (
        "apply_patch",
        lambda a: (
            f"*** Begin Patch\n*** Add File: {a['path']}\n"
            + "".join(f"+{line}\n" for line in a["content"].splitlines())
            + "*** End Patch\n"
        ),
    ),
]
READ: ToolTable = [
    ("Read", lambda a: {"file_path": a["abs"]}),
    ("read", lambda a: {"filePath": a["abs"]}),
    ("read_file", lambda a: {"file_path": a["abs"], "absolute_path": a["abs"]}),
    ("view", lambda a: {"path": a["abs"]}),
]


def offered_tools(body: JSON) -> dict[str, JSON]:  # noqa: C901 - one branch a wire format
    """name -> declaration, whichever wire format the request is in."""
    found: dict[str, JSON] = {}
    for tool in body.get("tools") or []:
        if not isinstance(tool, dict):
            continue
        if "functionDeclarations" in tool:  # Gemini
            for decl in tool["functionDeclarations"]:
                found[decl["name"]] = decl
        elif isinstance(tool.get("function"), dict):  # Chat Completions
            found[tool["function"]["name"]] = tool["function"]
        elif tool.get("type") == "namespace":  # Responses: nested tools
            for sub in tool.get("tools", []):
                if "name" in sub:
                    found[sub["name"]] = sub
        elif "name" in tool:  # Anthropic, Responses
            found[tool["name"]] = tool
        elif "type" in tool:
            found[tool["type"]] = tool
    return found


def schema_of(decl: JSON) -> Any:
    for key in ("input_schema", "parameters", "parametersJsonSchema"):
        if isinstance(decl.get(key), dict):
            return decl[key]
    return {}


def trim_args(args: Any, decl: JSON) -> Any:
    """Drop arguments the offered schema does not know (some agents reject them)."""
    props = schema_of(decl).get("properties")
    if isinstance(args, dict) and isinstance(props, dict) and props:
        return {k: v for k, v in args.items() if k in props}
    return args


def resolve_call(call: JSON, tools: dict[str, JSON], repo: str) -> tuple[str, Any]:
    """(tool name, arguments) for one scripted call."""
    if "tool" in call:  # a literal tool call
        args = json.loads(json.dumps(call.get("args", {})).replace("{repo}", repo))
        return call["tool"], args
    do = call["do"]
    act = dict(call)
    if "path" in act:
        act["abs"] = act["path"] if Path(act["path"]).is_absolute() else str(Path(repo) / act["path"])
    table = {"bash": BASH, "write": WRITE, "read": READ}[do]
    for name, make in table:
        if name in tools:
            return name, trim_args(make(act), tools[name])
    if do != "bash":  # no such tool: say it in shell
        if do == "write":
            cmd = f"printf %s {shlex.quote(act['content'])} > {shlex.quote(act['path'])}"
        else:
            cmd = f"cat {shlex.quote(act['path'])}"
        return resolve_call({"do": "bash", "command": cmd}, tools, repo)
    return BASH[0][0], BASH[0][1](act)


def sample_for_schema(schema: JSON) -> Any:
    """A small value that fits a JSON schema; for side requests wanting JSON."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return sample_for_schema(schema[key][0])
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    kind = str(kind or "object").lower()
    if kind == "object":
        return {k: sample_for_schema(v) for k, v in (schema.get("properties") or {}).items()}
    if kind == "array":
        return []
    if kind in ("number", "integer"):
        return 0
    if kind == "boolean":
        return False
    return "ok"


# --------------------------------------------------------------------------
# One reply, resolved: what every wire format needs to say it
# --------------------------------------------------------------------------


class Turn:
    """A reply after resolution: text, calls, stop reason and usage."""

    def __init__(self, reply: JSON, tools: dict[str, JSON], script: Script, serial: int):
        self.serial = serial
        self.text: str = reply.get("text", "").replace("{repo}", script.repo)
        self.thinking: str = reply.get("thinking", "")
        self.refusal: bool = reply.get("stop") == "refusal"
        calls = list(reply.get("calls", []))
        if "do" in reply or "tool" in reply:
            calls.append(reply)
        self.calls: list[tuple[str, str, Any, bool]] = []  # (call id, name, args, freeform)
        for i, call in enumerate(calls):
            name, args = resolve_call(call, tools, script.repo)
            freeform = tools.get(name, {}).get("type") == "custom" or isinstance(args, str)
            self.calls.append((f"scripted_{serial:04d}_{i}", name, args, freeform))
        # "end" | "tool" | "max_tokens" | "refusal"
        self.stop: str = reply.get("stop") or ("tool" if self.calls else "end")
        self.usage: JSON = {**script.usage, **reply.get("usage", {})}

    def text_parts(self) -> list[str]:
        """The text in a few pieces, as a stream would carry it."""
        return re.findall(r"\S+\s*|\s+", self.text) or ([self.text] if self.text else [])


# --------------------------------------------------------------------------
# Wire formats.  Each gives: a whole body, and a stream of (event, data).
# --------------------------------------------------------------------------


class Anthropic:
    name = "anthropic"

    @staticmethod
    def usage(t: Turn) -> JSON:
        u = t.usage
        return {
            "input_tokens": u["input"],
            "cache_creation_input_tokens": u["cache_write"],
            "cache_read_input_tokens": u["cache_read"],
            "output_tokens": u["output"],
        }

    @staticmethod
    def stop(t: Turn) -> str:
        return {"end": "end_turn", "tool": "tool_use"}.get(t.stop, t.stop)

    @classmethod
    def blocks(cls, t: Turn) -> list[JSON]:
        out: list[JSON] = []
        if t.thinking:
            out.append({"type": "thinking", "thinking": t.thinking, "signature": "c2NyaXB0ZWQ="})
        if t.text:
            out.append({"type": "text", "text": t.text})
        for cid, name, args, _ in t.calls:
            out.append({"type": "tool_use", "id": "toolu_" + cid, "name": name, "input": args})
        return out

    @classmethod
    def message(cls, t: Turn, model: str) -> JSON:
        return {
            "id": f"msg_scripted_{t.serial:04d}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": cls.blocks(t),
            "stop_reason": cls.stop(t),
            "stop_sequence": None,
            "usage": cls.usage(t),
        }

    @classmethod
    def stream(cls, t: Turn, model: str) -> Iterator[tuple[str, JSON]]:
        head = cls.message(t, model)
        head.update(content=[], stop_reason=None)
        head["usage"] = {**head["usage"], "output_tokens": 1}
        yield "message_start", {"type": "message_start", "message": head}
        for i, block in enumerate(cls.blocks(t)):
            kind = block["type"]
            empty = {
                "text": {"type": "text", "text": ""},
                "thinking": {"type": "thinking", "thinking": "", "signature": ""},
                "tool_use": {**block, "input": {}},
            }[kind]
            yield "content_block_start", {"type": "content_block_start", "index": i, "content_block": empty}
            deltas: list[JSON] = []
            if kind == "text":
                deltas = [{"type": "text_delta", "text": p} for p in t.text_parts()]
            elif kind == "thinking":
                deltas = [
                    {"type": "thinking_delta", "thinking": block["thinking"]},
                    {"type": "signature_delta", "signature": block["signature"]},
                ]
            else:
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
            for d in deltas:
                yield "content_block_delta", {"type": "content_block_delta", "index": i, "delta": d}
            yield "content_block_stop", {"type": "content_block_stop", "index": i}
        yield (
            "message_delta",
            {
                "type": "message_delta",
                "delta": {"stop_reason": cls.stop(t), "stop_sequence": None},
                "usage": cls.usage(t),
            },
        )
        yield "message_stop", {"type": "message_stop"}

    @staticmethod
    def error(status: int, kind: str, message: str, extra: JSON) -> JSON:
        default = {
            400: "invalid_request_error",
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            413: "request_too_large",
            429: "rate_limit_error",
            500: "api_error",
            529: "overloaded_error",
        }.get(status, "api_error")
        return {
            "type": "error",
            "error": {"type": kind or default, "message": message, **extra},
            "request_id": "req_scripted",
        }


class Responses:
    name = "responses"

    @staticmethod
    def usage(t: Turn) -> JSON:
        u = t.usage
        total_in = u["input"] + u["cache_read"]
        return {
            "input_tokens": total_in,
            "input_tokens_details": {"cached_tokens": u["cache_read"]},
            "output_tokens": u["output"],
            "output_tokens_details": {"reasoning_tokens": u["reasoning"]},
            "total_tokens": total_in + u["output"],
        }

    @classmethod
    def items(cls, t: Turn) -> list[JSON]:
        out: list[JSON] = []
        if t.thinking:
            out.append(
                {
                    "type": "reasoning",
                    "id": f"rs_scripted_{t.serial:04d}",
                    "summary": [{"type": "summary_text", "text": t.thinking}],
                }
            )
        if t.text or t.refusal:
            part = (
                {"type": "refusal", "refusal": t.text}
                if t.refusal
                else {"type": "output_text", "text": t.text, "annotations": []}
            )
            out.append(
                {
                    "type": "message",
                    "id": f"msg_scripted_{t.serial:04d}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                }
            )
        for cid, name, args, freeform in t.calls:
            if freeform:
                text = args if isinstance(args, str) else json.dumps(args)
                out.append(
                    {
                        "type": "custom_tool_call",
                        "id": "ctc_" + cid,
                        "call_id": "call_" + cid,
                        "name": name,
                        "input": text,
                        "status": "completed",
                    }
                )
            else:
                out.append(
                    {
                        "type": "function_call",
                        "id": "fc_" + cid,
                        "call_id": "call_" + cid,
                        "name": name,
                        "arguments": json.dumps(args),
                        "status": "completed",
                    }
                )
        return out

    @classmethod
    def message(cls, t: Turn, model: str) -> JSON:
        body: JSON = {
            "id": f"resp_scripted_{t.serial:04d}",
            "object": "response",
            "created_at": 1700000000,
            "status": "completed",
            "model": model,
            "output": cls.items(t),
            "usage": cls.usage(t),
            "error": None,
            "incomplete_details": None,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "metadata": {},
        }
        if t.stop == "max_tokens":
            body.update(status="incomplete", incomplete_details={"reason": "max_output_tokens"})
        return body

    @classmethod
    def stream(cls, t: Turn, model: str) -> Iterator[tuple[str, JSON]]:
        final = cls.message(t, model)
        seq = 0

        def ev(kind: str, **data: Any) -> tuple[str, JSON]:
            nonlocal seq
            seq += 1
            return kind, {"type": kind, "sequence_number": seq - 1, **data}

        start = {**final, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        yield ev("response.created", response=start)
        yield ev("response.in_progress", response=start)
        for i, item in enumerate(final["output"]):
            kind = item["type"]
            opened = {**item, "status": "in_progress"}
            if kind == "message":
                opened["content"] = []
            elif kind == "function_call":
                opened["arguments"] = ""
            elif kind == "custom_tool_call":
                opened["input"] = ""
            yield ev("response.output_item.added", output_index=i, item=opened)
            if kind == "message" and not t.refusal:
                where = {"item_id": item["id"], "output_index": i, "content_index": 0}
                yield ev(
                    "response.content_part.added", part={"type": "output_text", "text": "", "annotations": []}, **where
                )
                for piece in t.text_parts():
                    yield ev("response.output_text.delta", delta=piece, logprobs=[], **where)
                yield ev("response.output_text.done", text=t.text, logprobs=[], **where)
                yield ev("response.content_part.done", part=item["content"][0], **where)
            elif kind == "function_call":
                where = {"item_id": item["id"], "output_index": i}
                yield ev("response.function_call_arguments.delta", delta=item["arguments"], **where)
                yield ev("response.function_call_arguments.done", arguments=item["arguments"], **where)
            yield ev("response.output_item.done", output_index=i, item=item)
        end = "response.incomplete" if t.stop == "max_tokens" else "response.completed"
        yield ev(end, response=final)

    @staticmethod
    def error(status: int, kind: str, message: str, extra: JSON) -> JSON:
        default = {401: "authentication_error", 429: "rate_limit_exceeded"}.get(
            status, "invalid_request_error" if status < 500 else "server_error"
        )
        return {"error": {"message": message, "type": kind or default, "code": kind or None, "param": None, **extra}}


class Chat:
    name = "chat"

    @staticmethod
    def usage(t: Turn) -> JSON:
        u = t.usage
        total_in = u["input"] + u["cache_read"]
        return {
            "prompt_tokens": total_in,
            "completion_tokens": u["output"],
            "total_tokens": total_in + u["output"],
            "prompt_tokens_details": {"cached_tokens": u["cache_read"]},
            "completion_tokens_details": {"reasoning_tokens": u["reasoning"]},
        }

    @staticmethod
    def stop(t: Turn) -> str:
        return {"end": "stop", "tool": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}[t.stop]

    @staticmethod
    def calls(t: Turn, indexed: bool) -> list[JSON]:
        out = []
        for i, (cid, name, args, _) in enumerate(t.calls):
            call: JSON = {
                "id": "call_" + cid,
                "type": "function",
                "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
            }
            if indexed:
                call["index"] = i
            out.append(call)
        return out

    @classmethod
    def message(cls, t: Turn, model: str) -> JSON:
        msg: JSON = {"role": "assistant", "content": t.text or None}
        if t.refusal:
            msg.update(content=None, refusal=t.text)
        if t.calls:
            msg["tool_calls"] = cls.calls(t, False)
        return {
            "id": f"chatcmpl-scripted-{t.serial:04d}",
            "object": "chat.completion",
            "created": 1700000000,
            "model": model,
            "choices": [{"index": 0, "message": msg, "finish_reason": cls.stop(t), "logprobs": None}],
            "usage": cls.usage(t),
        }

    @classmethod
    def stream(cls, t: Turn, model: str) -> Iterator[tuple[str, JSON]]:
        def chunk(delta: JSON, finish: str | None = None, **more: Any) -> tuple[str, JSON]:
            return "", {
                "id": f"chatcmpl-scripted-{t.serial:04d}",
                "object": "chat.completion.chunk",
                "created": 1700000000,
                "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                **more,
            }

        yield chunk({"role": "assistant", "content": ""})
        if t.thinking:
            yield chunk({"reasoning_content": t.thinking})
        if t.refusal:
            yield chunk({"refusal": t.text})
        else:
            for piece in t.text_parts():
                yield chunk({"content": piece})
        for call in cls.calls(t, True):
            yield chunk({"tool_calls": [call]})
        yield chunk({}, cls.stop(t))
        kind, last = chunk({})
        last["choices"] = []
        last["usage"] = cls.usage(t)
        yield kind, last

    error = Responses.error


class Gemini:
    name = "gemini"

    @staticmethod
    def usage(t: Turn) -> JSON:
        u = t.usage
        total_in = u["input"] + u["cache_read"]
        return {
            "promptTokenCount": total_in,
            "candidatesTokenCount": u["output"],
            "cachedContentTokenCount": u["cache_read"],
            "thoughtsTokenCount": u["reasoning"],
            "totalTokenCount": total_in + u["output"] + u["reasoning"],
        }

    @staticmethod
    def stop(t: Turn) -> str:
        return {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}.get(t.stop, "STOP")

    @staticmethod
    def parts(t: Turn) -> list[JSON]:
        out: list[JSON] = []
        if t.thinking:
            out.append({"text": t.thinking, "thought": True})
        if t.text:
            out.append({"text": t.text})
        for _cid, name, args, _ in t.calls:
            out.append({"functionCall": {"name": name, "args": args}})
        return out

    @classmethod
    def message(cls, t: Turn, model: str) -> JSON:
        return {
            "candidates": [
                {"content": {"role": "model", "parts": cls.parts(t)}, "finishReason": cls.stop(t), "index": 0}
            ],
            "usageMetadata": cls.usage(t),
            "modelVersion": model,
            "responseId": f"scripted{t.serial:04d}",
        }

    @classmethod
    def stream(cls, t: Turn, model: str) -> Iterator[tuple[str, JSON]]:
        whole = cls.message(t, model)
        parts = whole["candidates"][0]["content"]["parts"]
        for part in parts[:-1]:
            yield (
                "",
                {
                    "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
                    "modelVersion": model,
                    "responseId": whole["responseId"],
                },
            )
        whole["candidates"][0]["content"]["parts"] = parts[-1:]
        yield "", whole

    @staticmethod
    def error(status: int, kind: str, message: str, extra: JSON) -> JSON:
        default = {
            400: "INVALID_ARGUMENT",
            401: "UNAUTHENTICATED",
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            429: "RESOURCE_EXHAUSTED",
            503: "UNAVAILABLE",
        }.get(status, "INTERNAL")
        return {"error": {"code": status, "message": message, "status": kind or default, **extra}}


def dialect_of(path: str) -> Any:
    path = path.split("?")[0].rstrip("/")
    if path.endswith("/messages"):
        return Anthropic
    if path.endswith("/responses"):
        return Responses
    if path.endswith("/chat/completions"):
        return Chat
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Gemini
    return None


def wanted_schema(body: JSON) -> Any:
    """The JSON schema a request asks its answer to fit, if any."""
    gen = body.get("generationConfig") or {}
    if gen.get("responseJsonSchema") or gen.get("responseSchema"):
        return gen.get("responseJsonSchema") or gen.get("responseSchema")
    fmt = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    if fmt.get("schema"):
        return fmt["schema"]
    fmt = (body.get("text") or {}).get("format") or {}
    if fmt.get("schema"):
        return fmt["schema"]
    fmt = (body.get("response_format") or {}).get("json_schema") or {}
    return fmt.get("schema")


# --------------------------------------------------------------------------
# HTTP
# --------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "scripted-model"
    script: Script
    log_path: str | None = None
    log_bodies: bool = False
    _log_lock = threading.Lock()
    _serial_lock = threading.Lock()
    _serial = 0

    def log_message(self, *args: Any) -> None:  # no access log on stderr
        pass

    def note(self, **fields: Any) -> None:
        if not self.log_path:
            return
        line = json.dumps({"t": round(time.time(), 3), **fields})
        with self._log_lock, open(self.log_path, "a", encoding="utf-8") as f:
            f.write(line + "\n")

    # ---- output ----

    def send_json(self, status: int, body: Any, headers: JSON | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for k, v in (headers or {}).items():
            self.send_header(k, str(v))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
        self.wfile.flush()

    def send_stream(self, dialect: Any, turn: Turn, model: str, reply: JSON) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        for k, v in reply.get("headers", {}).items():
            self.send_header(k, str(v))
        self.end_headers()
        cut = reply.get("cut")  # drop the connection after this many events
        pause = float(reply.get("event_delay", 0))
        for i, (event, data) in enumerate(dialect.stream(turn, model)):
            if cut is not None and i >= int(cut):
                self.close_connection = True
                return
            if reply.get("stall") is not None and i >= int(reply["stall"]):
                time.sleep(float(reply.get("stall_s", 3600)))
            self.chunk((f"event: {event}\n" if event else "") + f"data: {json.dumps(data)}\n\n")
            if reply.get("stream_error") and i == 0:
                err = reply["stream_error"]
                if dialect is Responses:
                    failed = {
                        **data.get("response", {}),
                        "status": "failed",
                        "error": {"code": err.get("type", "server_error"), "message": err.get("message", "")},
                    }
                    body = {"type": "response.failed", "sequence_number": 1, "response": failed}
                    self.chunk(f"event: response.failed\ndata: {json.dumps(body)}\n\n")
                else:
                    body = dialect.error(int(err.get("status", 529)), err.get("type", ""), err.get("message", ""), {})
                    self.chunk(f"event: error\ndata: {json.dumps(body)}\n\n")
                break
            if pause:
                time.sleep(pause)
        else:
            if dialect is Chat:
                self.chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    # ---- input ----

    def read_body(self) -> JSON:
        raw = b""
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            while True:
                size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
                raw += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        enc = (self.headers.get("Content-Encoding") or "").lower()
        if enc == "gzip":
            import gzip

            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {"_": body}

    def do_HEAD(self) -> None:
        self.note(method="HEAD", path=self.path)
        self.send_json(200, {})

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/_scripted/state":
            self.send_json(200, {"scenario": self.script.name, "position": self.script.position})
            return
        self.note(method="GET", path=self.path)
        if path.endswith("/models"):
            ids = ["scripted-model"]
            self.send_json(
                200,
                {
                    "object": "list",
                    "data": [{"id": i, "object": "model", "owned_by": "scripted"} for i in ids],
                    "models": [],
                },
            )
            return
        self.send_json(404, {"error": {"message": "not scripted", "type": "not_found_error"}})

    def do_POST(self) -> None:
        body = self.read_body()
        path = self.path.split("?")[0]
        if path == "/_scripted/reset":
            self.script.reset()
            self.send_json(200, {"ok": True})
            return
        if path.endswith("/count_tokens"):
            self.note(method="POST", path=self.path, role="count")
            self.send_json(200, {"input_tokens": 1000})
            return
        if path.endswith(":countTokens"):
            self.note(method="POST", path=self.path, role="count")
            self.send_json(200, {"totalTokens": 1000})
            return
        dialect = dialect_of(self.path)
        if dialect is None:
            self.note(method="POST", path=self.path, role="unknown")
            self.send_json(404, {"error": {"message": "not scripted", "type": "not_found_error"}})
            return
        self.answer(dialect, body)

    def answer(self, dialect: Any, body: JSON) -> None:
        tools = offered_tools(body)
        side = self.script.aux == "no-tools" and not tools
        reply: JSON
        index: int
        with Handler._serial_lock:
            Handler._serial += 1
            serial = Handler._serial
        if side:
            index, reply = -1, {"text": self.script.aux_text}
            schema = wanted_schema(body)
            if schema:
                reply = {"text": json.dumps(sample_for_schema(schema))}
        else:
            index, reply = self.script.take()
        match = re.search(r"/models/([^:/]+):", self.path)
        model = body.get("model") or (match.group(1) if match else "scripted-model")
        entry: JSON = {
            "method": "POST",
            "path": self.path,
            "dialect": dialect.name,
            "role": "side" if side else "main",
            "reply": index,
            "model": model,
            "stream": self.wants_stream(dialect, body),
            "n_messages": len(body.get("messages") or body.get("input") or body.get("contents") or []),
            "tools": sorted(tools),
        }
        if self.log_bodies:
            entry["body"] = body
            entry["headers"] = {
                k: ("(hidden)" if k.lower() in ("authorization", "x-api-key", "x-goog-api-key") else v)
                for k, v in self.headers.items()
            }
        self.note(**entry)

        if reply.get("delay"):
            time.sleep(float(reply["delay"]))
        if reply.get("hang"):
            time.sleep(float(reply["hang"]) if reply["hang"] is not True else 3600)
        if "error" in reply:
            status = int(reply["error"])
            self.send_json(
                status,
                dialect.error(
                    status,
                    reply.get("type", ""),
                    reply.get("message", f"scripted error {status}"),
                    reply.get("extra", {}),
                ),
                reply.get("headers"),
            )
            return
        turn = Turn(reply, tools, self.script, serial)
        try:
            if self.wants_stream(dialect, body):
                self.send_stream(dialect, turn, model, reply)
            else:
                self.send_json(200, dialect.message(turn, model), reply.get("headers"))
        except (BrokenPipeError, ConnectionResetError):
            self.note(event="client went away", reply=index)
            self.close_connection = True

    def wants_stream(self, dialect: Any, body: JSON) -> bool:
        if dialect is Gemini:
            return ":streamGenerateContent" in self.path
        return bool(body.get("stream"))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Agents drop connections all the time; that is no news."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def main(argv: list[str] | None = None) -> int:
    ap = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    ap.add_argument("scenario", help="JSON file with the replies")
    ap.add_argument("--port", type=int, default=0, help="0 picks a free one (default)")
    ap.add_argument("--port-file", help="write the chosen port here once listening")
    ap.add_argument("--repo", default=str(Path.cwd()), help="the agent's working directory, for absolute paths")
    ap.add_argument("--aux", choices=["no-tools", "never"], help="override the scenario's 'aux'")
    ap.add_argument("--log", help="append one JSON line per request here")
    ap.add_argument("--log-bodies", action="store_true", help="with --log: whole request bodies too")
    args = ap.parse_args(argv)

    with open(args.scenario, encoding="utf-8") as f:
        script = Script(json.load(f), str(Path(args.repo).resolve()))
    if args.aux:
        script.aux = args.aux
    Handler.script = script
    Handler.log_path = args.log
    Handler.log_bodies = args.log_bodies

    server = Server(("127.0.0.1", args.port), Handler)
    port = server.server_address[1]
    if args.port_file:
        tmp = args.port_file + ".tmp"
        with open(tmp, "w") as f:
            f.write(str(port))
        Path(tmp).replace(args.port_file)
    print(f"http://127.0.0.1:{port}", flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
