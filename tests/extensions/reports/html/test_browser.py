"""The page in a real browser: it sorts, filters, asks the network for nothing, and fits a phone."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.page import entry
from blurb.extensions.reports.html.collect import board, entry_of
from blurb.extensions.reports.html.model import Page
from blurb.extensions.reports.html.render import render
from blurb.results import published
from tests.browser import on_a_phone
from tests.results import invented

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows with runs, one of them with a long name, one that attacks, and the published ones."""
    attack = entry("attack", seeds=(1,), level=60)
    rows = [
        entry("org/better", level=84),
        entry(
            "org/an-encoder-with-a-very-long-name-that-does-not-fit-anywhere-on-a-phone", level=79
        ),
        replace(attack, row=invented.named(attack.row, model=HOSTILE), detail=HOSTILE),
        *map(entry_of, published.shipped()),
    ]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(render(Page("Leaderboard", [board("blurb", rows)])), encoding="utf-8")
    return path


@pytest.fixture
def tab(chromium: Any, file: Path) -> Iterator[Any]:
    with on_a_phone(chromium, file, "Leaderboard", 360, 740) as page:
        yield page


def shown(tab: Any, column: int = 0) -> list[str]:
    """Texts of a column of the rows that are there."""
    script = f"rows => rows.filter(row => row.offsetParent).map(row => row.cells[{column}].firstChild.textContent)"
    return tab.locator("table.main tbody tr").evaluate_all(script)


def values(tab: Any, column: int) -> list[float | None]:
    """Numbers of a column, None for what is not there."""
    script = f"rows => rows.map(row => row.cells[{column}].dataset.v ? +row.cells[{column}].dataset.v : null)"
    return tab.locator("table.main tbody tr").evaluate_all(script)


def test_sorts_by_every_column_both_ways_with_gaps_last(tab: Any) -> None:
    heads = tab.locator("table.main thead th button")
    names = heads.all_text_contents()
    tab.locator("input[value=all]").check(force=True)
    for column in (1, 2, 9, names.index("BioASQ")):
        for order in ("descending", "ascending"):
            heads.nth(column).click()
            cell = tab.locator("table.main thead th").nth(column)
            assert cell.get_attribute("aria-sort") == order
            assert tab.locator(f'th[aria-sort="{order}"]').count() == 1
            found = values(tab, column)
            known = [value for value in found if value is not None]
            assert found == sorted(known, reverse=order == "descending") + [None] * (
                len(found) - len(known)
            )
            assert names[column] in tab.locator(".status").text_content()
    heads.nth(0).click()
    rows = tab.locator("table.main tbody th[scope=row]").all_text_contents()
    assert rows == sorted(rows, key=str.lower)


def test_sorts_by_keyboard(tab: Any) -> None:
    head = tab.locator("table.main thead th").nth(2)
    head.locator("button").focus()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    tab.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"


def test_filters_by_words_and_kind(tab: Any) -> None:
    everything = shown(tab)
    assert len(everything) == 3 + len(published.shipped())
    tab.fill(".find", "clinicalbert gu2021")
    assert shown(tab) == ["ClinicalBERT"]
    assert set(
        tab.locator(".strip .row:visible").evaluate_all("dots => dots.map(dot => dot.dataset.row)")
    ) == {tab.locator("table.main tbody tr:visible").get_attribute("data-row")}
    assert tab.locator(".status").text_content() == f"1 of {len(everything)} rows."
    tab.fill(".find", "")
    tab.select_option("select.kind", "own")
    assert len(shown(tab)) == 3
    tab.select_option("select.kind", "complete")
    assert "BioM-ALBERT-xxlarge" not in shown(tab)
    tab.fill(".find", "nothing like it")
    assert shown(tab) == []
    tab.fill(".find", "")
    tab.select_option("select.kind", "")
    assert shown(tab) == everything


def test_columns_and_highlight(tab: Any) -> None:
    visible = "cells => cells.filter(cell => cell.offsetParent).length"
    heads = tab.locator("table.main thead th")
    assert heads.evaluate_all(visible) == 3 + 6 + 2
    tab.locator("input[value=dataset]").check(force=True)
    assert heads.evaluate_all(visible) == 3 + 13 + 2
    tab.locator("input[value=all]").check(force=True)
    assert heads.evaluate_all(visible) == 3 + 6 + 13 + 2
    tab.select_option("select.focus", "1")
    assert set(tab.locator(".row.on").evaluate_all("rows => rows.map(row => row.dataset.row)")) == {
        "1"
    }


def test_a_click_on_a_dot_highlights_its_row_and_shows_its_figures(tab: Any) -> None:
    row = tab.locator("table.main tbody tr", has_text="PubMedBERT").first
    index, score = (
        row.get_attribute("data-row"),
        row.locator("td.score").first.get_attribute("data-v"),
    )
    tab.locator(f'.strip .row[data-row="{index}"] circle').first.dispatch_event("click")
    assert tab.locator("select.focus").input_value() == index
    assert tab.locator(".strip output").first.text_content() == score
    assert tab.locator("table.main tr.on").get_attribute("data-row") == index


def test_links_land_on_their_sections(tab: Any) -> None:
    for width in (360, 1280):
        tab.set_viewport_size({"width": width, "height": 740})
        for link in tab.locator("nav a").all():
            tab.evaluate("scrollTo(0, 0)")
            link.click()
            target = tab.locator(f'[id="{link.get_attribute("href")[1:]}"]')
            place = target.evaluate("one => one.getBoundingClientRect().y")
            bottom = tab.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY")
            assert 0 <= place <= 16 or bottom < 1, (width, link.text_content(), place)


def test_two_rows_side_by_side(tab: Any) -> None:
    options = tab.locator("select.first option").all_text_contents()
    better = next(place for place, text in enumerate(options) if text.startswith("org/better"))
    longer = next(place for place, text in enumerate(options) if text.startswith("org/an-"))
    tab.select_option("select.first", str(longer))
    tab.select_option("select.other", str(better))
    table = tab.locator("table.comparison")
    last = table.locator("tbody tr").last
    assert last.locator("th").text_content() == "BLURB score"
    difference = last.locator("td").nth(2).text_content()
    assert float(difference.replace("−", "-")) == pytest.approx(-5, abs=1)
    assert last.locator("td").nth(3).text_content() == difference  # of the score: all of it
    assert last.locator("td").nth(6).text_content() == f"{options[better]} is higher"
    tab.click(".swap")
    turned = table.locator("tbody tr").last
    assert turned.locator("td").nth(2).text_content() == difference.replace("−", "+")
    assert turned.locator("td").nth(6).text_content() == f"{options[better]} is higher"
    tab.select_option("select.other", str(len(options) - 1))
    assert "a number without runs" in table.locator("tbody").text_content()


def test_no_overflow_on_a_phone_with_everything_open(tab: Any) -> None:
    tab.locator("input[value=all]").check(force=True)
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") == 360
    assert tab.locator(".scroll.tall").evaluate("region => region.scrollWidth > region.clientWidth")


def test_first_column_and_header_stay_in_sight(tab: Any) -> None:
    tab.locator("input[value=all]").check(force=True)
    place = "cell => { const { x, y } = cell.getBoundingClientRect(); return [x, y]; }"
    region, corner = tab.locator(".scroll.tall"), tab.locator("table.main thead th").first
    region.evaluate("region => region.scrollTo(300, 300)")
    left, top = region.evaluate(place)
    x, y = corner.evaluate(place)
    assert (x - left, y - top) == (pytest.approx(1, abs=1), pytest.approx(1, abs=1))
    x, _ = tab.locator("table.main tbody th").nth(10).evaluate(place)
    assert x - left == pytest.approx(1, abs=1)


def test_light_and_dark_by_the_system_and_by_hand(tab: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(ground)
    tab.emulate_media(color_scheme="dark")
    dark = tab.evaluate(ground)
    assert light == "rgb(251, 251, 249)"
    assert dark == "rgb(20, 23, 27)"
    assert tab.locator("#theme").text_content() == "Light"
    tab.click("#theme")
    assert tab.evaluate(ground) == light
    tab.reload()
    assert tab.evaluate(ground) == light
    tab.click("#theme")
    assert tab.evaluate(ground) == dark


def test_a_link_to_how_a_row_was_made_opens_it(tab: Any) -> None:
    tab.locator("table.main tbody th a").first.click()
    tab.locator("details.provenance[open]").first.wait_for()  # by an event, so not at once
    assert tab.locator("details.provenance[open]").count() == 1
    assert "blurb run MODEL" in tab.locator("details.provenance[open] pre").text_content()


def test_the_page_can_be_read_without_its_script(chromium: Any, file: Path) -> None:
    context = chromium.new_context(
        java_script_enabled=False, viewport={"width": 360, "height": 740}
    )
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("table.main tbody tr").count() == 3 + len(published.shipped())
    assert page.locator("table.comparison").count() == 1
    assert page.locator("table.comparison").is_hidden()
    assert page.locator("noscript").count() == 1
    context.close()


PAPER = 1047
"""Width of what A4 landscape leaves between margins of 10 mm, in pixels of CSS."""


@pytest.mark.parametrize("columns", ["type", "dataset", "all"])
def test_printed_no_column_lies_outside_the_page_and_heads_have_words(
    tab: Any, columns: str
) -> None:
    tab.locator(f"input[value={columns}]").check(force=True)
    names = tab.locator("table.main thead th button").all_text_contents()
    tab.set_viewport_size({"width": PAPER, "height": 700})
    tab.emulate_media(media="print")
    visible = "() => [...document.querySelectorAll('button, input, select')].filter(each => each.offsetParent).length"
    assert tab.evaluate(visible) == 0
    outside = "each => each.getBoundingClientRect().right > innerWidth && each.textContent"
    assert (
        tab.evaluate(
            f"() => [...document.querySelectorAll('th, td, svg')].map({outside}).filter(Boolean)"
        )
        == []
    )
    heads = tab.locator("table.main thead th")
    shown = [
        heads.nth(place).inner_text()
        for place in range(heads.count())
        if heads.nth(place).is_visible()
    ]
    assert set(shown) <= {*names, "Notes"}
    assert {"Row", "Runs", "Notes"} <= set(shown)
    assert all(shown)
    assert len(tab.pdf(prefer_css_page_size=True)) > 10_000
