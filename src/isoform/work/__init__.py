"""Many questions: a queue, limited processes that answer, a store that remembers, and a cluster.

`grade`, `mine` and `diff` ask their questions through this folder, and it knows none of them. A question is a `Task`
(`task.py`). Workers (`local.py`, `cluster.py`) answer tasks, each in a process with limits of its own (`limited.py`).
`Queue` (`queue.py`) gives tasks to workers in their order, and keeps what comes back in a `Store` (`store.py`).
"""
