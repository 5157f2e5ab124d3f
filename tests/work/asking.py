"""A command that asks many small questions, for tests that kill it:

    python asking.py STORE LOG COUNT JOBS [LARGEST FILE]

Each question writes a line to LOG when it is asked. Prints what was answered, as JSON; trouble is one sentence and exit
code 2, as everywhere.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter

from questions import task

from isoform.model.errors import UserError
from isoform.work.local import LocalWorkers
from isoform.work.queue import Queue, Rules
from isoform.work.store import Store
from isoform.work.task import TaskEnd

RULES = Rules(is_kept=lambda answer: answer.ending is TaskEnd.DONE)


def main(where: str, log: str, count: int, jobs: int) -> int:
    try:
        with Store(where, {"command": "asking"}) as store, Queue(LocalWorkers(jobs), store, RULES) as queue:
            queue.add_all(task("noted", (log, number)) for number in range(count))
            answers = list(queue.answers())
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    results = {answer.task.payload[1]: answer.result for answer in answers}
    endings = Counter(answer.ending.value for answer in answers)
    origins = Counter(answer.origin.value for answer in answers)
    print(json.dumps({"results": results, "endings": endings, "origins": origins, "answers": len(answers)}))
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 5:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[5]), int(sys.argv[5])))
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
