"""A tokenizer does what its file says. Oracles: `tokenizers` on tokenizer.json, `sentencepiece` on a model file."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import peft
import pytest
import sentencepiece
from tokenizers import Tokenizer as File
from transformers import AutoModel, AutoTokenizer

from blurb import tasks
from blurb.checkpoints import Checkpoint, ModelSource, source as sources
from blurb.checkpoints.source import reader_of
from blurb.formulations import bind
from blurb.inputs.tokenizer import Tokenizer
from blurb.learners.building import resolve_model
from blurb.learners.finetuning.network import EncoderLearner
from blurb.messages.errors import ModelError
from tests import checkpoints
from tests.checkpoints import refused
from tests.cli.in_process import ran, run
from tests.conftest import Builder
from tests.rewriting import edit, rewrite

KINDS = [*checkpoints.KINDS, *checkpoints.FAMILIES]
TEXTS = [
    "with 5 µg",
    "kalo MIN",
    "m² H₂O",
    "ﬁn",
    "ka\u00a0lo ka\u2009lo",
    "ＤＮＡ 12",
    "Café e\u0301",
    "α-β (x)",
    "the Qx",
]
PLAIN = ["with 5 mg", "ka lo, min", "(x) ka 12"]
"""What no class prepares."""
CHANGES = {
    "normalizer": [
        {"type": "Replace", "pattern": {"String": "µ"}, "content": "u"},
        {"type": "NFKC"},
        {"type": "Lowercase"},
        {"type": "Replace", "pattern": {"String": "Q"}, "content": "ka"},
        {"type": "Replace", "pattern": {"Regex": "[0-9]"}, "content": "lo"},
        {"type": "Replace", "pattern": {"String": "ω"}, "content": "ka"},
        {"type": "Replace", "pattern": {"String": "IL-2"}, "content": "min"},
    ],
    "pre_tokenizer": [
        {
            "type": "Split",
            "pattern": {"Regex": "(?<=[A-Z])-(?=[0-9])"},
            "behavior": "Isolated",
            "invert": False,
        },
        {"type": "Digits", "individual_digits": True},
        {"type": "Split", "pattern": {"String": "k"}, "behavior": "Isolated", "invert": False},
        {"type": "Punctuation", "behavior": "Isolated"},
    ],
}
CASES = [(part, change) for part, changes in CHANGES.items() for change in changes]


def _ids(folder: Path) -> list[list[int]]:
    """Of the file itself."""
    file = File.from_file(str(folder / "tokenizer.json"))
    file.no_truncation()
    file.no_padding()
    return [file.encode(text, add_special_tokens=False).ids for text in TEXTS]


def _of(tokenizer: Tokenizer) -> list[list[int]]:
    return [one.ids for one in tokenizer.subtokens(TEXTS)]


@pytest.fixture
def with_file(checkpoint: Builder, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a kind of checkpoint whose tokenizer has a file."""
    folder = Path(shutil.copytree(checkpoint(request.param), tmp_path / "ck"))
    if not (folder / "tokenizer.json").is_file():
        pytest.skip("its tokenizer has no tokenizer.json")
    return folder


@pytest.mark.parametrize("with_file", KINDS, indirect=True)
def test_a_tokenizer_that_agrees_is_left_as_it_is(with_file: Path) -> None:
    assert (
        Checkpoint(with_file).tokenizer.hash
        == Tokenizer(AutoTokenizer.from_pretrained(str(with_file))).hash
    )


@pytest.mark.parametrize(
    ("part", "change"), CASES, ids=[f"{one['type']}{n}" for n, (_, one) in enumerate(CASES)]
)
@pytest.mark.parametrize("with_file", KINDS, indirect=True)
def test_what_the_file_adds_is_done(with_file: Path, part: str, change: dict[str, Any]) -> None:
    def added(content: dict[str, Any]) -> None:
        inner = "normalizers" if part == "normalizer" else "pretokenizers"
        content[part] = {
            "type": "Sequence",
            inner: [change, *([content[part]] if content[part] else [])],
        }

    before = Checkpoint(with_file).tokenizer
    edit(with_file / "tokenizer.json", added)
    after = Checkpoint(
        with_file, casing="uncased" if change["type"] == "Lowercase" else ""
    ).tokenizer
    assert _of(after) == _ids(with_file)
    assert after.hash != before.hash or _of(after) == _of(before)
    assert after.special_tokens == before.special_tokens


@pytest.mark.parametrize(
    "name", ["RobertaTokenizerFast", "DebertaTokenizer", "T5TokenizerFast", "BertTokenizer"]
)
@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "modernbert"])
def test_a_class_of_another_family(
    checkpoint: Builder, tmp_path: Path, kind: str, name: str
) -> None:
    """A WordPiece file under RobertaTokenizerFast was cut into single letters, and unknown letters vanished."""
    folder = Path(shutil.copytree(checkpoint(kind), tmp_path / "ck"))
    before = Checkpoint(folder).tokenizer
    rewrite(folder / "tokenizer_config.json", tokenizer_class=name)
    after = Checkpoint(folder).tokenizer
    assert _of(after) == _ids(folder)
    segments = {
        "types": before.special_tokens.types,
        "single_suffix_types": before.special_tokens.single_suffix_types,
    }
    # A class decides about these alone
    assert replace(after.special_tokens, **segments) == before.special_tokens


def test_a_class_that_cannot_be_made_of_the_file(copy: Path) -> None:
    rewrite(copy / "tokenizer_config.json", tokenizer_class="BertweetTokenizer")
    assert _of(Checkpoint(copy).tokenizer) == _ids(copy)
    rewrite(copy / "tokenizer_config.json", tokenizer_class=["BertTokenizer"])
    with pytest.raises(ModelError, match="tokenizer_class must be the name of a class"):
        _ = Checkpoint(copy).tokenizer


@pytest.mark.parametrize("lower", [True, False])
def test_a_switch_counts_only_where_it_is_stated(
    checkpoint: Builder, tmp_path: Path, lower: bool
) -> None:
    folder = Path(shutil.copytree(checkpoint("bert_cased"), tmp_path / "ck"))
    edit(folder / "tokenizer_config.json", lambda content: content.pop("do_lower_case"))
    assert not Checkpoint(folder).tokenizer.lower_cases  # the class would lower-case by default
    rewrite(folder / "tokenizer_config.json", do_lower_case=lower)
    assert Checkpoint(folder, casing="uncased" if lower else "").tokenizer.lower_cases == lower


def test_the_tokenizer_of_another_folder_is_as_its_file_says(
    checkpoint: Builder, copy: Path
) -> None:
    from blurb.checkpoints.staged_checkpoint import with_tokenizer

    rewrite(copy / "tokenizer.json", normalizer=None)
    staged = with_tokenizer(checkpoint("bert_uncased"), copy, False, None)
    assert _of(Checkpoint(staged.folder).tokenizer) == _ids(copy)


@pytest.mark.parametrize("kind", ["roberta", "modernbert", "t5"])
@pytest.mark.parametrize("loaded", [None, "PreTrainedTokenizerFast"])
def test_words_are_not_split_at_random(
    checkpoint: Builder, tmp_path: Path, kind: str, loaded: str | None
) -> None:
    folder = Path(shutil.copytree(checkpoint(kind), tmp_path / "mine"))
    if loaded:
        rewrite(folder / "tokenizer_config.json", tokenizer_class=loaded)
    before = Checkpoint(folder).tokenizer
    more = {"alpha": 0.1, "nbest_size": -1} if kind == "t5" else {"dropout": 0.5}
    edit(folder / "tokenizer.json", lambda content: content["model"].update(more))
    for _ in range(5):
        tokenizer = Checkpoint(folder).tokenizer
        assert (tokenizer.hash, _of(tokenizer)) == (before.hash, _of(before))


@pytest.mark.parametrize(
    "name", ["do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space"]
)
@pytest.mark.parametrize("value", ["false", 0, 1, []])
def test_a_switch_is_true_or_false_or_absent(copy: Path, name: str, value: Any) -> None:
    rewrite(copy / "tokenizer_config.json", **{name: None})
    assert Checkpoint(copy).tokenizer
    rewrite(copy / "tokenizer_config.json", **{name: value})
    with pytest.raises(ModelError, match=rf"tokenizer_config.json: {name} must be true or false"):
        Checkpoint(copy).check_files()


SPECIAL = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3}
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "deberta-v2": (
        "spm.model",
        "DebertaV2Tokenizer",
        SPECIAL
        | {"pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]"},
    ),
    "xlm-roberta": ("sentencepiece.bpe.model", "XLMRobertaTokenizer", {}),
    "camembert": ("sentencepiece.bpe.model", "CamembertTokenizer", {}),
    "albert": (
        "spiece.model",
        "AlbertTokenizer",
        {
            "pad_id": 0,
            "unk_id": 1,
            "bos_id": -1,
            "eos_id": -1,
            "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
        },
    ),
    "xlnet": (
        "spiece.model",
        "XLNetTokenizer",
        {"control_symbols": ["<cls>", "<sep>", "<pad>", "<mask>"]},
    ),
    "t5": ("spiece.model", "T5Tokenizer", {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}),
    "fnet": ("spiece.model", "FNetTokenizer", {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"]}),
    "big_bird": (
        "spiece.model",
        "BigBirdTokenizer",
        {
            "pad_id": 0,
            "eos_id": 1,
            "bos_id": 2,
            "unk_id": 3,
            "control_symbols": ["[SEP]", "[MASK]", "[CLS]"],
        },
    ),
}
"""Type -> file as published, class, and how it was trained."""


def _published(folder: Path, kind: str, **options: Any) -> sentencepiece.SentencePieceProcessor:
    """A folder as published: a model of SentencePiece and the name of a class."""
    name, cls, own = MODELS[kind]
    syllables = (
        "ka",
        "lo",
        "min",
        "tox",
        "µ",
        "2",
        "fi",
        "é",
        "α",
        "the",
        "of",
        "and",
        "12",
        "h",
        "o",
        "x",
    )
    words = ["".join(syllables[(n * k + n) % 16] for k in range(1 + n % 3)) for n in range(1, 400)]
    if kind != "albert":
        words += [word.title() for word in words]
    text = folder / "text.txt"
    folder.mkdir(parents=True)
    text.write_text(
        "\n".join(" ".join(words[n : n + 9]) for n in range(0, len(words), 3)), encoding="utf-8"
    )
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "m"), vocab_size=150, hard_vocab_limit=False, minloglevel=2,
        character_coverage=1.0, **own, **options,
    )  # fmt: skip
    (folder / "m.model").rename(folder / name)
    text.unlink()
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": cls}), encoding="utf-8"
    )
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / name))


@pytest.mark.parametrize("rule", ["nmt_nfkc", "identity", "nmt_nfkc_cf"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_model_of_sentencepiece_alone(tmp_path: Path, kind: str, rule: str) -> None:
    processor = _published(tmp_path / "ck", kind, normalization_rule_name=rule)
    tokenizer = Checkpoint(tmp_path / "ck").tokenizer
    for text in TEXTS if kind not in ("albert", "xlnet") else PLAIN:
        unknown = tokenizer.inner.unk_token
        pieces = [
            unknown if processor.is_unknown(one) else processor.id_to_piece(one)
            for one in processor.encode(text)
        ]
        assert tokenizer.inner.convert_ids_to_tokens(tokenizer.subtokens([text])[0].ids) == pieces


@pytest.mark.parametrize("kind", MODELS)
def test_symbols_of_a_model_are_its_own_or_it_is_refused(tmp_path: Path, kind: str) -> None:
    processor = _published(tmp_path / "ck", kind, user_defined_symbols=["@GENE$", "<e1>"])
    try:
        tokenizer = Checkpoint(tmp_path / "ck").tokenizer
    except ModelError as error:
        assert "is another one" in str(error)  # noqa: PT017
    else:
        for text in ("@GENE$", "the <e1> of", "kalo "):
            pieces = [processor.id_to_piece(one) for one in processor.encode(text)]
            assert (
                tokenizer.inner.convert_ids_to_tokens(tokenizer.subtokens([text])[0].ids) == pieces
            )


def test_a_difference_that_stays_is_refused(tmp_path: Path) -> None:
    """RemBERT's class gives unknown letters the id of the end of a text."""
    folder = tmp_path / "ck"
    _published(folder, "xlm-roberta")
    (folder / "sentencepiece.bpe.model").rename(folder / "sentencepiece.model")
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "RemBertTokenizer"}', encoding="utf-8"
    )
    with pytest.raises(
        ModelError,
        match=r"that transformers makes of sentencepiece.model is another one: of 'ka.lo'",
    ):
        _ = Checkpoint(folder).tokenizer


def test_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "spm.model").write_bytes(b"none")
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "DebertaV2Tokenizer"}', encoding="utf-8"
    )
    with pytest.raises(ModelError, match=r"spm.model is no model of SentencePiece") as caught:
        _ = Checkpoint(tmp_path).tokenizer
    assert "tiktoken" not in str(caught.value)


# A cased checkpoint whose files lost `do_lower_case`: refused until somebody says what is meant, or a preset knows.


REFUSED = r"spoilt: the tokenizer lower-cases all text, but \d+ of the \d+ entries .* --casing cased to keep upper case"


@pytest.fixture
def healthy(checkpoint: Builder) -> ModelSource:
    return resolve_model(str(checkpoint("bert_cased")))


@pytest.fixture(params=["tokenizer.json", "vocab.txt"])
def spoilt(checkpoint: Builder, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A cased checkpoint whose files lower-case, or that has, as BioBERT, a vocabulary and nothing else."""
    folder = Path(shutil.copytree(checkpoint("bert_cased"), tmp_path / "spoilt"))
    edit(folder / "tokenizer_config.json", lambda content: content.pop("do_lower_case"))
    file = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    file["normalizer"]["lowercase"] = True
    (folder / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    if request.param == "vocab.txt":
        (folder / "tokenizer_config.json").unlink()
        vocabulary = file["model"]["vocab"]
        (folder / "tokenizer.json").unlink()
        (folder / "vocab.txt").write_text(
            "\n".join(sorted(vocabulary, key=vocabulary.__getitem__)) + "\n", "utf-8"
        )
    return folder


def test_it_is_refused_until_somebody_says_what_is_meant(spoilt: Path) -> None:
    refused(spoilt, REFUSED)


def test_cased_gives_the_tokenizer_that_was_meant(spoilt: Path, healthy: ModelSource) -> None:
    source = resolve_model(str(spoilt), casing="cased")
    assert (source.tokenizer, source.weights, source.casing) == (
        healthy.tokenizer,
        healthy.weights,
        "cased",
    )
    subtokens = source.checkpoint.tokenizer.inner.tokenize("Kalo KALO")
    assert subtokens != source.checkpoint.tokenizer.inner.tokenize("kalo kalo")


def test_uncased_leaves_it_as_its_files_say(spoilt: Path, healthy: ModelSource) -> None:
    source = resolve_model(str(spoilt), casing="uncased")
    assert source.tokenizer != healthy.tokenizer
    assert source.checkpoint.tokenizer.lower_cases


@pytest.mark.parametrize("casing", ["cased", "uncased"])
def test_wherever_the_tokenizer_is_loaded_again_it_is_the_same(spoilt: Path, casing: str) -> None:
    source = resolve_model(str(spoilt), casing=casing)
    sources._read.clear()
    sent = pickle.loads(pickle.dumps(source))  # as to a worker process
    learner = EncoderLearner(sent, bind(tasks.get("gad")), "cpu", "fp32")
    assert learner.tokenizer.hash == source.tokenizer
    read = reader_of(sent)(
        tasks.get("biosses"), [{"text_a": "Kalo", "text_b": "KALO", "score": 1.0}]
    )
    a, b = (source.checkpoint.tokenizer.subtokens([text])[0].ids for text in ("Kalo", "KALO"))
    assert len(read.whole.ids[0]) == 3 + len(a) + len(b)
    assert (a == b) == (casing == "uncased")


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_a_healthy_checkpoint_needs_no_word_and_keeps_its_hash(
    checkpoint: Builder, kind: str
) -> None:
    folder = str(checkpoint(kind))
    source = resolve_model(folder)
    lower = kind == "bert_uncased"
    assert (
        resolve_model(folder, casing="uncased" if lower else "cased").tokenizer == source.tokenizer
    )
    refused(
        folder,
        "--casing cased is not possible" if lower else "--casing uncased is not possible",
        casing="cased" if lower else "uncased",
    )


@pytest.mark.parametrize(
    "reference",
    [
        "biobert",
        "biobert-v1.2",
        "clinicalbert",
        "dmis-lab/biobert-base-cased-v1.1",
        "dmis-lab/biobert-base-cased-v1.2",
        "dmis-lab/biobert-base-cased-v1.2@main",
        "emilyalsentzer/Bio_ClinicalBERT",
        "emilyalsentzer/bio_clinicalbert",
    ],
)
def test_presets_know_it_by_short_name_and_by_id(
    spoilt: Path, healthy: ModelSource, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(spoilt))
    assert resolve_model(reference).tokenizer == healthy.tokenizer
    assert resolve_model(reference, casing="uncased").tokenizer != healthy.tokenizer


@pytest.mark.parametrize("by", ["base", "tokenizer"])
def test_a_tokenizer_put_beside_weights_has_the_casing_of_its_place(
    spoilt: Path, healthy: ModelSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """That asked for, else that of the preset that it comes from, whatever the weights are."""
    model = AutoModel.from_pretrained(healthy.location)
    peft.get_peft_model(model, peft.LoraConfig(target_modules=["query"])).save_pretrained(
        tmp_path / "adapter"
    )
    rewrite(tmp_path / "adapter" / "adapter_config.json", base_model_name_or_path=None)

    def resolve(place: str, casing: str | None = None) -> ModelSource:
        reference = str(tmp_path / "adapter") if by == "base" else healthy.location
        source = resolve_model(reference, casing=casing, **{by: place})
        sources._read.clear()
        assert source.checkpoint.tokenizer.hash == source.tokenizer
        return source

    assert resolve(str(spoilt), "cased").tokenizer == healthy.tokenizer
    assert resolve(str(spoilt), "uncased").checkpoint.tokenizer.lower_cases
    with pytest.raises(ModelError, match="the tokenizer lower-cases all text"):
        resolve(str(spoilt))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(spoilt))
    assert resolve("biobert").tokenizer == healthy.tokenizer
    assert resolve("biobert", "uncased").checkpoint.tokenizer.lower_cases


def test_other_checkpoints_of_the_hub_are_refused(
    spoilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(spoilt))
    refused("some-org/cased-model", REFUSED)


@pytest.mark.parametrize("command", [["run"], ["ablate", "--axis", "tagging"]])
def test_the_commands_that_train_take_the_word(
    spoilt: Path, command: list[str], tmp_path: Path
) -> None:
    plan = [
        *command,
        str(spoilt),
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "bc2gm",
        "--dry-run",
    ]
    plan += ["--output", str(tmp_path / "runs")]
    assert isinstance(run(*plan).exception, ModelError)
    ran([*plan, "--casing", "cased"])


@pytest.mark.extensions
@pytest.mark.parametrize("command", ["stats", "audit"])
def test_the_commands_that_look_take_the_word(spoilt: Path, command: str) -> None:
    from blurb.corpora import demo

    look = [
        "data",
        command,
        "--data",
        str(demo.prepare()),
        "--tasks",
        "biosses",
        "--model",
        str(spoilt),
    ]
    assert isinstance(run(*look).exception, ModelError)
    ran([*look, "--casing", "uncased"])
