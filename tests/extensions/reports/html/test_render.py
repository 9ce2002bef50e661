"""The page as HTML: well-formed, self-contained, accessible, and closed to names that are code."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import blurb.extensions.reports.html
from benchmarks.page import entry, synthetic
from blurb.extensions.reports.html import svg
from blurb.extensions.reports.html.collect import board, entry_of, opening
from blurb.extensions.reports.html.model import Page, PageAblation, PageRow, RowProvenance
from blurb.extensions.reports.html.render import best, focus, render
from blurb.extensions.reports.html.svg import HEIGHT, RADIUS, lowest, marks, strips
from blurb.leaderboard.intervals import Value
from blurb.planning import ablations
from blurb.results import groups, published
from tests.extensions.reports.html import reading
from tests.results import invented

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "' onmouseover='alert(4)",
    '" onmouseover="alert(5)',
    "<!-- {{ 7 * 7 }} {% raw %}",
    "&lt;b&gt; \u2028 \\u003c",
)


@pytest.fixture(scope="module")
def text() -> str:
    rows = [
        entry("org/good", level=85),
        entry("org/worse", level=80),
        entry("single", seeds=(1,), level=70),
    ]
    return render(Page("A title", [board("blurb", [*rows, *map(entry_of, published.shipped())])]))


@pytest.fixture(scope="module")
def page(text: str) -> reading.Page:
    return reading.Page(text)


def test_nothing_is_loaded_from_anywhere(page: reading.Page, text: str) -> None:
    for element in page.elements:
        for name, value in element.attributes.items():
            assert name not in ("src", "srcset", "data", "action", "poster"), (element.tag, name)
            if name in ("href", "xlink:href"):
                assert value.startswith("#") or value == "data:,", value
    assert "@import" not in text
    assert "url(" not in text
    assert not re.search(r"https?://", text.replace("http://www.w3.org/2000/svg", ""))


def test_the_policy_names_the_style_and_the_script_and_forbids_the_rest(
    page: reading.Page, text: str
) -> None:
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    rules = dict(rule.split(" ", 1) for rule in policy.attributes["content"].split("; "))
    assert rules["default-src"] == "'none'"
    for rule, tag in (("style-src", "style"), ("script-src", "script")):
        source = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(source) == 1
        digest = base64.b64encode(hashlib.sha256(source[0].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    for element in page.elements:  # these would be refused
        assert "style" not in element.attributes
        assert not [name for name in element.attributes if name.startswith("on")]


def test_the_best_of_a_column_is_marked_by_more_than_colour(page: reading.Page) -> None:
    (main,) = page.all("table", class_="main")
    rows = [one for one in main.children if one.tag == "tr"][1:]
    cells = [
        next(cell for cell in row.children if cell.tag == "td" and "data-v" in cell.attributes)
        for row in rows
    ]
    scores = [
        (float(cell.attributes["data-v"]), cell)
        for cell in cells
        if "score" in cell.attributes["class"]
    ]
    top = max(value for value, _ in scores)
    assert top == pytest.approx(85, abs=0.5)
    for value, cell in scores:
        assert ("best" in cell.text) == ("★" in cell.text) == (value == top)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_code(name: str) -> None:
    one = entry("first")
    made = RowProvenance(
        f"blurb run {name}", [(name, name)], one.provenance.datasets if one.provenance else ()
    )
    row = invented.named(
        one.row, model=name, configuration=replace(one.row.configuration, note=name)
    )
    rows = [replace(one, row=row, detail=name, provenance=made), entry("second")]
    ablation = PageAblation(
        name, name, [name], [(name, {name: dict.fromkeys(ablations.SHOWN, name)})]
    )
    page = reading.Page(render(Page(name, [board("blurb", rows)], [ablation])))
    assert [one.attributes.get("type") for one in page.all("script")] == ["application/json", None]
    assert not page.all("img")
    assert not [key for one in page.elements for key in one.attributes if key.startswith("on")]
    assert page.all("h1")[0].text == name
    assert any(name in one.text for one in page.all("title")[1:])
    content = json.loads(page.all("script", type="application/json")[0].text)
    assert f"{name} · {name}" in content["names"]
    assert "49 " not in page.all("h1")[0].text


def test_side_by_side_data_are_those_of_the_judge() -> None:
    found = board("blurb", [entry("a", level=80.0), entry("b", level=80.5)])
    content = json.loads(
        reading.Page(render(Page("x", [found]))).all("script", type="application/json")[0].text
    )
    (pair,) = found.comparisons.pairs
    for name, shown, (half, p, _) in zip(
        found.comparisons.names, content["pairs"]["0-1"], pair.lines, strict=True
    ):
        assert shown[:2] == [pytest.approx(half, abs=0.005), pytest.approx(p, abs=5e-5)], name


def test_compare_opens_with_the_pair_that_can_be_judged_best() -> None:
    one, two = entry("one", seeds=(1,), level=90.0), entry("two", seeds=(1,), level=88.0)
    floor = entry("baseline:constant", level=20.0)
    found = board(
        "blurb", [one, two, entry("a", level=80.0), floor, *map(entry_of, published.shipped())]
    )
    names = [each.row.model for each in found.entries]
    pair = opening(found.comparisons, found.entries, 0)
    assert [names[place] for place in pair] == ["one", "a"], "one and two have one run each"
    alone = board("blurb", [one, two, floor])
    assert alone.entries[opening(alone.comparisons, alone.entries, 0)[1]].row.kind.lower_bound
    text = reading.Page(render(Page("x", [found]))).all("script", type="application/json")[0].text
    assert json.loads(text)["opening"] == list(pair)


def protocols(one: PageRow, protocol: str) -> PageRow:
    """The row as another protocol would have made it."""
    made = replace(one.row.configuration, protocol=protocol, protocol_hash=protocol[:1] * 64)
    row = invented.named(one.row, configuration=made)
    return replace(one, row=row, standing=groups.standing(row), detail=protocol)


def test_compare_never_opens_with_one_encoder_under_two_protocols_if_there_is_a_baseline() -> None:
    """As on the page of this repository, which opened with `sketch` against `quick`."""
    mine = entry("m", level=80.0)
    floor = protocols(entry("baseline:bigrams", level=60.0), "standard")
    found = board("blurb", [protocols(mine, "quick@2"), protocols(mine, "sketch"), floor])
    first, other = opening(found.comparisons, found.entries, 0)
    assert [found.entries[first].row.model, found.entries[other].row.model] == [
        "m",
        "baseline:bigrams",
    ]
    content = json.loads(
        reading.Page(render(Page("x", [found]))).all("script", type="application/json")[0].text
    )
    told = content["remarks"]["0-1"]
    assert told.startswith("the same encoder under two protocols; protocol: ")
    assert content["remarks"]["1-0"] != told  # the sides change places, as the rows do


def test_stars_are_for_rows_of_one_protocol() -> None:
    rows = [
        protocols(entry(name, level=level), protocol)
        for name, level, protocol in (
            ("a", 70.0, "quick@2"),
            ("b", 60.0, "quick@2"),
            ("c", 80.0, "standard-short"),
            ("d", 90.0, "sketch"),
            ("e", 89.0, "sketch"),
        )
    ]
    found = board("blurb", rows)
    starred = {found.entries[place].row.model for place in best(found)["score"]}
    assert starred == {"a"}  # the best of two; c is alone, and `sketch` has no rank


def test_without_verdicts_compare_opens_with_one_s_own_row_beside_a_published_one() -> None:
    found = board(
        "blurb", [entry("one-run", seeds=(1,), level=60.0), *map(entry_of, published.shipped())]
    )
    other, first = opening(found.comparisons, found.entries, focus(found))
    assert (found.entries[other].row.model, found.entries[first].kind) == ("one-run", "published")
    assert len(found.entries[first].datasets) == 13
    assert opening(board("blurb", [entry("alone")]).comparisons, [entry("alone")], 0) == (0, 0)


def test_baselines_are_last_and_published_rows_below_one_s_own() -> None:
    rows = [
        entry("baseline:majority", level=99),
        *map(entry_of, published.shipped()),
        entry("mine", level=20),
    ]
    names = [each.row.model for each in board("blurb", rows).entries]
    assert (names[0], names[-1]) == ("mine", "baseline:majority")


@pytest.mark.parametrize(
    ("datasets", "columns"), [(["gad"], "dataset"), (["gad", "biosses"], "type")]
)
def test_rows_without_any_mean_open_on_their_datasets(datasets: list[str], columns: str) -> None:
    row = entry("partly").row
    partly = entry_of(replace(row, datasets={name: row.datasets[name] for name in datasets}))
    page = reading.Page(render(Page("x", [board("blurb", [partly])])))
    (table,) = page.all("table", class_="main")
    (chosen,) = (one for one in page.all("input", type="radio") if "checked" in one.attributes)
    assert table.attributes["data-columns"] == chosen.attributes["value"] == columns


def test_a_page_without_rows_or_with_one() -> None:
    assert "No rows yet" in render(Page("Empty", []))
    alone = reading.Page(render(synthetic(1)))
    assert not alone.all("script", type="application/json")
    assert not [one for one in alone.all("a") if one.attributes["href"] == "#b0-comparisons"]


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio by WCAG 2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrasts_pass_wcag_aa_in_light_and_dark(text: str) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)[0]
    blocks = re.findall(r"{([^{}]*--page:[^{}]*)}", style)
    palettes = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in blocks]
    assert len(palettes) == 3
    assert palettes[1] == palettes[2]
    for palette in palettes:
        for ink, ground in product(("ink", "quiet", "accent"), ("page", "card", "head", "wash")):
            assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)
        for mark, ground in product(("mark", "accent"), ("page", "card")):
            assert contrast(palette[mark], palette[ground]) >= 3, (mark, ground)


@pytest.mark.slow
def test_three_hundred_models_stay_under_five_megabytes() -> None:
    text = render(synthetic(300))
    assert len(text.encode()) < 5_000_000
    assert "the first 50 of 300 rows" in text


@pytest.mark.slow
def test_fifty_models_stay_under_two_megabytes() -> None:
    rows = [*synthetic(50).boards[0].entries, *map(entry_of, published.shipped())]
    assert len(render(Page("x", [board("blurb", rows)])).encode()) < 2_000_000


def test_a_lane_of_a_dataset_names_the_protocol() -> None:
    """Rows of one model are told apart beside the plot, also where protocols are equal."""
    made = [("sketch", {}), ("quick@2", {}), ("quick@2", {"lr": 0.5})]
    rows = []
    for protocol, overrides in made:
        one = entry("org/an-encoder-with-a-long-name-checkpoint-12000", level=80)
        configuration = replace(one.row.configuration, protocol=protocol, overrides=overrides)
        detail = " ".join([protocol, *(f"{key}={value}" for key, value in overrides.items())])
        rows.append(
            replace(one, row=invented.named(one.row, configuration=configuration), detail=detail)
        )
    labels = svg.named(rows)
    assert [made for _, made in labels] == ["sketch", "quick@2", "quick@2 lr=0.5"]
    assert all(
        len(f"{name} {made}") <= svg.LETTERS and name.endswith("-12000") for name, made in labels
    )
    assert '<tspan class="made">sketch</tspan>' in render(Page("A title", [board("blurb", rows)]))


# The dot plot of the task types.


OURS = entry("org/ours", level=80)


def places(picture: str) -> dict[int, tuple[float, float, float]]:
    """Row -> figure, and the place of its dot across and down."""
    found = re.findall(
        r'data-row="(\d+)" data-v="([\d.]+)">.*?<circle cx="([\d.]+)%" cy="(\d+)"', picture
    )
    return {int(row): (float(value), float(x), float(y)) for row, value, x, y in found}


def test_a_lane_a_mean_and_a_dot_a_row_at_its_place() -> None:
    entries = [OURS, *map(entry_of, published.shipped())]
    found = strips(entries, 0)
    assert [title for title, *_ in found] == [
        "Score",
        "blurb-12",
        "NER",
        "PICO",
        "RE",
        "STS",
        "Doc",
        "QA",
    ]
    low = lowest(entries)
    for (_, picture, shown), kind in zip(
        found[2:], ("ner", "pico", "relation", "similarity", "document", "qa"), strict=True
    ):
        dots = places(picture)
        assert set(dots) == {place for place, one in enumerate(entries) if kind in one.types}
        for place, (value, x, y) in dots.items():
            assert value == round(entries[place].types[kind].mean, 2)
            assert abs(x - 100 * (value - low) / (100 - low)) < 0.02
            assert RADIUS <= y <= HEIGHT - RADIUS
        assert shown == OURS.types[kind]


def test_equal_means_lie_beside_each_other_and_the_highlighted_row_above_all() -> None:
    dots = places(strips([replace(OURS) for _ in range(3)], 1)[0][1])
    assert len({x for _, x, _ in dots.values()}) == 1
    assert len({y for _, _, y in dots.values()}) == 3
    assert list(dots)[-1] == 1


def with_means(name: str, mean: float) -> PageRow:
    return replace(entry(name), values={"qa": Value(mean)})


@pytest.mark.parametrize(
    ("means", "low"),
    [
        ({"m": 73.1, "baseline:constant": 4.0}, 70),
        ({"baseline:constant": 4.0}, 0),
        ({"m": -12.0}, 0),
        ({"m": 100.0}, 90),
        ({}, 0),
    ],
)
def test_the_axis_starts_below_all_but_baselines(means: dict[str, float], low: int) -> None:
    assert lowest([with_means(*each) for each in means.items()]) == low


def test_a_baseline_below_the_axis_has_no_dot() -> None:
    ((_, picture, _),) = strips([with_means("m", 73.1), with_means("baseline:constant", 4.0)], 0)
    assert list(places(picture)) == [0]


def test_round_marks_from_end_to_end() -> None:
    assert [value for _, value in marks(50)] == [50, 60, 70, 80, 90, 100]
    assert (marks(0)[0], marks(0)[-1]) == (("0", 0), ("100", 100))


def test_rows_without_means_have_no_plot() -> None:
    assert strips([replace(OURS, values={})], 0) == []


# Classes of the page: one that is renamed in one place of two loses its style, or the script loses it.


TEMPLATES = Path(blurb.extensions.reports.html.__file__).parent / "templates"


def templates(*names: str) -> str:
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def test_every_class_of_the_templates_is_known_to_style_or_script() -> None:
    pages, known = templates("page.html", "parts.html"), templates("style.css", "script.js")
    plain = re.sub(r"\{[%{].*?[%}]\}", " ", pages)
    used = {word for found in re.findall(r'class="([^"]*)"', plain) for word in found.split()}
    assert len(used) > 20
    assert {word for word in used if not re.search(rf"[.\"' ]{re.escape(word)}\b", known)} == set()


def test_every_class_of_the_style_is_used() -> None:
    rules = re.sub(r"\{[^}]*\}", " ", templates("style.css"))
    styled = set(re.findall(r"\.([a-zA-Z][\w-]*)", rules))
    python = "\n".join(path.read_text(encoding="utf-8") for path in TEMPLATES.parent.glob("*.py"))
    used = templates("page.html", "parts.html", "script.js") + python
    assert {word for word in styled if not re.search(rf"\b{re.escape(word)}\b", used)} == set()
