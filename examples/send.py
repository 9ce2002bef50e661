"""Sends requests to an OpenAI-compatible server and writes the answers, one a line, as they come.

    pip install openai
    OPENAI_API_KEY=... python send.py requests/*.jsonl --out answers.jsonl --url http://localhost:8000/v1 --model NAME

Run the same command again after an interruption or an error: what was answered is not asked again.
"""

import argparse
import json
import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import openai

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("requests", type=Path, nargs="+")
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--url", help="of the server; by default OpenAI's")
parser.add_argument("--model", help="as the server calls it")
parser.add_argument("--jobs", type=int, default=8, help="requests at a time")
given = parser.parse_args()
before = given.out.read_bytes().splitlines(keepends=True) if given.out.exists() else []
whole = [json.loads(line) for line in before if line.endswith(b"\n")]  # the last one may have been cut
answered = [line for line in whole if not line["error"]]
aside = given.out.with_name(f".{given.out.name}.part")
aside.write_text("".join(json.dumps(line) + "\n" for line in answered))
aside.replace(given.out)
done = {line["custom_id"] for line in answered}
requests = [json.loads(line) for path in given.requests for line in path.open(encoding="utf-8")]
waiting = [request for request in requests if request["custom_id"] not in done]
client = openai.OpenAI(base_url=given.url, api_key=os.environ.get("OPENAI_API_KEY", "none"), max_retries=5)


def send(request):
    body = request["body"] | ({"model": given.model} if given.model else {})
    line = {"custom_id": request["custom_id"], "response": None, "error": None}
    try:
        reply = client.post("/chat/completions", body=body, cast_to=object)
        return line | {"response": {"status_code": 200, "body": reply}}
    except (openai.OpenAIError, ValueError) as error:  # asked again by the next call
        return line | {"error": {"message": str(error)}}


with given.out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(given.jobs) as pool:
    sent = {pool.submit(send, request) for request in waiting}
    try:
        for number, future in enumerate(as_completed(set(sent)), 1):
            file.write(json.dumps(future.result()) + "\n")
            file.flush()
            sent.remove(future)
            print(f"\r{len(done) + number:,} of {len(requests):,} requests sent", end="", flush=True)
    except KeyboardInterrupt:  # what is on its way is paid, so it is kept; nothing else is sent
        pool.shutdown(cancel_futures=True)
        file.writelines(json.dumps(future.result()) + "\n" for future in sent if not future.cancelled())
print()
