"""Methods of every value, null included: what it is, whether it is there, what to use instead."""

from __future__ import annotations

from clinker.cxl.builtins.declare import Param, method, same_as_receiver
from clinker.cxl.sql.operand import Sql, SqlCall
from clinker.cxl.types import ANY, BOOL, KIND_NAMES, STRING, Kind, Type, unify
from clinker.cxl.values import Value, kind_name


def _type_of_sql(call: SqlCall) -> Sql:
    value, type_ = call.receiver.text, call.receiver.type
    kinds = type_.kinds & ~Kind.NULL
    name = f"'{KIND_NAMES[kinds]}'" if len(kinds) == 1 else _tagged_kind_sql(value)
    if type_.is_null:
        return Sql("'Null'")
    return Sql(f"if({value} IS NULL, 'Null', {name})" if type_.may_be_null else name)


def _tagged_kind_sql(tagged: str) -> str:
    return (
        f"CASE left({tagged}, 1) WHEN '\"' THEN 'String' WHEN '[' THEN 'Array' WHEN '{{' THEN 'Map'"
        f" WHEN 't' THEN 'Bool' WHEN 'f' THEN 'Bool'"
        f" WHEN '@' THEN if(length({tagged}) = length('@2024-01-15'), 'Date', 'DateTime')"
        f" ELSE if({tagged} RLIKE '[#.IN]', 'Float', 'Int') END"
    )


@method("type_of", ANY, STRING, takes_null=True, sql=_type_of_sql, sql_takes_tagged=True)
def type_of(value: Value) -> str:
    """The name of the value's type; null has the type `Null`.

    >>> 42.type_of()
    "Int"
    >>> 4.2.type_of()
    "Float"
    >>> "hello".type_of()
    "String"
    >>> true.type_of()
    "Bool"
    >>> #2024-03-15#.type_of()
    "Date"
    >>> "2024-03-15T14:30:00".to_datetime().type_of()
    "DateTime"
    >>> [1, 2].type_of()
    "Array"
    >>> {"k": 1}.type_of()
    "Map"
    >>> null.type_of()
    "Null"
    """
    return kind_name(value)


@method("is_null", ANY, BOOL, takes_null=True, sql="({self} IS NULL)", sql_takes_tagged=True)
def is_null(value: Value) -> bool:
    """Whether the value is null. An empty text is not null.

    >>> null.is_null()
    true
    >>> 42.is_null()
    false
    >>> "".is_null()
    false
    """
    return value is None


def _is_empty_sql(call: SqlCall) -> Sql:
    value, type_ = call.receiver.text, call.receiver.type
    kinds = type_.kinds & ~Kind.NULL
    if kinds == Kind.STRING:
        return Sql(f"({value} IS NULL OR {value} = '')")
    if kinds == Kind.ARRAY:
        return Sql(f"({value} IS NULL OR array_size({value}) = 0)")
    if len(kinds) > 1:
        return Sql(f"({value} IS NULL OR {value} IN ('\"', '[]'))")
    return Sql(f"({value} IS NULL)")


@method("is_empty", ANY, BOOL, takes_null=True, sql=_is_empty_sql, sql_takes_tagged=True)
def is_empty(value: Value) -> bool:
    """Whether the value is null, an empty text or an empty array. A map is never empty.

    >>> "".is_empty()
    true
    >>> "hello".is_empty()
    false
    >>> null.is_empty()
    true
    >>> [].is_empty()
    true
    >>> [null].is_empty()
    false
    >>> " ".is_empty()
    false
    >>> 0.is_empty()
    false
    >>> {}.is_empty()
    false
    """
    return value is None or (isinstance(value, str | list) and not value)


def _first_present(receiver: Type, args: tuple[Type, ...]) -> Type:
    fallback = args[0]
    return fallback if receiver.is_null else unify(receiver.without_null(), fallback)


@method("catch", ANY, _first_present, params=[Param("fallback", takes_null=True)], takes_null=True)
def catch(value: Value, fallback: Value) -> Value:
    """The value, or `fallback` if it is null, like `??`. Errors are not caught.

    >>> null.catch("default")
    "default"
    >>> "present".catch("default")
    "present"
    >>> "".catch("default")
    ""
    >>> null.catch(null)
    null
    >>> "n/a".try_int().catch(0)
    0
    """
    return fallback if value is None else value


@method(
    "debug",
    ANY,
    same_as_receiver,
    params=[Param("label", STRING, takes_null=True)],
    takes_null=True,
    sql="{self}",
    sql_takes_tagged=True,
)
def debug(value: Value, _label: str | None) -> Value:
    """The value itself; when tracing is on, it is logged under `label`, null included.

    >>> 42.debug("check value")
    42
    >>> null.debug("check value")
    null
    >>> "ab".debug("before").upper().debug("after")
    "AB"
    """
    return value
