"""What the project cites is in the project, and the examples of its docstrings are right."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from blurb.cli import cli
from blurb.protocols.settings import Settings

ROOT = Path(__file__).parent.parent
FILES = sorted(
    path
    for place in (
        "blurb",
        "tests",
        "benchmarks",
        "docs",
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    )
    for path in ([ROOT / place] if (ROOT / place).is_file() else (ROOT / place).rglob("*"))
    if path.suffix in (".py", ".md", ".toml") and "golden" not in path.parts
)
EXAMPLES = [
    path
    for path in FILES
    if path.is_relative_to(ROOT / "blurb") and ">>> " in path.read_text(encoding="utf-8")
]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
ELSEWHERE = re.compile(r"\b(?:PROTOCOL|DESIGN|STYLE|house)\.md\b|\bshared/(?:data/README|review)")
CITED = re.compile(r'docs/benchmark\.md, "([^"]+)"')
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")


def flat(path: Path) -> str:
    """Its text on one line, comment signs at the starts of lines left out: a citation may be broken in two."""
    return re.sub(r"\s*\n\s*(#\s+)?", " ", path.read_text(encoding="utf-8"))


def found(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """File and match, of all files but this one."""
    return [
        (path.relative_to(ROOT).as_posix(), match.group(match.re.groups and 1))
        for path in FILES
        if path != Path(__file__)
        for match in pattern.finditer(flat(path))
    ]


def test_citations_are_found_where_they_are_broken_in_two(tmp_path: Path) -> None:
    for text in (
        'see docs/benchmark.md,\n    "File counts"',
        '# see docs/benchmark.md, "File\n# counts"',
    ):
        (tmp_path / "x.py").write_text(text, encoding="utf-8")
        assert CITED.findall(flat(tmp_path / "x.py")) == ["File counts"]


def test_nothing_outside_the_project_is_cited() -> None:
    assert found(ELSEWHERE) == []


@pytest.mark.extensions
def test_headings_that_are_cited_exist() -> None:
    page = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^#{2,} (.+)$", page, flags=re.MULTILINE))
    cited = found(CITED)
    assert [one for one in cited if one[1] not in headings] == []
    datasets = {"NER", "EBM PICO", "ChemProt", "DDI", "GAD", "BIOSSES", "HoC", "PubMedQA", "BioASQ"}
    assert datasets <= {heading for _, heading in cited}


def test_pages_that_are_cited_exist() -> None:
    assert [one for one in found(PAGE) if not (ROOT / one[1]).is_file()] == []


def anchors(page: Path) -> set[str]:
    """What `#...` may be behind a link to a page: its headings as the repository's viewer and the site write them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        address, _, fragment = link.partition("#")
        target = page.parent / address if address else page
        if "://" not in link and (
            not target.is_file() or (fragment and fragment not in anchors(target))
        ):
            lost.append(link)
    assert lost == []


def test_the_index_has_every_page() -> None:
    docs = ROOT / "docs"
    index, site = ((docs / name).read_text(encoding="utf-8") for name in ("README.md", "index.md"))
    pages = [*docs.glob("*.md"), *docs.glob("extensions/*.md")]
    names = {page.relative_to(docs).with_suffix("").as_posix() for page in pages}
    names -= {"README", "index", "contributing"}  # these include others
    assert {name for name in names if f"]({name}.md)" not in index} == set()
    notebooks = {page.stem for page in docs.glob("*.ipynb")}
    assert {name for name in notebooks if f"]({name}.ipynb)" not in index} == set()
    assert names | notebooks <= set(site.splitlines())


@pytest.mark.slow
def test_the_site(tmp_path: Path) -> None:
    for needed in ("sphinx", "myst_nb", "furo", "sphinx_click"):
        pytest.importorskip(needed, reason="the extra `docs` is not installed")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "-b",
        "html",
    ]
    built = subprocess.run(
        [*command, ROOT / "docs", tmp_path], capture_output=True, text=True, check=False
    )
    assert (built.returncode, built.stderr) == (0, "")
    assert "blurb.load_results" in (tmp_path / "api.html").read_text(encoding="utf-8")
    assert "--relation-input" in (tmp_path / "options.html").read_text(encoding="utf-8")
    for notebook in ("tour", "lesson"):
        assert 'src="_images/' in (tmp_path / f"{notebook}.html").read_text(encoding="utf-8")
    assert 'class="math' in (tmp_path / "lesson.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_of_the_docstrings(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.attempted
    assert tried.failed == 0


# What the pages of decisions quote of the code is in the code.


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
QUOTED = re.compile(r"`([^`\n]+)`")


def commands(group: click.Command, name: str = "") -> dict[str, click.Command]:
    """All commands by their full name."""
    found = {name: group} if name else {}
    if isinstance(group, click.Group):
        context = click.Context(group)
        for each in group.list_commands(context):
            command = group.get_command(context, each)
            found |= commands(command, f"{name} {each}".strip())
    return found


ALL = commands(cli)
OPTIONS = {
    option
    for command in ALL.values()
    for each in command.params
    for option in (*each.opts, *each.secondary_opts)
}


@pytest.mark.extensions
@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_quoted_files_exist(page: Path) -> None:
    quoted = QUOTED.findall(page.read_text(encoding="utf-8"))
    paths = [
        text for text in quoted if re.fullmatch(r"[\w/-]+/[\w.-]+\.(py|toml|md|csv|json)", text)
    ]
    roots = (ROOT, ROOT / "blurb", ROOT / "tests")
    assert [text for text in paths if not any((root / text).exists() for root in roots)] == []


@pytest.mark.extensions
@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_quoted_options_and_commands_exist(page: Path) -> None:
    quoted = QUOTED.findall(page.read_text(encoding="utf-8"))
    options = {option for text in quoted for option in re.findall(r"(?<![\w-])--[a-z][\w-]+", text)}
    names = {match[1] for text in quoted if (match := re.match(r"blurb ((?:[a-z]+ ?)+)", text))}
    known = {name.split()[0] for name in ALL}
    assert options - OPTIONS - {"--help"} == set()
    assert {name.split()[0] for name in names} - known == set()


def test_quoted_settings_exist() -> None:
    """`name = "value"` in a decision is a setting, or the learner of a protocol."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in DECISIONS)
    assert set(re.findall(r'`([a-z_]+) = "', text)) <= {*Settings.__dataclass_fields__, "learner"}
