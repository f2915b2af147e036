"""A page's closed parts: links into them and paper open them, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from gslopes.report import inline

PAGE = """{% extends "shell.html.j2" %}{% import "parts.html.j2" as parts %}
{% block main %}<a href="#deep">there</a>
{% call parts.everything("all") %}
{% for one in range(99) %}<p>{{ one }}</p>{% endfor %}
<details><summary>more</summary><p id="deep">found</p></details>{% endcall %}{% endblock %}"""


@pytest.mark.browser
def test_a_link_and_paper_open_what_is_closed_and_the_screen_is_as_it_was(
    chromium: Any, tmp_path: Path
) -> None:
    (tmp_path / "page.html.j2").write_text(PAGE, "utf-8")
    (tmp_path / "page.html").write_text(
        inline.render("page.html.j2", house=tmp_path, headline=""), "utf-8"
    )
    page, address = chromium.new_page(), (tmp_path / "page.html").as_uri()
    text = "document.getElementById('deep').checkVisibility()"
    page.goto(address)
    assert not page.evaluate(text)
    for event, expected in (("beforeprint", True), ("afterprint", False)):
        page.evaluate("name => dispatchEvent(new Event(name))", event)
        assert page.evaluate(text) is expected
    page.locator("a", has_text="there").click()
    assert page.evaluate(text)
    page.goto("about:blank")
    page.goto(f"{address}#deep")
    assert page.evaluate(text)
    assert page.evaluate("scrollY") > 100
    page.close()
