"""Copies of the process of the tests; its modules need not be imported again."""

import os
import traceback


def forked(*functions):
    """Call functions, each in a copy of this process, at the same time.

    Returns the exit status of each copy: 0, 1 after an exception, and the negative number of a signal.
    """
    children = []
    for function in functions:
        child = os.fork()
        if child == 0:
            try:
                function()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
