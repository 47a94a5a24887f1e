#!/usr/bin/env python3
"""A user-defined function in Python: how unusual a value is, measured by all values of its group before its batch.

    [udf.functions.zscore]
    prog = "python3"
    args = ["/etc/tidemark/udf/z_score.py"]
    timeout = "10s"

    stream|from().groupBy('host')|window().period(1m).every(1m)@zscore().field('value').as('z')|httpOut('z')

As a service of its own: `python3 z_score.py --socket /run/zscore.sock`, and `socket = "/run/zscore.sock"`.
"""

import json
import math

from protocol import Agent, serve


class ZScore(Agent):
    wants = "batch"
    provides = "batch"
    options = {"field": ["string"], "as": ["string"]}

    def __init__(self):
        self.field = ""
        self.target = "z"
        # Count, mean and sum of squared distances per group (Welford's method).
        self.groups = {}
        self.seen = []

    def init(self, options):
        self.field = options.get("field", [""])[0]
        self.target = options.get("as", ["z"])[0]
        if self.field == "":
            raise ValueError("must specify field")

    def begin(self, batch):
        self.seen = []

    def point(self, point):
        value = point["fields"].get(self.field)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return
        count, mean, squares = self.groups.get(point["group"], (0, 0.0, 0.0))
        deviation = math.sqrt(squares / (count - 1)) if count > 1 else 0.0
        point["fields"][self.target] = (value - mean) / deviation if deviation > 0 else 0.0
        self.seen.append(float(value))
        yield point

    def end(self, batch):
        count, mean, squares = self.groups.get(batch["group"], (0, 0.0, 0.0))
        for value in self.seen:
            count += 1
            distance = value - mean
            mean += distance / count
            squares += distance * (value - mean)
        self.groups[batch["group"]] = (count, mean, squares)
        return iter(())

    def snapshot(self):
        return json.dumps(self.groups).encode()

    def restore(self, state):
        self.groups = {group: tuple(values) for group, values in json.loads(state).items()}


if __name__ == "__main__":
    serve(ZScore)
