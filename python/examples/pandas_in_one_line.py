"""What each tool of a session took: python pandas_in_one_line.py LOG"""

import sys

import foldline

calls = foldline.read(sys.argv[1]).table("calls").to_pandas()

print(calls.groupby("tool")["duration_ms"].agg(["count", "median", "max"]).sort_values("count", ascending=False))
