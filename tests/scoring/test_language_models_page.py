"""docs/language-models.md works as it stands, on the demo suite and with a server that answers by the schema."""

import importlib.util
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

from blurb.corpora import demo
from tests.cli.in_process import blurb, done
from tests.conftest import Builder

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
    lines = BLOCKS[0].splitlines()
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


# The scripts of docs/score.md run as they stand there.


OF_SCORES = ROOT / "docs" / "score.md"


def script(name: str) -> str:
    found = re.search(
        rf"<!-- {re.escape(name)} -->\n```python\n(.*?)```",
        OF_SCORES.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    return found[1]


def ran(folder: Path, name: str, task: str, *arguments: str) -> float:
    asked = ["data", "export", "--suite", "demo", "--tasks", task, "--out", "exported"]
    assert blurb(asked, folder)[0] == 0
    (folder / name).write_text(script(name), encoding="utf-8")
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, name, *arguments, "exported", str(demo.prepare())],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return float(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_trainer(checkpoint: Builder, tmp_path: Path) -> None:
    score = ran(tmp_path, "trainer.py", "gad", str(checkpoint("bert_uncased")))
    assert "my-trainer" in done(["leaderboard", "show", "--datasets", "--format", "csv"], tmp_path)
    assert 0.0 <= score <= 100.0


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("spacy") is None, reason="spaCy is not installed: pip install spacy"
)
def test_a_pipeline_of_spacy(tmp_path: Path) -> None:
    assert ran(tmp_path, "pipeline.py", "ncbi-disease") > 50.0  # the demo corpus is easy
