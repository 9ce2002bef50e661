"""The page in a real browser: by mouse and by keyboard, in light and dark, on a phone, without a request."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blurb.extensions.lab.attention import Attention, attention
from tests.browser import on_a_phone
from tests.conftest import Builder

TEXT = "Aspirin lowered the fever </script><script>document.title='owned'</script> of two patients with gastric reflux."
WORD = "reflux"


@pytest.fixture(scope="module")
def result(checkpoint: Builder) -> Attention:
    """Two encoders, of which the second has no queries and keys by themselves."""
    models = [checkpoint("bert_uncased"), checkpoint("deberta")]
    return attention(models, TEXT, entity="gastric reflux", word=WORD, head="2.1")


@pytest.fixture(scope="module")
def file(result: Attention, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("attention") / "page.html"
    result.html(path)
    return path


@pytest.fixture
def tab(chromium: Any, file: Path) -> Iterator[Any]:
    with on_a_phone(chromium, file, "Attention: bert_uncased and deberta", 390, 800) as page:
        yield page


def row(tab: Any, model: int = 0) -> dict[str, float]:
    """What is written beside the words on the right, 0 to 1, by their places."""
    texts = tab.locator(".lines").nth(model).locator(".to output").all_text_contents()
    return {str(place): float(text.split()[0]) / 100 for place, text in enumerate(texts) if text}


def expected(result: Attention, layer: int, head: int, word: int, model: int = 0) -> list[float]:
    """The row of a word: words first, then special tokens."""
    shown = result.models[model]
    weights = shown.matrix[layer, head, shown.before + word]
    return [*weights[shown.words].tolist(), *weights[shown.special].tolist()]


def test_a_row_shows_the_weights_of_its_word(tab: Any, result: Attention) -> None:
    word, lines = result.words.index(WORD), tab.locator(".lines path").count()
    tab.locator(".lines").first.locator(".from button").nth(word).hover()
    for model in (0, 1):
        assert list(row(tab, model).values()) == pytest.approx(
            expected(result, 1, 0, word, model), abs=0.009
        )
    assert 0 < tab.locator(".lines path").count() < lines
    assert f"From “{WORD}”" in tab.locator("#status").text_content()
    tab.mouse.move(0, 0)
    assert "Mean of all words" in tab.locator("#status").text_content()
    assert tab.locator(".lines path").count() == lines


def test_a_click_keeps_a_row_and_escape_lets_go(tab: Any) -> None:
    tab.locator(".lines").first.locator(".from button").nth(2).click()
    tab.mouse.move(0, 0)
    assert "From “the”" in tab.locator("#status").text_content()
    tab.keyboard.press("Escape")
    assert "Mean of all words" in tab.locator("#status").text_content()


def test_heads_by_keyboard(tab: Any) -> None:
    """A grid is one stop of the tabulator; arrows move, Enter opens, and arrows move between the words."""
    tab.locator(".map").first.locator("button").first.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        tab.keyboard.press(key)
    assert tab.evaluate("document.activeElement.title") == "layer 2, head 2"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "detail-title"
    assert (tab.input_value("#layer"), tab.input_value("#head")) == ("1", "1")
    assert tab.locator('.map button[aria-current="true"]').count() == 2  # in the grid of each model
    assert tab.locator(".map").first.locator('[tabindex="0"]').count() == 1
    tab.locator(".from button").first.focus()
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.textContent") == "lowered"
    assert "From “lowered”" in tab.locator("#status").text_content()


def test_means(tab: Any, result: Attention) -> None:
    word = result.words.index(WORD)
    tab.select_option("#head", "-1")
    tab.locator(".from button").nth(word).focus()
    mean = [
        sum(pair) / 2
        for pair in zip(*(expected(result, 1, head, word) for head in (0, 1)), strict=True)
    ]
    assert list(row(tab).values()) == pytest.approx(mean, abs=0.009)
    assert "a mean has no queries" in tab.locator("#products").text_content()
    tab.select_option("#layer", "-1")
    every = [expected(result, layer, head, word) for layer in (0, 1) for head in (0, 1)]
    tab.locator(".from button").nth(word).focus()
    assert list(row(tab).values()) == pytest.approx(
        [sum(each) / 4 for each in zip(*every, strict=True)], abs=0.009
    )


def test_from_the_entity(tab: Any, result: Attention) -> None:
    tab.click("#from-entity")
    first, after = result.entity or (0, 0)
    rows = [expected(result, 1, 0, word) for word in range(first, after)]
    assert list(row(tab).values()) == pytest.approx(
        [sum(pair) / 2 for pair in zip(*rows, strict=True)], abs=0.009
    )
    assert tab.locator(".from .on").count() == 4  # two words, two models
    tab.click("#clear")
    assert tab.locator(".from .on").count() == 0


def test_the_words_alone_sum_to_1(tab: Any, result: Attention) -> None:
    tab.select_option("#scale", "words")
    tab.locator(".from button").first.focus()
    shown = row(tab)
    assert len(shown) == len(result.words)
    assert sum(shown.values()) == pytest.approx(1, abs=0.06)  # of rounded percentages


def test_scores_give_the_weights(tab: Any, result: Attention) -> None:
    """The weights beside the scores are those of the encoder; one without queries and keys says why."""
    products = tab.locator("#products")
    assert "positions or other terms enter the scores" in products.text_content()
    table = products.locator("table").first
    scores = [
        float(text.replace("−", "-"))
        for text in table.locator("td:nth-last-child(2)").all_text_contents()[1:]
    ]
    shown = result.models[0]
    mine = [
        at for at, column in enumerate(shown.columns_of_pieces) if shown.columns[column] == WORD
    ]
    kept = shown.projections.scores[1, 0, mine[0]]  # type: ignore[union-attr]
    assert scores == pytest.approx(kept.tolist(), abs=0.006)
    assert table.locator("canvas").count() == 1 + 2 * len(scores)


def test_light_and_dark(tab: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(ground) == "rgb(251, 251, 249)"
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(ground) == "rgb(20, 23, 27)"
    tab.click("#theme")
    assert tab.evaluate(ground) == "rgb(251, 251, 249)"


@pytest.mark.parametrize("width", [320, 390, 800, 1400])
def test_it_fits_the_window(tab: Any, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") == width


def test_words_are_inert(tab: Any) -> None:
    assert "document.title='owned'" in re.sub(r"\s", "", tab.locator(".text").text_content())
    assert tab.locator("script").count() == 2


def test_the_tables_can_be_read_without_its_script(
    chromium: Any, file: Path, result: Attention
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    cells = page.locator("#tables table").first.locator("td").all_text_contents()
    assert cells == [f"{100 * mass:.0f}" for mass in result.models[0].mean_special.ravel()]
    assert page.locator("noscript").count() == 1
    assert page.locator("#entry").is_hidden()
    context.close()
