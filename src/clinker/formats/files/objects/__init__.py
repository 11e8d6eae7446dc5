"""Objects read and published.

Stores have neither renames nor locks. What they promise is that an object is there as a whole or
not at all, that everybody sees it from then on, and that one is copied within the store at once.

fetching      objects copied to the spool, all bytes of one version
marks         what a run leaves in a directory of a store while it lives, and whether it lives
claims        which objects a living run is going to write
commit        objects that lie aside get their names; once that has begun, it is completed
recovery      what killed runs have left: completed, or removed
"""
