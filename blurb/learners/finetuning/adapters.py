"""LoRA (Hu et al., arXiv 2106.09685): of an encoder only matrices of low rank beside its linear layers learn.

The matrices are PEFT's, injected into the encoder alone: the head stays outside, and can be neither frozen nor lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor, nn

from blurb.checkpoints.adapter import PREFIX, WEIGHTS
from blurb.messages import SettingsError, opt
from blurb.protocols.settings import Settings
from blurb.training.resuming import learning_parameters

NAME = "default"
"""Of the adapter in PEFT's modules."""
POOLER = r"(.*\.)?pooler(\..*)?"


def check(encoder: Any, settings: Settings) -> None:
    """Raises a SettingsError if an encoder, which needs no weights, cannot have the adapter, or PEFT is missing."""
    try:
        import peft  # noqa: F401
    except ImportError as error:
        raise SettingsError(f"{opt('adapter', 'lora')} needs PEFT: pip install peft") from error
    sizes = {
        name: min(module.weight.shape)
        for name, module in _target_layers(encoder, settings.lora_targets)
    }
    if not sizes:
        has = sorted({name.rpartition(".")[2] for name, _ in _target_layers(encoder, "all-linear")})
        raise SettingsError(
            f"lora_targets '{settings.lora_targets}' names no linear layer of {type(encoder).__name__}",
            fix=f"it has {', '.join(has)}.",
        )
    if settings.lora_rank > (most := min(sizes.values())):
        raise SettingsError(
            f"lora_rank {settings.lora_rank} is above {most}, the width of {min(sizes, key=sizes.__getitem__)}: "
            "a matrix has no higher rank"
        )


def _target_layers(encoder: Any, wanted: str) -> list[tuple[str, Any]]:
    """The layers that get matrices, with their names: linear ones, also in the form of GPT-2, outside of the pooler."""
    from transformers.pytorch_utils import Conv1D

    names = {name.strip() for name in wanted.split(",")}
    return [
        (name, module)
        for name, module in encoder.named_modules()
        if isinstance(module, nn.Linear | Conv1D) and "pooler" not in name.split(".")
        if wanted == "all-linear" or name.rpartition(".")[2] in names
    ]


def inject(encoder: Any, settings: Settings, base: str = "") -> None:
    """Puts matrices, in float32, beside the layers of an encoder in place, and freezes all of its own weights.

    :param base: Hub id or folder of its checkpoint, for `adapter_config.json`
    """
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=sorted(
            {name.rpartition(".")[2] for name, _ in _target_layers(encoder, settings.lora_targets)}
        ),
        exclude_modules=POOLER
        if any(name.endswith("pooler") for name, _ in encoder.named_modules())
        else None,
        base_model_name_or_path=base,
        task_type="FEATURE_EXTRACTION",
    )
    inject_adapter_in_model(config, encoder)
    for parameter in learning_parameters(encoder).values():
        parameter.data = parameter.data.float()


def save(encoder: Any, folder: Path) -> None:
    """Writes the adapter of an encoder in PEFT's format."""
    encoder.peft_config[NAME].save_pretrained(folder)
    weights = {
        PREFIX + name.replace(f".{NAME}.", "."): value.detach().cpu().contiguous()
        for name, value in learning_parameters(encoder).items()
    }
    save_file(weights, folder / WEIGHTS)


def in_network(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of such a file under their names in a `Network`."""
    names = {name: name.removeprefix(PREFIX).removesuffix(".weight") for name in weights}
    return {f"encoder.{names[name]}.{NAME}.weight": value for name, value in weights.items()}
