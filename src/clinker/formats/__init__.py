"""File formats: bytes to Arrow record batches and back. Knows Arrow and files, nothing of plans.

    <name>/     a format: `format.py` exports its `FORMAT`, other modules do the work
    common/     what formats share: specifications, coercion, rejects, texts of values
    files/      where files come from and how they appear; nothing there knows a format
    registry    which formats there are
    reading     the files of a source: their inventory, and the records of each split
    renderer    what writes the records of an output

How to write a format:

1. `config/formats/<name>.py` exports its options and what else configuration must know of it, and
   its name goes into the list in `config/formats/__init__.py`.
2. `<name>/dialect.py` has two frozen classes, how files are read and how they are written, and how
   they are made of the configuration of a source and of an output.
3. `take_inventory` looks through the files, tells the schema of all batches and cuts large files
   between records; `read_split` gives the batches of such a part. `common.coercion` converts values
   to the types of their columns, `common.rejecting` puts rejected records among the others.
4. A renderer makes bytes of batches. Parts, splitting and publication come by themselves.
5. `<name>/format.py` puts it together as `FORMAT`, a `Format`. Nothing else has to change.
"""

from clinker.formats.registry import FORMATS, format_named, register

__all__ = ["FORMATS", "format_named", "register"]
