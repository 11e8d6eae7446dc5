"""Staging: source files copied to a local disk before a run reads them.

The life of a staged copy, whose files are called after the canonical path of its source:

1. A run that starts removes what killed runs have left (`purging`): partial files, copies without
   a manifest and manifests without a copy, locks of nothing. A lock that can be had alone tells
   that nobody alive owns what it protects (`locks`).
2. It shares the lock of each source, one after the other in an order that is the same for all runs.
   If there is a copy that may be used, it is held from then on (`staging`).
3. If there is none, it takes the lock alone. The source is read once, hashed and written to
   `<id>.<run>.partial`, which is brought to the disk and renamed to `<id>.staged`; the source is
   read once more, and must have the same hash. Then `<id>.manifest.json` appears, which makes the
   copy one that others trust (`copying`). A run killed before has left something for step 1.
4. It shares the lock again. In between, others may have had it, so it looks again: step 2.
5. Readers read the copy. As long as one run shares the lock, nobody replaces or removes it.
6. When the run has ended, it gives the lock up. If the copy is not to be used again, whoever can
   have the lock alone by then, which is the last of those who shared it, removes the manifest, the
   copy and the lock. So a lock may be removed while others wait for it: they look, and make anew.
"""

from clinker.formats.files.staging.copying import CopyDiffers
from clinker.formats.files.staging.staging import (
    CapExceeded,
    CopyExists,
    Rules,
    Staging,
    Watcher,
)

__all__ = ["CapExceeded", "CopyDiffers", "CopyExists", "Rules", "Staging", "Watcher"]
