"""The main text: what counts, what does not, and where a word ends."""

import time
import unicodedata

import pytest

from crawler.page.markup import parse
from crawler.page.text import main_text, normalise


def text_of(markup: str) -> str:
    return main_text(parse(markup))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("<p>o<b>n</b>e <i>two</i><span>three</span>", "one twothree"),
        ("one<br>two<hr>three", "one two three"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1 2 3"),
        ("super<wbr>cali&shy;fragi&#8203;listic", "supercalifragilistic"),
        ("<!-- no -->a<!-- no -->b", "ab"),
        ("<p>x<script>no()</script><style>no{}</style><template>no</template><noscript>no</noscript>y", "xy"),
        ("<select><option>no</select><p>yes", "yes"),
        ("a &amp; b&nbsp;c", "a & b c"),
        ("<title>no</title>yes", "yes"),
        ("", ""),
    ],
)
def test_text_is_what_a_reader_sees_as_words(markup: str, text: str) -> None:
    assert text_of(markup) == text


def test_what_stands_around_the_content_does_not_count() -> None:
    around = "<header>H</header><nav>N</nav>{}<aside>A</aside><div role=navigation>R</div><footer>F</footer>"
    assert text_of(around.format("<main><header>title</header>text</main>")) == "title text"
    assert text_of(around.format("<article><header>title</header>text</article>")) == "title text"


def test_a_role_on_the_whole_page_hides_nothing() -> None:
    assert text_of("<body role=navigation><p>x") == "x"


def test_a_page_that_is_all_navigation_has_its_text() -> None:
    assert text_of("<nav><a href=/>home</a><script>no</script></nav><footer>foot</footer>") == "home foot"


def test_the_same_text_in_other_markup_is_the_same() -> None:
    assert text_of("<div><p>A <b>bold</b> move.</p>\n<p>End</div>") == text_of(
        "<section><h2>A bold\tmove.</h2><ul><li>End</ul></section>"
    )


def test_composed_and_decomposed_characters_are_one_text() -> None:
    assert normalise(unicodedata.normalize("NFD", "café 한글")) == "café 한글"


def test_a_megabyte_of_combining_marks_takes_no_hour() -> None:
    started = time.monotonic()
    normalise("a" + "\u0323\u0301" * 300_000)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>no</div>",
        "<div HIDDEN=until-found>no</div>",
        "<div aria-hidden=true>no</div>",
        '<div style="color:red; Display : NONE">no</div>',
        '<div style="visibility:hidden">no<p hidden>no</p></div>',
    ],
)
def test_what_is_hidden_does_not_count(hidden: str) -> None:
    assert text_of(f"<p>some text</p>{hidden}<p>more") == "some text more"


@pytest.mark.parametrize(
    "shown",
    [
        "<div aria-hidden=false>yes</div>",
        "<div data-hidden>yes</div>",
        '<div style="--display:none">yes</div>',
        '<div style="display:nonesuch">yes</div>',
        "<div class=hidden>yes</div>",
    ],
)
def test_what_only_looks_hidden_counts(shown: str) -> None:
    assert text_of(f"<p>some text</p>{shown}") == "some text yes"


def test_a_page_that_waits_for_a_script_to_show_it_is_read_as_a_whole() -> None:
    content = "<p>some text that is there</p>" * 5
    for markup in (
        f"<body style='visibility:hidden'>{content}",
        f"<div style='display:none'>{content}</div><p>Loading</p>",
        f"<p>Wait</p><main aria-hidden=true>{content}</main>",
    ):
        assert "some text that is there" in text_of(markup)
