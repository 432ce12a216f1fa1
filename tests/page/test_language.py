"""The declared language of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.language import primary_subtag
from crawler.page.page import Page
from tests.cases.links import read


def page(markup: str, *values: str) -> Page:
    return read(markup.encode(), headers=[("Content-Language", value) for value in values])


@pytest.mark.parametrize(
    ("tag", "subtag"),
    [
        ("en", "en"),
        (" pt-BR ", "pt"),
        ("ZH_hant", "zh"),
        ("sgn-CH-DE", "sgn"),
        ("", None),
        ("und", None),
        ("x-klingon", None),
        ("english", None),
        ("en us", None),
        ("e1", None),
    ],
)
def test_a_tag_is_reduced_to_its_language(tag: str, subtag: str | None) -> None:
    assert primary_subtag(tag) == subtag


def test_the_document_says_it_before_the_header() -> None:
    assert page('<html lang="de-AT"><p>x', "en").language == "de"
    assert page('<html lang=""><p>x', "en-GB").language == "en"
    assert page('<html xml:lang="fr"><p>x').language == "fr"


def test_several_languages_of_a_header_are_those_of_its_readers() -> None:
    assert page("<p>x", "en, de").language is None
    assert page("<p>x", "en", "de").language is None


def test_what_is_not_said_is_not_guessed() -> None:
    assert page("<p>Das ist ein deutscher Text.").language is None
    assert page('<p lang="de">Das ist ein deutscher Text.').language is None


@given(st.text(max_size=20))
def test_a_subtag_is_its_own_subtag(tag: str) -> None:
    found = primary_subtag(tag)
    assert found is None or primary_subtag(found) == found
