"""Answers of a language model that was prompted: blurb wrote the requests and scored what came back."""

from blurb.learners.kind import LearnerKind, RowKind

LEARNER = LearnerKind(
    name="prompted",
    summary="answers of a prompted language model, scored by blurb",
    rows=RowKind(
        "prompted",
        "a row of a prompted model",
        "prompted models",
        place=5,
        measures="",
        mark="prompted",
        heading="Prompted language models",
        about="A language model answered requests that blurb wrote; nothing was trained. Prompts and shots are known, "
        "the model is what the server called it, and whether it saw the test sets in its training is unknown. "
        "Therefore these rows are ranked separately, unless somebody asks for one ranking.",
        joins=True,
        claimed=True,
    ),
    learner="",
    settings=("max_eval", "eval_seed"),
    runs=False,
)
