"""How a memory limit is divided among the processes of a run.

A run is the command itself, Java, and Spark's Python workers: those that read and those that
write, which hold the same libraries together and some buffers each. What they take whatever they do
has been measured; what the limit leaves is Java's heap.
"""

from __future__ import annotations

from clinker.frozen import frozen

_MIB = 2**20
SMALLEST_LIMIT = 256 * _MIB
"""Half of it is the smallest heap that Spark sorts and groups with."""
LEAST_FOR_LITTLE = 384 * _MIB
"""What a run takes that reads next to nothing, and so has no workers."""
LEAST_FOR_MUCH = 480 * _MIB
"""What a run takes that reads more than that, one task at a time."""

_COMMAND = 80 * _MIB
_JAVA_BESIDE_HEAP = 132 * _MIB
_WORKERS_TOGETHER = 50 * _MIB
_WORKERS_OF_TASK = 90 * _MIB
"""One that reads and one that writes, if both are at work at the same time."""
_HEAP_OF_TASK = 96 * _MIB
_HEAP_SHARE = 0.5
_SMALLEST_HEAP = 128 * _MIB
_SAIL_BESIDE_POOL = 320 * _MIB
"""What a run on Sail takes that does not sort, group or join: Python is in the same process."""
_SMALLEST_POOL = 64 * _MIB
AMPLE = 1024 * _MIB
"""A limit from which on memory is better kept for later than given back."""
_GIVEN_BACK = str(_MIB // 4)
_RESERVED_SHARE = 0.5
_LARGEST_RESERVED = 300 * _MIB  # what Spark itself holds back
_BATCH_SHARE = 32
BATCH_SIZES = (16, 32, 64)
"""In MiB."""


@frozen
class MemorySplit:
    """A memory limit divided: the rest is for Python and for what a JVM needs beside its heap."""

    tasks: int
    """How many run beside each other."""
    heap: int
    reserved: int
    """The part of the heap that Spark leaves to objects it does not count."""

    @property
    def of_partition(self) -> int:
        """How many bytes of input are to be sorted or joined at a time."""
        return self.heap // 4 // self.tasks


def split_memory(limit: int, cores: int) -> MemorySplit:
    tasks = tasks_at_once(limit, cores)
    taken = _COMMAND + _JAVA_BESIDE_HEAP + _WORKERS_TOGETHER + tasks * _WORKERS_OF_TASK
    heap = max(_SMALLEST_HEAP, min(int(limit * _HEAP_SHARE), limit - taken))
    return MemorySplit(tasks, heap, min(int(heap * _RESERVED_SHARE), _LARGEST_RESERVED))


def tasks_at_once(limit: int, cores: int) -> int:
    """How many tasks have room beside each other."""
    left = limit - _COMMAND - _JAVA_BESIDE_HEAP - _WORKERS_TOGETHER - _HEAP_OF_TASK // 2
    return max(1, min(cores, left // (_WORKERS_OF_TASK + _HEAP_OF_TASK)))


def sail_pool(limit: int) -> int:
    """How many bytes Sail may sort, group and join with before it spills."""
    return max(_SMALLEST_POOL, limit - _SAIL_BESIDE_POOL)


def batch_size(limit: int) -> int:
    """How many MiB a batch of records may have that Java and Python hand over to each other."""
    fitting = [size for size in BATCH_SIZES if size * _MIB * _BATCH_SHARE <= limit]
    return max(fitting, default=BATCH_SIZES[0])


def allocation_variables(limit: int) -> dict[str, str]:
    """Environment variables that keep processes from holding on to memory they do not use."""
    variables = {
        "MALLOC_ARENA_MAX": "2",  # each thread's own arena would cost megabytes
        # Threads that libraries start when they are imported would not survive in forked workers.
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if limit < AMPLE:
        variables |= {
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "MALLOC_TRIM_THRESHOLD_": _GIVEN_BACK,
            "MALLOC_MMAP_THRESHOLD_": _GIVEN_BACK,
        }
    return variables
