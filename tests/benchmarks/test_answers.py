"""Ways back from text to tags of other harnesses."""

from benchmarks.answers import containing


def test_an_inner_word_leaves_the_tag_of_another_type_and_a_first_word_does_not() -> None:
    """EuroEval's one list of tags for all types, step by step."""
    words = ["pain", "of", "the", "knee", "pain"]
    assert containing(words, ["the knee"]) == ["O", "O", "B", "I", "O"]
    assert containing(words, ["the knee"], {3}) == ["O", "O", "B", "O", "O"]
    assert containing(words, ["knee"], {3}) == ["O", "O", "O", "B", "O"]
