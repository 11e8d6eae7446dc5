"""Warnings about declared columns that files do not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from clinker.formats.common.read_spec import InputFile, ReadSpec


def describe_missing(source: str, names: Sequence[str], who: str = "its files do") -> str:
    """The warning about declared columns that the files of a source do not have."""
    listed = ", ".join(f"'{name}'" for name in names)
    what = "columns" if len(names) > 1 else "column"
    return f"source '{source}' declares {what} {listed}, which {who} not have: null"


def describe_missing_in(
    spec: ReadSpec, files: Sequence[InputFile], names: Sequence[Collection[str]]
) -> Iterator[str]:
    """Warnings about declared columns that are not among the names in each of the files."""
    absent = {
        column.name: [
            file for file, own in zip(files, names, strict=True) if column.name not in own
        ]
        for column in spec.columns
    }
    everywhere = [name for name, missing_in in absent.items() if len(missing_in) == len(files) > 0]
    if everywhere:
        who = "the frame does" if files[0].is_frame else "its files do"
        yield describe_missing(spec.source_name, everywhere, who)
    for name, missing_in in absent.items():
        if missing_in and name not in everywhere:
            where = name_several(missing_in)
            yield f"source '{spec.source_name}' declares column '{name}', missing in {where}: null"


def name_several(files: Sequence[InputFile]) -> str:
    """Files in a message: the first one, and how many more."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return files[0].name + more
