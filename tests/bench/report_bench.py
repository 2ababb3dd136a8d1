#!/usr/bin/env python3
"""How long a report takes in a browser: until it can be used, and to repaint while a brush moves.

usage: report_bench.py REPORT.html     (one of 10,000 trials with 20 parameters, say)

Wall and processor time of the page's main thread, of 100 scripted moves: the median is what
counts. On a machine with other work processor time is what it would take alone.
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import browser  # noqa: E402

MOVE = """
const ends = arguments[0], done = arguments[1], axis = report.view.visible()[0], wall = [];
let k = 0;
const step = () => {
  if (k === 100) return done(wall);
  const began = performance.now();
  report.brush(axis, [ends[0] + k * ends[1], ends[2] + k * ends[3]]);
  wall.push(performance.now() - began);
  ++k;
  requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""


def main():
    browser.skip_loudly()
    page = browser.Browser()
    try:
        driver = page.driver
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})

        def cpu_s():
            metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
            return next(m["value"] for m in metrics if m["name"] == "TaskDuration")
        before = cpu_s()
        page.open(os.path.abspath(sys.argv[1]))
        wall = page.js("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        print(f"usable after       {wall:8.0f} ms wall, {1000 * (cpu_s() - before):6.0f} ms processor")
        for name, *ends in (("a brush that grows", 80, 1.2, 140, 2.2), ("a narrow one", 80, 2, 110, 2),
                            ("all trials", 40, 0, 500, 0)):
            before = cpu_s()
            times = driver.execute_async_script(MOVE, ends)
            count = page.js("return report.choice.count")
            print(f"{name:18} {statistics.median(times):8.1f} ms wall (median of 100), "
                  f"{10 * (cpu_s() - before):6.1f} ms processor a move; {count} trials at the end")
    finally:
        page.close()


if __name__ == "__main__":
    main()
