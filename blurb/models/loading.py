"""Loading encoders and tokenizers with transformers, judging by behaviour and not by model type."""

from __future__ import annotations

import logging
import pickle
from functools import lru_cache
from pathlib import Path
from typing import Any

from blurb.errors import ModelError
from blurb.inputs.tokenizer import Tokenizer

log = logging.getLogger(__name__)


@lru_cache(maxsize=4)
def load_tokenizer(folder: str, remote_code: bool = False) -> Tokenizer:
    """The tokenizer of a checkpoint; warns loudly if it lower-cases a cased vocabulary."""
    from transformers import AutoTokenizer

    try:
        inner = AutoTokenizer.from_pretrained(folder, trust_remote_code=remote_code)
    except (OSError, ValueError, ImportError, KeyError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"{folder}: the tokenizer cannot be loaded: {reason}") from error
    if len(inner) <= len(set(inner.all_special_ids)):
        raise ModelError(f"{folder}: the tokenizer has an empty vocabulary; its vocabulary file is missing.")
    tokenizer = Tokenizer(inner)
    if tokenizer.lowers_a_cased_vocabulary():
        log.warning(
            "%s: the vocabulary is cased, but the tokenizer lower-cases every text: words with capitals are read as "
            "others. Set do_lower_case to false in its tokenizer_config.json unless this is meant.",
            folder,
        )
    return tokenizer


def load_encoder(folder: str, remote_code: bool = False) -> tuple[Any, bool]:
    """The encoder in float32, and whether it has a pooler with trained weights.

    Of encoder-decoders only the encoder is loaded. Weights of heads in the checkpoint are left out.
    """
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding
    from transformers.utils import logging as transformers_logging

    quiet()
    config = AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)
    loader = AutoModel
    if config.is_encoder_decoder and type(config) in AutoModelForTextEncoding._model_mapping:
        loader = AutoModelForTextEncoding
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # the checkpoint's other heads are rightly unused
    try:
        model, info = loader.from_pretrained(
            folder,
            config=config,
            dtype="float32",
            trust_remote_code=remote_code,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # named below; transformers' own error does not
        )
    except (OSError, ValueError, RuntimeError, SafetensorError, pickle.UnpicklingError) as error:
        raise ModelError(f"{folder}: the weights cannot be loaded: {str(error).splitlines()[0]}") from error
    finally:
        transformers_logging.set_verbosity(before)
    missing = set(info["missing_keys"]) | {key for key, *_ in info["mismatched_keys"]}
    pooler = getattr(model, "pooler", None)
    trained_pooler = pooler is not None and not any(key.startswith("pooler.") for key in missing)
    lost = sorted(key for key in missing if not key.startswith("pooler."))
    if lost:
        raise ModelError(
            f"{folder}: {len(lost)} weights of the encoder are not in the checkpoint or have another size "
            f"({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}); "
            "the configuration and the weights do not belong together."
        )
    if config.is_encoder_decoder and loader is AutoModel:
        model = model.get_encoder()
    return model, trained_pooler


def capacity(encoder: Any) -> int | None:
    """The most sub-tokens that fit an encoder, None if positions are relative and nothing limits them."""
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    if table is not None and hasattr(table, "num_embeddings"):
        padding = table.padding_idx  # RoBERTa counts positions from padding_idx + 1
        return int(table.num_embeddings) - (0 if padding is None else padding + 1)
    limit = getattr(encoder.config, "max_position_embeddings", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None


def describe(folder: Path, remote_code: bool) -> tuple[str, int]:
    """Hash of the tokenizer and number of parameters of the encoder, without loading weights."""
    import torch
    from transformers import AutoConfig, AutoModel

    quiet()
    tokenizer = load_tokenizer(str(folder), remote_code)
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)
        with torch.device("meta"):
            model = AutoModel.from_config(config, trust_remote_code=remote_code)
        if config.is_encoder_decoder:
            model = model.get_encoder()
        rows = model.get_input_embeddings().num_embeddings
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"{folder}: its config.json describes no encoder of texts: {reason}") from error
    if len(tokenizer.inner) > rows:
        raise ModelError(
            f"{folder}: the tokenizer has {len(tokenizer.inner)} entries but the encoder embeds {rows}; "
            "they do not belong together."
        )
    return tokenizer.hash, sum(parameter.numel() for parameter in model.parameters())


def quiet() -> None:
    """No progress bars of transformers: blurb shows its own."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
