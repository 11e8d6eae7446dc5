"""The text of a page as Zensical understands it.

Fences lose the flags that only tests read, and show the names of files instead. Comments go. Links
are given to whoever knows where they lead on the site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

FENCE = re.compile(r"^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"(?<!!)(?P<text>\[[^\]]+\])\((?P<target>[^)\s]+)\)")

_COMMENT = re.compile(r"^<!--.*?-->\n+", re.MULTILINE | re.DOTALL)
_LINK_OR_CODE = re.compile(f"{LINK.pattern}|{INLINE_CODE.pattern}")
_LANGUAGES = {
    ("text", "session"): "console",
    ("text", "typed"): "sh",
    ("text", "signature"): "python",
    ("yaml", ""): "pipeline",
}
"""What colours a block has, by its language and a flag."""
_NAMES = ("file=", "written=")


def rewritten(text: str, link: Callable[[str], str]) -> str:
    """The page with every target of a link replaced."""
    return "".join(
        _fence(part) if part.startswith("```") else _prose(part, link) for part in _parts(text)
    )


def _parts(text: str) -> Iterator[str]:
    """Prose and fenced blocks, in turns."""
    end = 0
    for found in FENCE.finditer(text):
        yield text[end : found.start()]
        yield found[0]
        end = found.end()
    yield text[end:]


def _fence(block: str) -> str:
    info, _, rest = block.removeprefix("```").partition("\n")
    language, *flags = info.split() or ["text"]
    for flag in ("", *flags):
        language = _LANGUAGES.get((language, flag), language)
    titles = [f' title="{flag.partition("=")[2]}"' for flag in flags if flag.startswith(_NAMES)]
    return f"```{language}{''.join(titles)}\n{rest}"


def _prose(text: str, link: Callable[[str], str]) -> str:
    def on_site(found: re.Match[str]) -> str:
        shown = found["text"] or found[0]
        # In a table, GitHub wants a bar in code escaped, and Zensical shows what stands there.
        shown = INLINE_CODE.sub(lambda code: code[0].replace(r"\|", "|"), shown)
        return f"{shown}({link(found['target'])})" if found["target"] else shown

    return _LINK_OR_CODE.sub(on_site, _COMMENT.sub("", text))
