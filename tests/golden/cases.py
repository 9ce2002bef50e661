"""The commands whose output is committed: all that read finished results, data or declarations, and train nothing.

What they read: `store` and `before` (a store and its tables, of 53549ab), `today`, `tables` and `ablations` (a store,
its tables and those of its grids, of 775c52d), `data`, `golden-encoder`. See README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.golden._case import Case, formats, of
from tests.golden._changes import (
    alter_tables,
    damage,
    lose_a_seed,
    open_trials,
    other_schemas,
    own_table,
    some_predictions,
    some_row,
    some_terms,
    split_in_two,
)  # fmt: skip

TWO_SEEDS = "--seeds 2 --set lr=0.01 --set epochs=40 --set batch_size=16"
HERE = "--data data --raw data --precision fp32 --device cpu"
GOLDEN = "golden-encoder standard batch_size=16 epochs=40 lr=0.01"
SHORT = "--seeds 2 --set epochs=2 --set lr=0.01"
PAPER = "'published:PubMedBERT (gu2021)'"
RULES = """split = "test"
level = 0.01
max_drop = 3.0
tasks = ["gad", "hoc", "biosses", "ner"]

[overall]
max_drop = 0.5

[datasets.ncbi-disease]
min_score = 95.0

[datasets.hoc]
max_drop = 90.0
"""
CARD = """---
license: mit
model-index:
- name: mine
  results:
  - task:
      type: text-classification
    dataset:
      type: other/data
      name: Another
    metrics:
    - type: accuracy
      value: 12.5
---

# A model

Words that stay.
"""

EMPTY = {"BLURB_HOME": "cache"}
"""A cache in the folder of the case: what other commands left in theirs would be seen."""
CLOCK = {r' time="[\d.]+"': ' time="SECONDS"', r' timestamp="[^"]+"': ' timestamp="TIME"'}
"""What JUnit files say of the clock."""
INVENTED = ("old", "fell", "once", "other-data")
PROBES = ("golden-encoder", "other-encoder")

TASKS = (
    "bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba", "ebm-pico", "chemprot", "ddi", "gad", "biosses",
    "hoc", "pubmedqa", "bioasq",
)  # fmt: skip

DECLARATIONS = [
    *formats("tasks/list", "tasks"),
    Case("tasks/show-json", [f"tasks show {name} --format json" for name in TASKS]),
    Case("tasks/show-csv", ["tasks show ncbi-disease --format csv"]),
    Case("tasks/new", [
        "tasks new words --type ner --train data/BC5CDR-chem/train.tsv --dev data/BC5CDR-chem/dev.tsv "
        "--test data/BC5CDR-chem/test.tsv",
        "tasks show ./words.toml --format json",
        "tasks new lines --type relation --train data/originals/ddi/train.jsonl --dev data/originals/ddi/dev.jsonl "
        "--test data/originals/ddi/test.jsonl --format jsonl --out other.toml",
        "tasks new pairs --type similarity --train data/BIOSSES/train.tsv --dev data/BIOSSES/dev.tsv "
        "--test data/BIOSSES/test.tsv",
    ]),
    *formats("protocols/list", "protocols"),
    *formats("protocols/show", "protocols show quick --tasks gad,biosses,ncbi-disease,hoc"),
    Case("protocols/paper", ["protocols show paper", "protocols show standrad"], terminal=True),
    *formats("models/list", "models"),
    Case("models/check", ["models check golden-encoder", "models check baseline:majority"],
         varying={r"ran in [\d.]+ s": "ran in SECONDS"}),
    Case("models/check-json", ["models check golden-encoder --format json"],
         varying={r'"seconds": [\d.]+': '"seconds": 0.0'}),
    Case("tasks/unknown", ["tasks show bc5-chemical"]),
    # Terminal tables of these hold the place of a file: their widths hang on the folder of the repository.
    *[case for case in formats("heads/list", "heads") if not case.terminal],
    *(replace(case, environment=EMPTY) for case in formats("cache/info", "cache info")),
    Case("cache/clear", ["cache clear --yes"], environment=EMPTY),
    Case("leaderboard/published-terminal", ["leaderboard published"], terminal=True),
    Case("leaderboard/published-ablations", ["leaderboard published --ablations"], terminal=True),
    Case("leaderboard/published-csv", ["leaderboard published --format csv"]),
    Case("leaderboard/published-json", ["leaderboard published --format json"]),
]  # fmt: skip

DATA = [
    *formats("data/verify", "data verify --data data --full"),
    Case("data/get-declined", ["data get --tasks gad,bioasq --data own/data"], typed="n\n"),
    Case("data/download-declined", ["data download --out raw --tasks gad,chemprot,hoc"], typed="n\n"),
    Case("data/verify-missing", [
        "data verify --data data/GAD --tasks gad,hoc", "data verify --data data/GAD --tasks gad --allow-missing",
    ]),
    *formats("data/stats", "data stats --data data --model golden-encoder --casing uncased"),
    Case("data/stats-words", ["data stats --data data --tasks ner,hoc --plot words.svg"]),
    Case("data/stats-plot", ["data stats --data data --model golden-encoder --plot lengths.png --format csv"]),
    *formats("vocab/data", "vocab golden-encoder --data data --tasks ner,gad,biosses"),
    Case("vocab/terms", [
        "vocab golden-encoder --terms lines.txt --format csv", "vocab golden-encoder --plot v.svg",
        "vocab baseline:majority", "vocab scratch:tiny", "vocab golden-encoder --data nowhere",
    ], prepare=some_terms),
    *formats("data/audit", "data audit --data data --raw data --model golden-encoder --casing uncased"),
    Case("data/audit-files", [
        "data audit --data data --tasks relation,qa --out found.csv", "data audit --data data --tasks hoc --out f.json",
    ]),
    Case(
        "data/prepare-missing",
        ["data prepare --raw data --out made --tasks gad,chemprot --format json",
         "data prepare --raw data --out made --tasks bc5-chem --format csv",
         "data prepare --raw data --out made --tasks hoc"],
        varying={
            r'"seconds": [\d.]+': '"seconds": 0.0', r",[\d.]+\n": ",SECONDS\n", r"(?<!:) [\d.]+ *\n": " SECONDS\n",
        },
    ),
]  # fmt: skip

SCORE = [
    *(
        replace(case, prepare=some_predictions)
        for case in formats("score/folder", "score --predictions predictions --data data")
    ),
    Case("score/refused", [
        "score --predictions predictions/gad.tsv --data data",
        "score --task ddi --predictions predictions/gad.tsv --data data --split dev",
        "score --task gad --predictions predictions/gad.tsv --data data --map 1=yes",
        "score --task gad --predictions predictions/gad.tsv --data data --file-format conll",
        "score --task ncbi-disease --predictions predictions/ncbi-disease.conll --data data --scheme bio",
        "score --task biosses --predictions nowhere.csv --data data",
    ], prepare=some_predictions),
    Case("score/verified", [
        "leaderboard verify row --data data", "leaderboard verify row --data data --format json",
        "leaderboard verify nowhere --data data", "leaderboard verify row",
        "leaderboard verify row --data data --rerun row --margin 2", "leaderboard verify row --data data --beside none",
    ], models=("golden-encoder",), prepare=some_row),
    Case("data/export", [
        "data export --data data --tasks gad,biosses --out out",
        "data export --data data --tasks ncbi-disease --out out --format conll",
        "data export --data data --tasks gad --out out --format conll",
    ]),
]  # fmt: skip

ERRORS = of(INVENTED, [
    *(
        case
        for name in ("ncbi-disease", "ebm-pico", "ddi", "biosses", "hoc", "pubmedqa")
        for case in formats(f"errors/{name}", f"errors old --output today --task {name} --limit 12")
    ),
    Case("errors/all-json", ["errors fell --output today --task hoc --seed 2 --split dev --format json"]),
    Case("errors/kind", ["errors old --output today --task ncbi-disease --kind boundary",
                         "errors old --output today --task gad --kind boundary"], terminal=True),
    Case("errors/plot", ["errors old --output today --task gad --limit 1 --plot confusion.svg",
                         "errors old --output today --task hoc --plot confusion.svg"]),
    Case("errors/trial-folder", ["errors store/golden-encoder/gad/40b4bb1be2f24a03"], terminal=True),
    Case("errors/text", [
        f"errors '{GOLDEN}' --output store --task {name} --data data --limit 4" for name in ("gad", "bc5-chem", "hoc")
    ], terminal=True),
    Case("errors/text-csv", [
        f"errors '{GOLDEN}' --output store --task ddi --data data --format csv",
        f"errors '{GOLDEN}' --output store --task ddi --data data --with-text --format csv",
        "errors 'scratch:tiny standard epochs=2 lr=0.01 pooling=cls relation_input=original' --output today --task ddi "
        "--data data --raw data --with-text --format json",
    ], models=["scratch-tiny"]),
    Case("errors/refused", [
        "errors old --output today", "errors old --output today --task gad --seed 9",
        "errors once --output today --task hoc", "errors tables/leaderboard.csv:old --task gad",
    ]),
])  # fmt: skip

DIFF = of(INVENTED, [
    *formats("diff/entities", "diff old fell --output today --task ncbi-disease --limit 6"),
    Case("diff/types", [f"diff old fell --output today --task {name} --limit 4" for name in ("hoc", "ddi", "biosses")]),
    Case("diff/chosen", [
        "diff fell old --output today --task hoc --seed 2 --split dev --kind 'missed and invented' --format json",
    ]),
    Case("diff/text", [
        f"diff '{GOLDEN}' baseline:majority --output store --task {name} --data data --limit 3"
        for name in ("ebm-pico", "chemprot", "hoc", "biosses", "pubmedqa")
    ], terminal=True),
    Case("diff/text-csv", [
        f"diff '{GOLDEN}' baseline:majority --output store --task ebm-pico --data data --format csv",
        f"diff '{GOLDEN}' baseline:majority --output store --task ebm-pico --data data --with-text --format csv",
    ]),
    Case("diff/raw", [
        f"diff '{GOLDEN}' baseline:majority --output store --task ddi --data data --raw data --limit 2",
    ]),
    Case("diff/refused", [
        "diff old fell --output today", "diff old old --output today --task gad",
        "diff old 'other data' --output today --task gad", "diff old once --output today --task hoc",
        "diff old tables/leaderboard.csv:fell --output today --task gad",
        "diff old fell --output today --task gad --with-text", "diff old fell --output today --task gad --kind 1",
    ]),
])  # fmt: skip

SHOW = [
    *formats("leaderboard/show-store", "leaderboard show --output store"),
    *formats("leaderboard/show-today", "leaderboard show --output today", ["json"]),
    Case("leaderboard/show-store-datasets", ["leaderboard show --output store --datasets --no-published"],
         terminal=True),
    Case("leaderboard/show-today-datasets", [
        "leaderboard show --output today --datasets --no-intervals --format json",
    ]),
    Case("leaderboard/show-chosen", [
        "leaderboard show --output today --model 'o*' --sort ncbi-disease --no-intervals",
        "leaderboard show --output today --protocol probe --no-published --sort similarity",
        "leaderboard show --output today --head bilstm --no-published --sort gad",
        "leaderboard show --output today --suite demo", "leaderboard show --output today --model nobody --together",
        "leaderboard show --output today --sort scores",
    ]),
    Case("leaderboard/show-results", [
        "leaderboard show --output store --results before/results.csv --results one.csv --no-published --format csv",
        "leaderboard show --output none --results one.csv --no-published",
    ], prepare=split_in_two),
    Case("leaderboard/show-without-leaks", [
        "leaderboard show --output store --without leaks --data data --no-intervals",
        "leaderboard show --output store --without leaks --data data --format csv",
    ]),
    Case("leaderboard/show-damaged", ["leaderboard show --output store --no-published --no-intervals"],
         changes=["store"], prepare=damage),
    Case("leaderboard/html-store", ["leaderboard html --out page.html --output store"], whole=True),
    Case("leaderboard/html-today", [
        "leaderboard html --out page.html --output today --ablations ablations --title 'Ours & theirs' --no-published",
    ], whole=True),
    Case("leaderboard/html-files", [
        "leaderboard html --out page.html --output store --results before/results.csv --results one.csv --no-published",
        "leaderboard html --out files.html --output none --results one.csv",
        "leaderboard html --out empty.html --output none --no-published",
    ], prepare=split_in_two, whole=True),
]  # fmt: skip

TABLES = [
    Case("rescore/store", ["rescore --output store"], changes=["store"], whole=True,
         prepare=own_table),
    Case("rescore/today", ["rescore --output today --leaderboard out/mine.csv"], changes=["today"], whole=True),
    Case("rescore/over-tables", ["rescore --output store --leaderboard before/leaderboard.csv",
                                     "rescore --output today --leaderboard before/leaderboard.csv"],
         changes=["store", "before"]),
    Case("rescore/damaged", ["rescore --output store"], changes=["store"], prepare=damage),
    Case("leaderboard/merge", ["leaderboard merge one.csv two.csv --out merged",
                               "leaderboard merge one.csv --out merged", "leaderboard merge two.csv wrong.csv --out no",
                               "leaderboard merge tables/leaderboard.csv --out no"],
         prepare=split_in_two),
    Case("leaderboard/merge-stores", ["leaderboard merge before/results.csv tables/results.csv --out merged",
                                      "leaderboard validate merged/leaderboard.csv"]),
    Case("rescore/schemas", ["rescore --output store", "rescore --output newer", "rescore --output today "
                             "--leaderboard older.csv"], changes=["store"], prepare=other_schemas),
    Case("leaderboard/add", [
        "leaderboard add --model Somebody --source paper2026 --version v2 --score gad=81.2 --score score=80 --runs 3 "
        "--output store",
        "leaderboard add --model 'Some, body' --source told --score biosses=0.9 --times-100 --recalled "
        "--leaderboard deep/leaderboard.csv",
        "leaderboard add --model Somebody --source paper2026 --version v2 --score hoc=81.2 --output store",
        "leaderboard add --model Somebody --source paper2026 --score hoc=0.8",
        "rescore --output store",
    ], changes=["store"]),
    Case("leaderboard/validate", [f"leaderboard validate {path}" for path in (
        "tables/results.csv", "tables/leaderboard.csv", "before/results.csv", "before/leaderboard.csv",
        "before/external.csv", "newer.csv", "older.csv", "twice.csv", "short.csv", "empty.csv", "none.csv",
    )], prepare=alter_tables),
]  # fmt: skip

RUNS = [
    *formats("runs/list", "runs --output store"),
    *formats("runs/show", "runs show 'golden-encoder smoke head=bilstm' --output store"),
    *(
        replace(case, prepare=damage, changes=["store"])
        for case in formats("runs/verify", "runs verify --output store")
    ),
    *(
        replace(case, prepare=open_trials, changes=["store"])
        for case in (
            *formats("runs/status", "status --output store", ("json",)),
            *formats("runs/gc-dry", "gc --output store --dry-run"),
            Case("runs/gc", ["gc --output store", "gc --output store", "runs verify --output store golden-encoder"]),
        )
    ),
    Case("runs/rename", [  # refused: what it writes are trials, and in the golden stores none is made
        "runs rename golden-encoder mine --output store --leaderboard before/leaderboard.csv",
        "runs rename other-encoder 'a\tb' --output store",
    ], changes=["store"]),
    Case("runs/rm", [
        "runs rm other-encoder --output store", "runs rm golden-encoder --output store",
        "runs rm 'golden-encoder smoke head=bilstm' --output store --yes --leaderboard none.csv",
    ], changes=["store"], typed="n\n"),
]  # fmt: skip

DOCTOR = [
    Case("doctor/store", ["doctor store", "doctor store --format json"]),
    Case("doctor/damaged", ["doctor store"], changes=["store"], prepare=damage),
    Case("doctor/others", ["doctor data", "doctor golden-encoder", "doctor before/results.csv", "doctor newer.csv",
                           "doctor twice.csv", "doctor short.csv", "doctor rules.toml", "doctor none.csv"],
         prepare=alter_tables, files={"rules.toml": RULES}),
]  # fmt: skip

COMPARE = of(INVENTED, [
    *formats("compare/stores", f"compare old fell once 'other data' 'store:{GOLDEN}' --output today", ["json"]),
    Case("compare/dev", ["compare fell old --output today --split dev --level 0.2 --max-drop 1 --format json"]),
    Case("compare/runs-only", ["compare old fell --output today --runs-only --format csv"]),
    Case("compare/probes", [
        "compare 'golden-encoder probe' other-encoder --output today",
        "compare 'golden-encoder probe' other-encoder 'golden-encoder sketch max_eval=4' old --output today "
        "--format json",
    ], models=[*PROBES, "old"]),
    Case("compare/baseline", [f"compare '{GOLDEN}' baseline:majority 'other-encoder' --output store --format csv"]),
    Case("compare/files", [
        "compare tables/results.csv:old tables/results.csv:fell tables/leaderboard.csv:once --output none --format csv",
        f"compare 'before/results.csv:{GOLDEN}' 'before/leaderboard.csv:baseline:majority' 'store:{GOLDEN}' "
        "before/leaderboard.csv:Somebody --output none --format csv",
        "compare tables/leaderboard.csv:old today:old today:fell --output none --format json",
    ]),
    Case("compare/published", [
        f"compare old {PAPER} 'published:BERT uncased' fell --output today --max-drop 2 --format csv",
        f"compare {PAPER} old --output today", "compare published:PubMedBERT old --output today",
        "compare published:PubMedBRT old --output today",
    ]),
    Case("compare/plot", [f"compare old fell once {PAPER} --output today --plot forest.pdf --format csv"]),
    Case("compare/refused", [
        "compare old --output today", "compare golden-encoder old --output today", "compare odl old --output today",
        "compare tables/results.csv old --output today", "compare none.csv old --output today",
        "compare newer.csv:old old --output today", "compare twice.csv:old old --output today",
        "compare old fell --output none",
    ], prepare=alter_tables, models=[*PROBES, "old"]),
])  # fmt: skip

CHECK = of(INVENTED, [
    *formats("check/regression", "check fell --baseline old --output today", ["json"]),
    *formats("check/pass", "check old --baseline fell --output today --split test", ["json"]),
    Case("check/same", ["check old --baseline old --output today"]),
    Case("check/files", [
        "check fell --baseline old --output today --junit reports/junit.xml --summary summary.md",
        "check old --baseline fell --output today --junit reports/pass.xml --summary summary.md",
        "check once --baseline old --output today --junit reports/cannot.xml --summary summary.md",
    ], varying=CLOCK),
    Case("check/series", [
        "check old --baseline old --output today --state looks.json --looks 40",
        "check m --baseline old --output today --state looks.json --looks 40 --tasks gad,hoc",
        "check fell --baseline old --output today --state looks.json --format json --junit junit.xml",
        "check fell --baseline old --output today --state looks.json --rule noise --summary summary.md",
        "check fell --baseline old --output today --state looks.json --rule and --max-drop 50",
        "check old --baseline fell --output today --state looks.json",
        "check once --baseline old --output today --state looks.json --looks 1",
        "check once --baseline old --output today --looks 40 --sd 0",
        "check once --baseline once --output today --sd 0.7 --tasks gad,hoc",
    ], varying={**CLOCK, r'"at": "[^"]+"': '"at": "TIME"', r'"digest": "[0-9a-f]+"': '"digest": "DIGEST"'}, whole=True),
    Case("check/github", ["check fell --baseline old --output today --split test",
                          "check once --baseline old --output today --format json"],
         environment={"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "step.md"}),
    Case("check/max-drop", ["check fell --baseline old --output today --max-drop 50 --format json",
                            "check once --baseline old --output today --max-drop 50"]),
    Case("check/rules", ["check fell --baseline old --output today --rules rules.toml --junit junit.xml",
                         "check old --baseline fell --output today", "check old --baseline fell --rules none.toml"],
         files={"rules.toml": RULES, "blurb-check.toml": 'tasks = "gad,hoc"\nlevel = 0\nmax_drop = 40\n'},
         varying=CLOCK),
    Case("check/cannot-judge", [
        "check once --baseline old --output today", "check 'other data' --baseline old --output today",
        "check 'golden-encoder sketch max_eval=4' --baseline old --output today",
        "check once --baseline once --output today --format json",
    ], models=[*INVENTED, "golden-encoder"]),
    Case("check/across", [
        "check m --baseline old --output today --tasks hoc --max-drop 50 --across overrides",
        "check m --baseline old --output today --tasks hoc --max-drop 50",
    ], models=["m", "old"]),
    Case("check/partly", ["check m --baseline old --output today"], models=["m", "old"]),
    Case("check/incomplete", ["check fell --baseline old --output today --format json"], changes=["today"],
         prepare=lose_a_seed),
    Case("check/damaged", [f"check '{GOLDEN}' --baseline baseline:majority --output store --max-drop 99 --format json"],
         changes=["store"], prepare=damage),
    Case("check/csv", [
        "check tables/results.csv:fell --baseline tables/results.csv:old --output none",
        "check fell --baseline tables/results.csv:old --output today --split test --format json",
        "check fell --baseline tables/leaderboard.csv:old --output today --split test --max-drop 3",
        f"check 'store:{GOLDEN}' --baseline 'before/results.csv:{GOLDEN}' --split test --output none",
    ]),
    Case("check/probes", [
        "check other-encoder --baseline 'golden-encoder probe' --output today --split test --format json "
        "--junit junit.xml --summary summary.md",
        "check other-encoder --baseline 'golden-encoder probe' --output today --split test --max-drop 5",
        "check other-encoder --baseline old --output today --max-drop 90",
    ], models=[*PROBES, "old"], varying=CLOCK),
])  # fmt: skip

PLAN = of(["old", "fell", "once", *PROBES], [
    *formats("plan/detect", "plan --against old --against fell --detect 3 --output today"),
    Case("plan/afford", [
        "plan --against old --detect 3 --seeds 5 --output today --tasks gad,hoc --split dev",
        "plan --against once --detect 1.5 --sd 0.7 --power 0.9 --output today --tasks gad",
        "plan --against old --detect 3 --sd 0.7 --output today --tasks gad",
        "plan --against once --seeds 3 --output today --tasks gad",
        "plan --against old --seeds 3 --level 0.01 --output today --tasks gad",
    ]),
    Case("plan/refused", [
        "plan --against old --output today", "plan --against old --detect 0 --power 0 --sd -1 --output today",
        "plan --against old --detect 1 --seeds 3 --hours 2 --output today",
        "plan --against old --hours 2 --output today --tasks gad",
        "plan --against 'golden-encoder probe' --detect 1 --output today", "plan --against none --detect 1",
        "run golden-encoder --suite demo --seeds auto", "run golden-encoder --suite demo --seeds many",
    ]),
])  # fmt: skip

EXPORT = [
    *(
        case
        for form in ("latex", "markdown")
        for case in (
            Case(f"export/{form}", [f"export {form} --output store"]),
            Case(f"export/{form}-published", [
                f"export {form} --output today old fell once --sd --published gu2021",
                f"export {form} --output today other-encoder golden-encoder old "
                "--transpose --tasks ner,biosses,hoc,qa",
                f"export {form} --output today m --published gu2021/PubMedBERT --tasks gad,hoc --sd --transpose",
            ]),
        )
    ),
    Case("export/tables-files", ["export latex --output today old --out deep/table.tex",
                                 "export markdown --output today once fell --out table.md"], models=INVENTED),
    Case("export/bibtex", ["export bibtex --output none", "export bibtex --output today once",
                           "export bibtex --output none --tasks ner --out references.bib"], models=["once"]),
    Case("export/model-index", [
        f"export model-index --output store '{GOLDEN}'",
        "export model-index --output today old --dataset-id somebody/BLURB --out NEW.md",
        "export model-index --output today old --tasks gad,biosses --out README.md",
        "export model-index --output today fell --tasks gad --out README.md",
    ], files={"README.md": CARD}, models=["old", "fell"]),
    Case("export/eval-results", [
        f"export eval-results --output store '{GOLDEN}'",
        "export eval-results --output today m --dataset-id somebody/BLURB --tasks gad,hoc --out results",
        "export eval-results --output today m --tasks gad --dataset-revision 0a1b2c --source-url "
        "https://example.org/run --source-name Runs --source-org us --out sourced",
        "export eval-results --output today m --tasks gad --source-name Runs --out unsourced",
    ], models=["m"]),
    Case("export/every-eval-ever", [
        "export every-eval-ever --output today m --measured-by group --party third --tasks gad,hoc",
        "export every-eval-ever --output today m --tasks gad",
    ], models=["m"]),
    Case("export/submission", ["export submission --output today m --allow-partial",
                               "export submission --output today m --tasks gad --seed 2 --out second"],
         models=["m"]),
    Case("export/refused", [
        f"export submission --output store '{GOLDEN}'",
        "export submission --output today m", "export submission --output today once --tasks gad",
        "export submission --output today m --tasks gad --seed 9",
        "export model-index --output today other-encoder",
        "export eval-results --output today scratch:tiny",
        "export model-index --output today 'scratch:tiny demo epochs=1 max_train=64'",
        "export model-index --output today", "export latex --output today odl", "export latex --output none",
        "export latex --output today --published gu2020", "export latex --output today --seed 1", "export word",
    ], models=["m", "once", "other-encoder", "scratch-tiny"]),
]  # fmt: skip

GRIDS = [
    Case(f"ablate/{axis}", [
        f"ablate {model} --axis {axis} {HERE} --protocol standard --output today --tasks {tasks} --seeds {seeds} "
        f"--set epochs=2 --set lr=0.01 --plot {axis}.svg --out tables-of-grids",
    ], changes=["today"], models=[model.removeprefix("./").replace(":", "-")])
    for model, axis, tasks, seeds in (
        ("./golden-encoder", "head", "bc5-chem,gad", 2), ("./golden-encoder", "tagging", "bc5-disease", 2),
        ("scratch:tiny", "relation", "ddi", 2), ("scratch:tiny", "pooling", "chemprot", 1),
    )
]  # fmt: skip

RUN = [
    Case("run/done", [
        f"run ./golden-encoder {HERE} --output store {TWO_SEEDS} --tasks biosses,gad,hoc --check baseline:majority",
        f"run baseline:majority {HERE} --output store",
    ], changes=["store"]),
    Case("run/shorthands", [
        f"run ./golden-encoder {HERE} --output today --tasks bc5-chem,gad --head bilstm {SHORT} --casing uncased "
        "--jobs 1 --engine local --leaderboard one.csv --name golden-encoder",
        f"run ./golden-encoder {HERE} --output today --tasks bc5-disease --tagging bioul {SHORT} --leaderboard one.csv",
        f"run scratch:tiny {HERE} --output today --tasks ddi --relation-input original --pooling mention {SHORT} "
        "--leaderboard one.csv",
    ], changes=["today"], models=["golden-encoder", "scratch-tiny"]),
    Case("run/whole", [f"run ./golden-encoder {HERE} --output store {TWO_SEEDS} --leaderboard mine.csv"],
         changes=["store"]),
    Case("run/probe", [
        f"run ./golden-encoder {HERE} --output today --tasks bc5-chem,ebm-pico,ddi,biosses,hoc,pubmedqa "
        "--protocol probe --leaderboard probe.csv --check other-encoder --rules rules.toml",
    ], changes=["today"], files={"rules.toml": 'split = "test"\n'}, models=PROBES),
    Case("run/dry", [
        f"run ./golden-encoder {HERE} --output store {TWO_SEEDS} --dry-run",
        f"ablate ./golden-encoder --axis head {HERE} --output today --tasks bc5-chem,gad --seeds 2 --set epochs=2 "
        "--set lr=0.01 --dry-run",
        f"run ./golden-encoder {HERE} --output store --seeds 2 --lr 0.01 --epochs 40 --batch-size 16 "
        "--tasks gad --dry-run",
        f"ablate ./golden-encoder --axis head {HERE} --output today --tasks bc5-chem --seeds 2 --lr 0.01 --epochs 2 "
        "--batch-size 32 --dry-run",
    ]),
    Case("run/config", [
        f"run --config run.toml {HERE} --seeds 2 --epochs 3 --dry-run --format toml",
        f"run --config run.toml {HERE} --format toml",
        "run --config wrong.toml --jobs 2",
    ], files={
        "run.toml": 'model = ["./golden-encoder"]\ntasks = "bc5-chem"\nhead = "crf"\n[set]\nwarmup = 0\nepochs = 9\n',
        "wrong.toml": 'seed = 2\nsuite = "demos"\nbudget = 10\n[set]\nlearning_rate = 1e-5\nepochs = 0\n',
    }),
]  # fmt: skip

CASES: Sequence[Case] = (
    *DECLARATIONS, *DATA, *SCORE, *ERRORS, *DIFF, *SHOW, *TABLES, *RUNS, *DOCTOR, *COMPARE, *CHECK, *PLAN, *EXPORT,
    *GRIDS, *RUN,
)  # fmt: skip

LEFT_OUT: Sequence[str] = (
    # These train, or say what it will take, which is another time on every machine.
    "run --budget", "run --dummy-tokens", "run --track", "run --limit", "ablate --limit",
    # It trains; tests/extensions/lab has it.
    *(f"pretrain{option}" for option in (
        "", " --text", " --mix", " --data", " --raw", " --size", " --from", " --vocabulary", " --vocabulary-of",
        " --kind", " --cased",
        " --words", " --mask-rate", " --rising", " --whole-word", " --next-sentence", " --length", " --batch", " --lr",
        " --seed", " --threads", " --dry-run", " --hours", " --every",
    )),
    # They train; tests/extensions/series has them.
    *(f"{name}{option}" for name in ("series", "watch", "bisect") for option in (
        "", " --data", " --raw", " --suite", " --seeds", " --tokenizer", " --device", " --precision", " --jobs",
        " --output", " --protocol", " --pattern",
    )),
    *(f"{name}{option}" for name in ("series", "watch") for option in (" --tasks", " --split", " --out")),
    *(f"series{option}" for option in (
        " --full", " --budget", " --require", " --beside", " --read",
    )),
    "watch --pause", "watch --idle", "watch --check", "watch --rules", "watch --state", "watch --looks", "watch --sd",
    "bisect --task", "bisect --drop", "bisect --good", "bisect --bad",
    "bisect --error",
    "run --models", "leaderboard html --series",
    *(f"study{option}" for option in (
        "", " --output", " --data", " --raw", " --suite", " --threads", " --hours", " --read", " --dry-run",
    )),
    # Its weights differ between processors in their last digits; tests/extensions/lab/attention has it.
    *(f"attention{option}" for option in (
        "", " --text", " --entity", " --word", " --head", " --data", " --out", " --plot", " --trust-remote-code",
    )),
    # The demo suite is made for it, which takes seconds; its row is in what is shown of `today`.
    "ablate --suite", "score --suite", "data export --suite", "leaderboard verify --suite",
    # The ledger has the date; tests/extensions/board has boards.
    "leaderboard submit", "leaderboard submit --as", "leaderboard submit --by", "leaderboard withdraw",
    "leaderboard withdraw --by", "leaderboard withdraw --reason", "leaderboard verify --since",
    "leaderboard verify --record", "leaderboard verify --submitted", "leaderboard show --board",
    "leaderboard verify --reproduced",
    "leaderboard html --board", "leaderboard html --together", "leaderboard init",
    "leaderboard init --title", "leaderboard init --suite",
    "leaderboard init --blurb", "leaderboard rescore", "leaderboard rescore --by", "leaderboard rescore --data",
    "leaderboard rescore --suite",
    # A store of its own, with times; tests/scoring has it.
    "score --add", "score --dev", "score --seed", "score --output", "score --gold-as-predictions", "score --column",
    # A file of trials is not written here; tests/data/test_export.py has it.
    "data export --format parquet", "data export --format jsonl",
    # Of models on the Hub, or not seen in what is printed.
    "run --revision", "run --trust-remote-code", "ablate --revision", "ablate --trust-remote-code", "ablate --casing",
    "ablate --jobs", "ablate --name", "vocab --trust-remote-code", "models check --trust-remote-code",
    "models check --casing",
    # The weights are not seen in what is printed; tests/api has them.
    "run --tokenizer", "ablate --tokenizer", "run --across", "run --keep-sweep", "predict --head", "predict --pooling",
    "predict --trust-remote-code", "run --keep-model", "run --resume-trials",
    "predict", "predict --data",
    "predict --device", "predict --out", "predict --output", "predict --seed", "predict --task", "predict --text",
    # What runs elsewhere, with absolute paths; tests/execution/engines and tests/cli/test_worker.py have it.
    "run --print", "worker", "worker --data", "worker --device", "worker --jobs", "worker --leaderboard",
    "worker --allow-code", "retry --allow-code", "worker --max-failures", "worker --output", "worker --part",
    "worker --sweep", "retry", "retry --data",
    "retry --device", "retry --jobs", "retry --later", "retry --output", "retry --tasks", "status --watch",
    # In tests/cli: a class and its line in the file, and leftovers by the clock of the disk.
    "heads show", "gc --data",
    # These fetch.
    "data download --accept-licences", "data download --again", "data get --accept-licences", "data get --raw",
)  # fmt: skip
"""Options that no case has."""
