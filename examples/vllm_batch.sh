#!/usr/bin/env bash
# Answers requests with vLLM on this machine, without a server: vllm_batch.sh REQUESTS ANSWERS MODEL
# Run it again after an interruption: files that were answered whole are left out.
set -euo pipefail
mkdir -p "$2"
for file in "$1"/*.jsonl; do
    answers="$2/$(basename "$file")"
    test -e "$answers" && continue
    # The model of a request must be the one that vLLM serves.
    python -c 'import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    line = json.loads(line)
    print(json.dumps({**line, "body": {**line["body"], "model": sys.argv[2]}}))' "$file" "$3" > "$answers.asked"
    vllm run-batch -i "$answers.asked" -o "$answers.part" --model "$3"
    mv "$answers.part" "$answers" && rm "$answers.asked"
done
cp "$1/manifest.json" "$2"
