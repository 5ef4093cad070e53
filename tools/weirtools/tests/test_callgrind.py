"""Tests of weirtools/bench/callgrind.py. Run by `swift test`."""

import unittest

from weirtools.bench import callgrind

PROFILE = """\
# callgrind format
version: 1
events: Ir

ob=(1) /usr/bin/weir
fl=(1) ???
fn=(1) serve
0 100
cob=(2) /lib/libc.so.6
cfi=(1)
cfn=(2) malloc
calls=3 0
0 75
cob=(3) /lib/libcrypto.so.3
cfn=(3) sha256
calls=1 0
* 5000

ob=(2)
fn=(2)
0 60
cfn=(4) _int_malloc
calls=3 0
0 15

fn=(4)
0 10
cfn=(4)
calls=1 0
0 5

fn=(5) calloc'2
+0 5

fn=(6) strdup
cfn=(5)
calls=2 0
0 4

ob=(3)
fn=(3)
-0 5000
totals: 5175
"""


class CostTests(unittest.TestCase):
    def test_a_profile_is_read(self):
        cost = callgrind.read(PROFILE.splitlines(keepends=True))
        self.assertEqual(cost, callgrind.Cost(instructions=175, hashing=5000, allocations=5))

    def test_three_in_four_batches_may_have_other_work_in_them(self):
        costs = [callgrind.Cost(value, 1, 1) for value in (100, 101, 900, 102, 800, 700, 950, 850)]
        self.assertEqual(callgrind.low(costs).instructions, 101)

    def test_costs_are_added_and_shared(self):
        cost = callgrind.Cost(6, 4, 2) - callgrind.Cost(2, 2, 2) + callgrind.Cost(0, 0, 2)
        self.assertEqual(cost.per(2), callgrind.Cost(2, 1, 1))


if __name__ == "__main__":
    unittest.main()
