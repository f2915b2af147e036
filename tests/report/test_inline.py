"""What a page carries in itself."""

import json

from gslopes.report.inline import csp_hash, inline_json


def test_no_text_can_end_the_script_element_and_every_text_comes_back() -> None:
    content = {"</script><script>": ["<!--", "a & b", "ü \u2028", None, 1.5]}
    text = inline_json(content)
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == content


def test_the_hash_is_the_one_of_the_specification() -> None:
    # Content Security Policy Level 3, section 7.2, example of a hash
    assert csp_hash("doSomething()") != csp_hash("doSomething();")
    assert csp_hash("alert('Hello, world.');") == "qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
