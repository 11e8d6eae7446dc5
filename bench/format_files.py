"""Files of every format with the same orders, as many as make up a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bench.data import orders, write_csv

_LINES_PER_ORDER = 6
_WIDTHS = {
    "id": 9,
    "customer": 16,
    "product": 10,
    "region": 8,
    "status": 8,
    "amount": 12,
    "quantity": 4,
    "day": 10,
}
_ISA = (
    "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       "
    "*260101*1200*U*00401*000000001*0*P*:~"
)

LAYOUT = "".join(
    f"\n          - {{ name: {name}, width: {width}, type: {type_} }}"
    for (name, width), type_ in zip(
        _WIDTHS.items(),
        "integer string string string string float integer date".split(),
        strict=True,
    )
)
"""The fields of the fixed-width file, as a source's layout names them."""


def write_fixed_width(table: pa.Table, path: Path) -> None:
    """Lines of the same length; numbers stand right."""
    cells = []
    for name, width in _WIDTHS.items():
        column = table.column(name)
        pad = pc.utf8_rpad if pa.types.is_string(column.type) else pc.utf8_lpad
        cells.append(pad(column.cast(pa.string()), width, " "))
    lines = pc.binary_join_element_wise(*cells, "\n", "")
    with path.open("wb") as file:
        for chunk in lines.chunks:
            file.write("".join(chunk.to_pylist()).encode())


def write_xml(table: pa.Table, path: Path) -> None:
    """An element per order, its key an attribute."""
    pieces: list[str | pa.ChunkedArray] = [
        '<order id="',
        table.column("id").cast(pa.string()),
        '">',
    ]
    for name in table.column_names[1:]:
        pieces += (f"<{name}>", table.column(name).cast(pa.string()), f"</{name}>")
    records = pc.binary_join_element_wise(*pieces, "</order>\n", "")
    with path.open("wb") as file:
        file.write(b"<orders>\n")
        for chunk in records.chunks:
            file.write("".join(chunk.to_pylist()).encode())
        file.write(b"</orders>\n")


def write_x12(sets: int, path: Path) -> None:
    """Purchase orders of a few lines each, in one group."""
    with path.open("w") as file:
        file.write(f"{_ISA}\nGS*PO*SENDER*RECEIVER*20260101*1200*1*X*004010~\n")
        for number in range(1, sets + 1):
            body = [f"ST*850*{number:09}", f"BEG*00*SA*PO{number}**20260101"]
            body.append(f"N1*BY*Customer {number % 5000}*92*{number % 99991:05}")
            body += [
                f"PO1*{line}*{qty}*EA*{price}**VP*{sku}" for line, qty, price, sku in _lines(number)
            ]
            file.write("~\n".join([*body, f"SE*{len(body) + 1}*{number:09}", ""]))
        file.write(f"GE*{sets}*1~\nIEA*1*000000001~\n")


def write_edifact(messages: int, path: Path) -> None:
    """The same as EDIFACT orders."""
    with path.open("w") as file:
        file.write("UNB+UNOA:1+SENDER+RECEIVER+260101:1200+REF1'\n")
        for number in range(1, messages + 1):
            body = [f"UNH+{number}+ORDERS:D:96A:UN", f"BGM+220+PO{number}+9"]
            body += [
                "DTM+137:20260101:102",
                f"NAD+BY+{number % 99991:05}::92++Customer {number % 5000}",
            ]
            for line, qty, price, sku in _lines(number):
                body += [f"LIN+{line}++{sku}:EN", f"QTY+21:{qty}", f"PRI+AAA:{price}"]
            file.write("'\n".join([*body, f"UNT+{len(body) + 1}+{number}", ""]))
        file.write(f"UNZ+{messages}+REF1'\n")


def _lines(number: int) -> Iterator[tuple[int, int, str, str]]:
    for line in range(1, _LINES_PER_ORDER + 1):
        sku = number * 977 + line * 31
        yield line, sku % 19 + 1, f"{sku % 100_000 / 100:.2f}", f"P-{sku % 50_000}"


def make_formats(folder: Path, megabytes: int) -> dict[str, Path]:
    """The files by format, each of about that size, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    size = megabytes * 10**6
    makers: dict[str, tuple[int, Callable[[int, Path], None]]] = {
        "csv": (66, lambda rows, path: write_csv(orders(rows), path)),
        "fixed_width": (78, lambda rows, path: write_fixed_width(orders(rows), path)),
        "xml": (206, lambda rows, path: write_xml(orders(rows), path)),
        "x12": (280, write_x12),
        "edifact": (382, write_edifact),
    }
    paths: dict[str, Path] = {}
    for name, (record_bytes, make) in makers.items():
        paths[name] = folder / f"orders.{name}"
        if not paths[name].exists():
            print(f"making {paths[name].name}")
            make(size // record_bytes, paths[name])
    return paths
