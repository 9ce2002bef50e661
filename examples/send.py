"""Sends requests to an OpenAI-compatible server and writes the answers, one a line, as they come.

    pip install openai
    OPENAI_API_KEY=... python send.py requests/*.jsonl --out answers.jsonl --url http://localhost:8000/v1 --model NAME

Run the same command again after an interruption or an error: what was answered is not asked again. Exit code 1: some
requests have no answer yet.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import openai


def is_answer(line):
    """Whether a line has an answer, and not an error or a page of a proxy."""
    body = (line["response"] or {}).get("body")
    return not line["error"] and isinstance(body, dict) and isinstance(body.get("choices"), list)


parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("requests", type=Path, nargs="+")
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--url", help="of the server; by default OpenAI's")
parser.add_argument("--model", help="as the server calls it")
parser.add_argument("--jobs", type=int, default=8, help="requests at a time")
given = parser.parse_args()
before = given.out.read_bytes().splitlines(keepends=True) if given.out.exists() else []
whole = [
    json.loads(line) for line in before if line.endswith(b"\n")
]  # the last one may have been cut
answered = [line for line in whole if is_answer(line)]
aside = given.out.with_name(f".{given.out.name}.part")
aside.write_text("".join(json.dumps(line) + "\n" for line in answered))
aside.replace(given.out)
done = {line["custom_id"] for line in answered}
requests = [json.loads(line) for path in given.requests for line in path.open(encoding="utf-8")]
waiting = [request for request in requests if request["custom_id"] not in done]
client = openai.OpenAI(
    base_url=given.url, api_key=os.environ.get("OPENAI_API_KEY", "none"), max_retries=5
)


def send(request):
    body = request["body"] | ({"model": given.model} if given.model else {})
    line = {"custom_id": request["custom_id"], "response": None, "error": None}
    try:
        reply = client.post("/chat/completions", body=body, cast_to=object)
        got = line | {"response": {"status_code": 200, "body": reply}}
        return (
            got
            if is_answer(got)
            else line | {"error": {"message": f"no answer: {str(reply)[:200]}"}}
        )
    except (openai.OpenAIError, ValueError) as error:  # asked again by the next call
        return line | {"error": {"message": str(error)}}


with given.out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(given.jobs) as pool:
    sent, errors = {pool.submit(send, request) for request in waiting}, []

    def keep(line):
        if line["error"]:
            errors.append(line["error"]["message"])
        else:
            file.write(json.dumps(line) + "\n")
            file.flush()

    try:
        for number, future in enumerate(as_completed(set(sent)), 1):
            keep(future.result())
            sent.remove(future)
            print(
                f"\r{len(done) + number:,} of {len(requests):,} sent, {len(errors):,} errors",
                end="",
                flush=True,
            )
    except KeyboardInterrupt:  # what is on its way is paid, so it is kept; nothing else is sent
        pool.shutdown(cancel_futures=True)
        for future in sent:
            keep({"error": {"message": "interrupted"}} if future.cancelled() else future.result())
print()
if errors:
    sys.exit(
        f"{len(errors):,} requests have no answer, the first: {errors[0]}\nRun the same command again."
    )
