"""Made-up words and sentences, and words on which alignments break."""

import random
from collections.abc import Iterator

SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "tra",
    "nex",
    "vor",
    "pil",
    "dun",
    "sey",
    "gra",
    "bo",
    "fin",
    "zu",
    "qe",
    "hy",
    "wos",
)
ODD = ("β", "naïve", "@DRUG$", "@GENE$", "@CHEMICAL$", "(-)", ";", ".", "12.5", "%")


def words(seed: int = 0, size: int = 300) -> list[str]:
    """Made-up words of one to four syllables, some with capitals, and a few with odd characters."""
    rng = random.Random(seed)
    plain = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(size)]
    return (
        plain
        + [word.capitalize() for word in plain[::4]]
        + [word.upper() for word in plain[::8]]
        + list(ODD)
    )


def texts(seed: int = 0, size: int = 300) -> list[str]:
    """Made-up sentences of 3 to 20 words."""
    rng, lexicon = random.Random(seed + 1), words(seed)
    return [" ".join(rng.choices(lexicon, k=rng.randint(3, 20))) for _ in range(size)]


def odd_words() -> Iterator[str]:
    """Words on which alignments break: accents, Greek, emoji, dropped control characters, long words, punctuation."""
    yield from (
        "naïve",
        "α-β",
        "ΔF508",
        "😀",
        "🧬x",
        "\x07",
        "a\x00b",
        "e\u0301tat",
        "\u0301",
        "\u200b",
        "日本語",
        "--",
    )
    yield from (
        "(",
        "...",
        "@DRUG$",
        "q" * 300,
        "[SEP",
        "µg/ml",
        "İzmir",
        "ﬁn",
        "½",
        "\ufffd",
        "ß",
        "x\u200by",
        "_",
    )
