# SPDX-License-Identifier: BSD-2-Clause
"""live_pyverbs.py FOLDER [OPTION...]: runs the pyverbs tests of rdma-core in FOLDER/tests and
prints a line per test: its name, 'ok', 'skip: REASON' or 'BAD: REASON'."""
import importlib.util
import os
import sys
import unittest

folder = os.path.abspath(sys.argv[1])
sys.argv[1:] = sys.argv[2:]
sys.path[:0] = [folder, os.path.join(folder, "tests")]
from args_parser import parser  # noqa: E402 (of the suite)


class Lines(unittest.TestResult):
    def line(self, test, text):
        print(test.id().removeprefix("tests."), " ".join(str(text).split()), flush=True)

    def addSuccess(self, test):
        self.line(test, "ok")

    def addSkip(self, test, reason):
        self.line(test, "skip: %s" % reason)

    def addError(self, test, err):
        self.line(test, "BAD: %s" % err[1])

    addFailure = addError


parser.parse_args()
spec = importlib.util.spec_from_file_location(
    "tests", os.path.join(folder, "tests", "__init__.py"),
    submodule_search_locations=[os.path.join(folder, "tests")])
tests = importlib.util.module_from_spec(spec)
sys.modules["tests"] = tests
spec.loader.exec_module(tests)
unittest.defaultTestLoader.loadTestsFromModule(tests).run(Lines())
