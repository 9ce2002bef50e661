"""docs/language-models.md works as it stands, on the demo suite and with a server that answers by the schema."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import done

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "language-models.md"
BLOCKS = re.findall(
    r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
)
EXCEPT = ("pip install", "blurb data get")


class BySchema(BaseHTTPRequestHandler):
    """Answers with the first label, no mention, or a number, as the schema of the request allows it."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ((key, value),) = body["response_format"]["json_schema"]["schema"]["properties"].items()
        answer: Any = {"array": [], "number": 2, "string": value.get("enum", [""])[0]}[
            value["type"]
        ]
        message = {"role": "assistant", "content": json.dumps({key: answer})}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        content = json.dumps({"model": body["model"], "choices": choices}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.costly
def test_the_six_commands(tmp_path: Path) -> None:
    block = BLOCKS[0]
    lines = block.splitlines()
    assert len(lines) == 6
    (tmp_path / "send.py").write_bytes((ROOT / "examples" / "send.py").read_bytes())
    printed = ""
    with ThreadingHTTPServer(("127.0.0.1", 0), BySchema) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        for line in lines:
            words = shlex.split(
                line.replace("http://localhost:8000", f"http://127.0.0.1:{http.server_port}")
            )
            if words[0] == "python":
                files = [str(path) for path in sorted((tmp_path / "requests").glob("*.jsonl"))]
                asked = [word for part in words[1:] for word in (files if "*" in part else [part])]
                subprocess.run(
                    [sys.executable, *asked], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL
                )
            elif not line.startswith(EXCEPT):
                more = ["--suite", "demo"] * (words[1] in ("data", "score"))
                few = ["--limit", "20"] * (words[1] == "data")
                printed += done([*words[1:], *more, *few], tmp_path)
        http.shutdown()
    assert "The rows differ: learner: prompted / encoder." in printed
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 13 * 20


def test_prompts_for_models_that_think(tmp_path: Path) -> None:
    """The same words, with more tokens and no temperature."""
    (first, *_), text = BLOCKS[1:], BLOCKS[1].replace("python -c", f"{sys.executable} -c")
    assert first.count("blurb ") == 1
    *shell, export = text.strip().splitlines()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(["sh", "-ec", "\n".join(shell)], cwd=tmp_path, check=True, env=environment)
    assert len([*(tmp_path / "thinking").glob("*.toml")]) == 7
    done([*shlex.split(export)[1:], "--suite", "demo", "--limit", "5"], tmp_path)
    for path in (tmp_path / "requests").glob("*.jsonl"):
        body = json.loads(path.read_text(encoding="utf-8").splitlines()[0])["body"]
        assert body["max_completion_tokens"] == 16000
        assert not {"temperature", "max_tokens"} & body.keys()
        assert body["messages"][0]["role"] == "system"
