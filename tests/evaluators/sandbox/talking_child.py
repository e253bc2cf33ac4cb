"""A child for test_child: does the one word it is told, and answers with it."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from evaluators.sandbox.confine import die_with_parent
from evaluators.sandbox.frames import MSGPACK, Ended, own_pipes, receive, send


def main() -> None:
    die_with_parent(ctypes.CDLL(None, use_errno=True), int(sys.argv[1]))
    requests, answers = own_pipes()
    with suppress(Ended):
        while True:
            send(answers, done(receive(requests, codec=MSGPACK)), MSGPACK)


def done(word: str) -> str | int:
    match word:
        case "abort":
            print("the last words", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGABRT)
        case "leave":
            sys.exit("nothing to do\nbut to leave")
        case "sleep":
            time.sleep(600)
        case "print":
            print("among the frames", flush=True)
        case "start":  # what would outlive a child that is killed alone
            return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
    return word


if __name__ == "__main__":
    main()
