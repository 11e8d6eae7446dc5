"""Methods that take file paths apart. Paths are text with `/` between the names."""

from __future__ import annotations

from clinker.cxl.builtins.declare import method
from clinker.cxl.sql.operand import Sql, SqlCall
from clinker.cxl.types import STRING

# What names nothing at the end of a path. It is looked for only where such a part begins, and
# possessively: one pass without recursion, however many slashes there are.
_NAMELESS_END = r"(?<!/|/\.)(?:/\.?)++\z"


def _trimmed(path: str) -> str:
    """The path without `/` and `/.` at its end, which name nothing; the root becomes empty."""
    trimmed = path.rstrip("/")
    while trimmed.endswith("/."):
        trimmed = trimmed[:-1].rstrip("/")
    return trimmed


def _stem_and_extension(name: str) -> tuple[str, str | None]:
    stem, dot, extension = name.rpartition(".")
    # A dot at the start makes a hidden file, not an extension.
    return (stem, extension) if dot and stem else (name, None)


def _trimmed_sql(path: str) -> str:
    trimmed = f"regexp_replace({path}, r'{_NAMELESS_END}', '')"
    return f"if(endswith({path}, '/') OR endswith({path}, '/.'), {trimmed}, {path})"


def _last_name_sql(call: SqlCall, trimmed: str) -> str:
    name = call.bind(f"substring_index({trimmed}, '/', -1)")
    return f"if({name} IN ('', '.', '..'), NULL, {name})"


def _parent_sql_text(call: SqlCall) -> str:
    trimmed = call.bind(_trimmed_sql(call.receiver.text))
    name = f"substring_index({trimmed}, '/', -1)"
    directory = call.bind(f"left({trimmed}, length({trimmed}) - length({name}) - 1)")
    above = call.bind(_trimmed_sql(directory))
    return (
        f"CASE WHEN {trimmed} = '' THEN NULL WHEN NOT contains({trimmed}, '/') THEN ''"
        f" WHEN {above} = '' THEN '/' ELSE {above} END"
    )


def _file_name_sql(call: SqlCall) -> Sql:
    return Sql(_last_name_sql(call, call.bind(_trimmed_sql(call.receiver.text))))


def _parent_sql(call: SqlCall) -> Sql:
    return Sql(_parent_sql_text(call))


def _parent_name_sql(call: SqlCall) -> Sql:
    return Sql(_last_name_sql(call, call.bind(_parent_sql_text(call))))


def _file_stem_sql(call: SqlCall) -> Sql:
    name, _, length = _stem_and_extension_sql(call)
    return Sql(f"if({length} > 0, left({name}, {length}), {name})")


def _extension_sql(call: SqlCall) -> Sql:
    _, extension, length = _stem_and_extension_sql(call)
    return Sql(f"if({length} > 0, {extension}, NULL)")


def _stem_and_extension_sql(call: SqlCall) -> tuple[str, str, str]:
    """The last name, what follows its last dot, and the length of what precedes that dot."""
    name = call.bind(_file_name_sql(call).text)
    extension = f"substring_index({name}, '.', -1)"
    return name, extension, f"length({name}) - length({extension}) - 1"


@method("file_name", STRING, STRING.nullable(), sql=_file_name_sql)
def file_name(path: str) -> str | None:
    """The last name of a path, with its extension. Null where there is none.

    >>> "/data/reports/sales.csv".file_name()
    "sales.csv"
    >>> "sales.csv".file_name()
    "sales.csv"
    >>> "data/reports/".file_name()
    "reports"
    >>> "/".file_name()
    null
    >>> "data/..".file_name()
    null
    >>> "".file_name()
    null
    """
    name = _trimmed(path).rpartition("/")[2]
    return None if name in ("", ".", "..") else name


@method("file_stem", STRING, STRING.nullable(), sql=_file_stem_sql)
def file_stem(path: str) -> str | None:
    """The last name of a path, without its last extension.

    >>> "/data/reports/sales.csv".file_stem()
    "sales"
    >>> "backup.tar.gz".file_stem()
    "backup.tar"
    >>> "/home/ann/.bashrc".file_stem()
    ".bashrc"
    >>> "/data/reports/README".file_stem()
    "README"
    >>> "/".file_stem()
    null
    """
    name = file_name(path)
    return None if name is None else _stem_and_extension(name)[0]


@method("extension", STRING, STRING.nullable(), sql=_extension_sql)
def extension(path: str) -> str | None:
    """What follows the last dot of the last name; null when the name has no extension.

    >>> "/data/reports/sales.csv".extension()
    "csv"
    >>> "/data/reports/README".extension()
    null
    >>> "backup.tar.gz".extension()
    "gz"
    >>> "/home/ann/.bashrc".extension()
    null
    >>> "/data.d/README".extension()
    null
    >>> "draft.".extension()
    ""
    """
    name = file_name(path)
    return None if name is None else _stem_and_extension(name)[1]


@method("parent", STRING, STRING.nullable(), sql=_parent_sql)
def parent(path: str) -> str | None:
    """The directory a path lies in: empty for a lone name, null for the root.

    >>> "/data/reports/sales.csv".parent()
    "/data/reports"
    >>> "data/reports/".parent()
    "data"
    >>> "/data".parent()
    "/"
    >>> "sales.csv".parent()
    ""
    >>> "/".parent()
    null
    >>> "".parent()
    null
    """
    trimmed = _trimmed(path)
    if not trimmed:
        return None
    directory, slash, _ = trimmed.rpartition("/")
    return _trimmed(directory) or slash


@method("parent_name", STRING, STRING.nullable(), sql=_parent_name_sql)
def parent_name(path: str) -> str | None:
    """The name of the directory a path lies in, without what leads to it.

    >>> "/data/reports/sales.csv".parent_name()
    "reports"
    >>> "reports/sales.csv".parent_name()
    "reports"
    >>> "/sales.csv".parent_name()
    null
    >>> "sales.csv".parent_name()
    null
    """
    directory = parent(path)
    return None if directory is None else file_name(directory)
