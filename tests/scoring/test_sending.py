"""The examples that get answers: against a server that answers gold with planted faults, and against transformers'."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import blurb
from benchmarks.answers import perfect
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.scoring import requests

EXAMPLES = Path(__file__).parents[2] / "examples"
SEND = EXAMPLES / "send.py"


class Stub(BaseHTTPRequestHandler):
    """Answers by the last message; every seventh with text around it, every ninth with none, as it comes in."""

    answers: ClassVar[dict[str, str]] = {}
    asked: ClassVar[list[str]] = []
    strange: ClassVar[dict[str, Any]] = {}
    wait = 0.0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = body["messages"][-1]["content"]
        self.asked.append(question)
        time.sleep(self.wait)
        text = self.answers[question]
        place = sorted(self.answers).index(question)
        text = f"Here it is: {text}" if place % 7 == 0 else "" if place % 9 == 1 else text
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        said = self.strange.get(
            question, {"model": "models/stub", "choices": [choice], "usage": usage}
        )
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """Requests on two datasets; the stub knows their answers."""
    folder = tmp_path / "requests"
    requests.export(
        [tasks.get("gad"), tasks.get("biosses")], demo.prepare(), folder, "test", None, 1, 1, 40, ""
    )
    right = dict(perfect(folder, demo.prepare()))
    Stub.asked.clear()
    Stub.answers.clear()
    for name in ("gad", "biosses"):
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            request = json.loads(line)
            Stub.answers[request["body"]["messages"][-1]["content"]] = json.dumps(
                right[request["custom_id"]]
            )
    return folder


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Stub) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/v1"
        http.shutdown()


def command(folder: Path, url: str, out: Path, *more: str) -> list[str]:
    files = sorted(str(path) for path in folder.glob("*.jsonl"))
    return [
        sys.executable,
        str(SEND),
        *files,
        "--out",
        str(out),
        "--url",
        url,
        "--model",
        "stub",
        *more,
    ]


@pytest.mark.costly
def test_what_was_answered_is_not_asked_again(
    asked: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "answers.jsonl"
    monkeypatch.setattr(Stub, "wait", 0.05)
    with subprocess.Popen(
        command(asked, server, out, "--jobs", "2"), stdout=subprocess.DEVNULL
    ) as sending:
        while len(Stub.asked) < 15:
            time.sleep(0.05)
        sending.kill()
    with out.open("ab") as file:
        file.write(b'{"custom_id": "gad/te')  # as a kill in the middle of a line leaves it
    before = {json.loads(line)["custom_id"] for line in out.read_bytes().splitlines()[:-1]}
    assert before
    Stub.asked.clear()
    monkeypatch.setattr(Stub, "wait", 0.0)
    subprocess.run(command(asked, server, out), check=True, stdout=subprocess.DEVNULL)
    assert len(Stub.asked) == 80 - len(before)
    (gad, biosses) = blurb.score(None, out, suite="demo", add="stub", output=tmp_path / "runs")
    # Of 80 questions in their order every seventh has text around its answer, of the others every ninth has none.
    around = len(range(0, 80, 7))
    empty = len([place for place in range(1, 80, 9) if place % 7])
    counted = {
        name: gad.faults.get(name, 0) + biosses.faults.get(name, 0)
        for name in ("text_around", "no_answer")
    }
    assert counted == {"text_around": around, "no_answer": empty}
    assert {*gad.faults, *biosses.faults} <= {*counted}


@pytest.mark.costly
def test_what_is_no_answer_is_not_kept_and_ends_with_1(
    asked: Path, server: str, tmp_path: Path
) -> None:
    """A page of a proxy, a text and an error of the server: asked again by the same command."""
    out, strange = (
        tmp_path / "answers.jsonl",
        ["<html>log in</html>", {"detail": "x"}, {"error": {"message": "y"}}],
    )
    Stub.strange.update(
        zip(sorted(Stub.answers)[::9], [strange[place % 3] for place in range(9)], strict=True)
    )
    for lacking in (9, 0):
        sent = subprocess.run(
            command(asked, server, out), capture_output=True, text=True, check=False
        )
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        assert len({line["custom_id"] for line in lines}) == len(lines) == 80 - lacking
        assert all(line["response"]["body"]["choices"] for line in lines)
        assert (sent.returncode, f"{lacking} requests have no answer" in sent.stderr) == (
            bool(lacking),
            bool(lacking),
        )
        Stub.strange.clear()


@pytest.mark.costly
def test_ctrl_c_keeps_what_is_paid_and_sends_nothing_more(
    asked: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "answers.jsonl"
    monkeypatch.setattr(Stub, "wait", 0.1)
    # A shell in the background hands on that SIGINT is ignored; what is typed at a terminal is not.
    usual = [
        sys.executable,
        "-c",
        "import os, signal, sys; signal.signal(2, signal.default_int_handler); "
        "sys.argv = sys.argv[1:]; exec(compile(open(sys.argv[0]).read(), sys.argv[0], 'exec'))",
    ]
    sending = subprocess.Popen(
        [*usual, *command(asked, server, out, "--jobs", "2")[1:]], stdout=subprocess.DEVNULL
    )
    with sending:
        while len(Stub.asked) < 15:
            time.sleep(0.05)
        sending.send_signal(signal.SIGINT)
    assert len(Stub.asked) < 30
    assert len(out.read_text().splitlines()) == len(Stub.asked)


@pytest.mark.costly
def test_gliner_writes_mentions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model of the same interface that knows the gold names."""
    rows = read_split(tasks.get("ncbi-disease"), demo.prepare(), "dev")
    source = tmp_path / "dev.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    known = {
        " ".join(row["tokens"]): requests.gold_answer(
            tasks.get("ncbi-disease"), row, {"Disease": "Disease"}
        )
        for row in rows
    }

    class Model:
        def predict_entities(
            self, text: str, labels: list[str], threshold: float
        ) -> list[dict[str, Any]]:
            entities, at = [], 0
            for each in known[text]["mentions"]:
                at = text.index(each["text"], at)
                entities.append(
                    {
                        "start": at,
                        "end": at + len(each["text"]),
                        "text": each["text"],
                        "label": labels[0],
                    }
                )
                at += len(each["text"])
            return entities[::-1]

    stub = types.SimpleNamespace(GLiNER=types.SimpleNamespace(from_pretrained=lambda name: Model()))
    monkeypatch.setitem(sys.modules, "gliner", stub)  # type: ignore[arg-type]
    script = (EXAMPLES / "gliner_mentions.py").read_text(encoding="utf-8")
    out = tmp_path / "mentions.jsonl"
    monkeypatch.setattr(
        sys, "argv", ["x", str(source), "--labels", "Disease=disease", "--out", str(out)]
    )
    exec(compile(script, "gliner_mentions.py", "exec"), {"__name__": "__main__"})
    assert blurb.score("ncbi-disease", out, suite="demo", split="dev")[0].score == 100


def tiny_chat_model(folder: Path) -> Path:
    """A language model of two layers with random weights, a few words and a chat template."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    words = ["[PAD]", "[EOS]", *sorted({chr(code) for code in range(32, 127)})]
    characters = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[PAD]")
    )
    characters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=characters,
        pad_token="[PAD]",
        eos_token="[EOS]",
        model_input_names=["input_ids", "attention_mask"],
    )
    tokenizer.chat_template = "{% for turn in messages %}{{ turn['content'] }} {% endfor %}"
    torch.manual_seed(1)
    config = Qwen3Config(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        max_position_embeddings=32_768,
        eos_token_id=1,
        pad_token_id=0,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_real_server(tmp_path: Path) -> None:
    """Its answers are none, which proves the way there and back; killed in between."""
    folder = tmp_path / "requests"
    chosen = [tasks.get(name) for name in ("ncbi-disease", "gad", "biosses")]
    requests.export(chosen, demo.prepare(), folder, "test", None, 0, 1, 8, "")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = tiny_chat_model(tmp_path / "tiny-chat")
    program = Path(sys.executable).with_name("transformers")
    asked = [str(program), "serve", str(model), "--port", str(port), "--device", "cpu"]
    with subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as serving:
        try:
            url, out = f"http://localhost:{port}", tmp_path / "answers.jsonl"
            for _ in range(240):
                try:
                    urllib.request.urlopen(f"{url}/health", timeout=1)
                    break
                except OSError:
                    time.sleep(0.5)
            send = command(folder, f"{url}/v1", out, "--jobs", "1", "--model", str(model))
            with subprocess.Popen(send, stdout=subprocess.DEVNULL) as sending:
                while not out.exists() or len(out.read_bytes().splitlines()) < 5:
                    assert sending.poll() is None
                    time.sleep(0.05)
                sending.kill()
            subprocess.run(send, check=True, stdout=subprocess.DEVNULL)
        finally:
            serving.kill()
    keys = [json.loads(line)["custom_id"] for line in out.read_text().splitlines()]
    assert len(keys) == len({*keys}) == 24
    scores = blurb.score(None, out, suite="demo", add="tiny", output=tmp_path / "runs")
    assert len(scores) == 3
    assert [dict(each.faults) for each in scores] == [{"cut_off": 8}] * 3
