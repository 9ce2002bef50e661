#!/bin/sh
# Measures on this machine; ./run.sh --help names the parts. Packed and explained by `python -m benchmarks.device`.
#   cat BUNDLE.tar.gz* | tar xz && ./blurb-device/run.sh [--small] [--out FOLDER] [PART...]
# Whatever is interrupted goes on with the same command. What comes back is one file, device.json.
set -u
here=$(cd "$(dirname "$0")" && pwd)
caller=$(pwd)
python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1
export BLURB_HOME="$here/scratch/home"
# Figures are those of one card, also where there are more: the recipe would divide its batches among them.
cards=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}"
export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES%%,*}"
[ "$cards" -gt 1 ] && echo "Note: of $cards cards only one is used (CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES)"
if [ -f "$here/data.tar" ] && [ ! -d "$here/data" ]; then
    rm -rf "$here/unpacking" && mkdir "$here/unpacking" || exit 2
    tar xf "$here/data.tar" -C "$here/unpacking" && mv "$here/unpacking/data" "$here/data" || exit 2
fi
# A wheel is used only where the machine lacks its package: what is there fits its torch.
if [ ! -d "$here/site" ]; then
    rm -rf "$here/site.new" && mkdir "$here/site.new" || exit 2
    for wheel in "$here"/wheels/*.whl; do
        [ -f "$wheel" ] || continue
        name=$(basename "$wheel" | cut -d- -f1)
        "$python" -c 'import importlib.metadata, sys; importlib.metadata.version(sys.argv[1])' "$name" 2>/dev/null && continue
        said=$("$python" -m pip install -q --no-index --no-deps --no-compile --target "$here/site.new" "$wheel" 2>&1) ||
            { echo "Note: cannot install $(basename "$wheel"): $(echo "$said" | tail -n 1)"; lacking=1; }
    done
    # With a lack, what needs no such package is measured, and the next call tries again.
    [ -n "${lacking:-}" ] && site="$here/site.new" || mv "$here/site.new" "$here/site"
fi
cd "$here/code" || exit 2
export PYTHONPATH="$here/code:${site:-$here/site}"
exec "$python" -m benchmarks.device run --bundle "$here" --caller "$caller" "$@"
