"""The life of a rejected record.

1. A node finds that a record fails and marks it (`mark`): the number of the site, what the site had
   read as one text (`payload`), and of a group its fields. A reader marks the records of its files.
2. Marked records travel with the others, passed by in every node, and leave the engine with an
   output as one text each (`reject_texts`).
3. The interpreter finds the reason again from what the site had read (`sites`, `explaining`,
   `aggregate_reasons`, `window_reasons`, `state_reasons`, `matches`): it and the engine agree, or
   the run stops.
4. Reasons and places become entries in the order of sources, files and rows (`entries`, `places`).
5. Limits are judged when all is known (`limits`); a demand for more care makes the run begin anew.
6. What the records were is looked up in their files (`origins`), and entries are written (`file`).
   Those that were rejected alike are brought together for reports (`alike`).

Where records fall together, the run is settled between 2 and 3 (`engine/settling`): all is computed
again without what has fallen, until nothing more fails.
"""
