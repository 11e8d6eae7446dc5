"""What runs survive: processes killed at every moment, inputs that change, disks that are full.

`dying` kills a process at the n-th thing it does to files; `commits` does that to commits and to
recoveries of them, `staging` to runs that stage the same source, `runs` kills whole runs and what
belongs to them. `python -m faults` plays rounds of all of them and writes what came of it into
docs/reliability.md.
"""
