"""Groups of records that fall together, settled.

1. Records carry the keys of their group from the source on (`keys`; the hidden columns `$ck.*`).
2. A run begins as if nothing failed. If nothing does, it is over.
3. Else what failed is judged (`rounds`): records and groups that fall are taken out (`fallen`), and
   what they reach is computed again without them (`taking`), until nothing more fails. What fails
   behind an aggregate counts only when all that fails before it is settled.
4. Every record that fell has one entry; those of a group stand together (`rounds`).
"""
