"""The text of an example: what is counted, and what makes two examples the same input."""

from __future__ import annotations

from blurb.data.schema import Example


def texts(row: Example) -> tuple[str, ...]:
    """The texts of an example: one, or the two of a pair; words are joined by blanks, as the tokenizer gets them.

    >>> texts({"id": "7", "question": "Does it ?", "context": "It does ."})
    ('Does it ?', 'It does .')
    """
    if "tokens" in row:
        return (" ".join(row["tokens"]),)
    return tuple(row[name] for name in ("text", "text_a", "text_b", "question", "context") if name in row)


def words(row: Example) -> int:
    """Words of an example: those of the file where it has some, else what blanks separate, both texts of a pair."""
    return len(row["tokens"]) if "tokens" in row else sum(len(text.split()) for text in texts(row))


def identity(row: Example) -> tuple[object, ...]:
    """What a model can know of an example: equal identities are the same input, letter by letter.

    The two sentences of a similarity pair count in either order, as the score does not depend on it. Of a relation the
    places of the entities belong to the input.

    >>> identity({"text_a": "b", "text_b": "a", "score": 1.0}) == identity({"text_a": "a", "text_b": "b", "score": 4.0})
    True
    """
    if "tokens" in row:
        return tuple(row["tokens"])
    if "head" in row:
        return row["text"], *((row[role]["start"], row[role]["end"]) for role in ("head", "tail"))
    found = texts(row)
    return tuple(sorted(found)) if "text_a" in row else found


def answer(row: Example) -> object:
    """The gold of an example, comparable."""
    for name in ("tags", "labels"):
        if name in row:
            return tuple(row[name])
    return row["label"] if "label" in row else row["score"]
