#!/usr/bin/env python3
"""The report of a real sweep in a real browser: what is selected is held against the export."""

import json
import os
import re
import shutil
import sys
import tempfile
import unittest

import browser
from scene import Scene
from sweep import wait_until

TRIAL = r"""
case $HYPEROPT_TRIAL in
  3) echo 'boom </script>' >&2; exit 3 ;;
  5) report '{"step": 1, "loss": NaN}'; exit 0 ;;
esac
for step in 1 2 3 4; do report "{\"step\": $step, \"loss\": $(echo "$HYPEROPT_PARAM_X + 1 / $step" | bc -l)}"; done
"""
PARAMETERS = {
    "x": {"space": "uniform", "lower": 0.1, "upper": 1},
    "model.lr": {"space": "loguniform", "lower": 1e-5, "upper": 1e-1},
    "layers": {"space": "int", "lower": 1, "upper": 6},
    "opt": {"space": "choice", "categories": ["sgd", "</script><img src=x onerror=alert(1)>", "1", 1]},
    "norm": {"space": "choice", "categories": [True, False]},
}


class ReportTest(unittest.TestCase):
    build = ""

    @classmethod
    def setUpClass(cls):
        cls.base = os.path.realpath(tempfile.mkdtemp(prefix="hyperopt e2e "))
        cls.scene = Scene(cls.build, cls.base)
        cls.scene.search(TRIAL.replace("| bc -l", "| awk '{print $1 + $3 / $5}'"), parameters=PARAMETERS,
                         num_samples=40, max_concurrent_trials=4, max_initial_failures=100,
                         scheduler={"type": "asha", "max_t": 4, "grace_period": 1, "reduction_factor": 2})
        said = cls.scene.run()
        assert "hyperopt report " in said, said
        cls.path = cls.scene.hyperopt("report", cls.scene.dir).strip()
        cls.trials = cls.scene.trials()
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.scene.close()
        shutil.rmtree(cls.base, ignore_errors=True)

    def setUp(self):
        self.browser.resize(1280)
        self.browser.open(self.path)
        self.assertEqual(self.js("return document.documentElement.dataset.ready"), "yes")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def js(self, text, *words):
        return self.browser.js(text, *words)

    # ---- helpers ----

    def selected(self):
        """Once the brush lies still and the table has followed."""
        return set(self.js("return Array.from(report.choice.selected).flatMap((x, i) => x ? [i] : [])"))

    def box(self, name):
        """The axis' place in the window: its x, and y by share of the axis (1 is the top)."""
        return self.js("""
            const axis = report.view.axes.find((a) => a.column.title === arguments[0]);
            report.view.root.scrollIntoView({block: 'center'});
            const box = report.view.root.getBoundingClientRect();
            return {x: box.left + axis.x, top: box.top + 74, height: 330, bottom: box.bottom};""", name)

    def brush(self, name, low, high):
        box = self.box(name)
        at = lambda share: box["top"] + (1 - share) * box["height"]  # noqa: E731
        ends = [at(low), at(high)]
        self.browser.drag([(box["x"], ends[0]), (box["x"], sum(ends) / 2), (box["x"], ends[1])])

    def brushed_values(self, name):
        return self.js("""const axis = report.view.axes.find((a) => a.column.title === arguments[0]);
                          return report.brushed(axis);""", name)

    def table_trials(self):
        return self.js("return [...document.querySelectorAll('#table tbody tr')].map((r) => Number(r.dataset.trial))")

    def settled(self):
        """Waits until the table shows the selection."""
        wait_until(lambda: self.js("""
            const rows = document.querySelectorAll('#table tbody tr').length;
            return report.table.list && report.table.list.length === report.choice.count &&
              rows === Math.min(25, report.choice.count)"""), "the table")

    # ---- tests ----

    def test_data_is_that_of_the_export(self):
        with open(self.path, encoding="utf-8") as file:
            data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>',
                                        file.read(), re.S).group(1))
        self.assertEqual(len(self.trials), 40)
        states = [data["states"][k] for k in data["trials"]["state"]]
        self.assertEqual(states, [trial["state"] for trial in self.trials])
        for p, param in enumerate(data["params"]):
            for i, trial in enumerate(self.trials):
                value = data["values"][p][i]
                if param["kind"] == "list":
                    value = param["values"][value]
                    self.assertEqual((type(value), value),
                                     (type(trial["params"][param["name"]]), trial["params"][param["name"]]))
                else:
                    self.assertAlmostEqual(value, trial["params"][param["name"]], delta=1e-8 * abs(value))

    def test_no_trial_vanishes(self):
        self.assertEqual(self.selected(), set(range(40)))
        self.assertEqual(self.js("return document.getElementById('count').textContent"), "all 40 trials")
        rows = self.js("""return report.view.visible().map((axis) =>
            Array.from(axis.rows).filter((y) => y >= 74 && y <= report.view.height).length)""")
        self.assertEqual(set(rows), {40})
        lanes = self.js("return report.view.lanes.map((lane) => document.querySelectorAll('text.lane').length && lane)")
        self.assertEqual(lanes, [2, 3])  # not finite, failed

    def test_answers_in_words(self):
        best = min((t for t in self.trials if t["state"] != "failed" and isinstance(t["best"], float)),
                   key=lambda t: t["best"])
        answer = self.js("return document.getElementById('answer').textContent")
        self.assertIn(f"(trial {best['id']}, step ", answer)
        self.assertIn("1 failed", answer)
        settings = self.js("return document.getElementById('best-settings').textContent")
        self.assertIn(f"layers: {best['params']['layers']}", settings)

    def test_brushes_on_two_axes(self):
        self.brush("model.lr", 0.25, 0.75)
        self.brush("x", 0.02, 0.6)
        self.settled()
        low, high = self.brushed_values("model.lr")
        x_low, x_high = self.brushed_values("x")
        self.assertTrue(1e-5 < low < 1e-3 < high < 1e-1, (low, high))
        expected = {t["id"] for t in self.trials
                    if low <= t["params"]["model.lr"] <= high and x_low <= t["params"]["x"] <= x_high}
        self.assertTrue(0 < len(expected) < 40, expected)
        self.assertEqual(self.selected(), expected)
        self.assertEqual(set(self.table_trials()), set(sorted(expected, key=self.rank)[:25]))
        self.assertIn(f"{len(expected)} of 40", self.js("return document.getElementById('count').textContent"))
        self.js("document.getElementById('reset').click()")
        self.settled()
        self.assertEqual(self.selected(), set(range(40)))

    def rank(self, trial):
        value = self.trials[trial]["best"]
        bad = self.trials[trial]["state"] == "failed" or not isinstance(value, float)
        return (bad, 0 if bad else value, trial)

    def test_brush_takes_whole_categories_and_lanes(self):
        self.brush("norm", 0.05, 0.45)  # the lower band: the first category
        self.settled()
        self.assertEqual(self.selected(), {t["id"] for t in self.trials if t["params"]["norm"] is True})
        self.js("document.getElementById('reset').click()")
        box = self.box("loss")
        self.browser.drag([(box["x"], box["bottom"] - 15), (box["x"], box["bottom"] - 30), (box["x"], box["bottom"] - 50)])
        self.settled()
        bad = {t["id"] for t in self.trials if t["state"] == "failed" or t["best"] == "NaN"}
        self.assertEqual(self.selected(), bad)
        self.assertEqual(len(bad), 2)

    def test_settings_of_an_axis_filter_by_value(self):
        self.js("""const name = [...document.querySelectorAll('text.name')].find((t) => t.textContent.startsWith('layers'));
                   name.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
                   const form = document.querySelector('#axis-panel form');
                   form.elements.from.value = '2'; form.elements.to.value = '4'; form.requestSubmit();""")
        self.settled()
        self.assertEqual(self.selected(), {t["id"] for t in self.trials if 2 <= t["params"]["layers"] <= 4})

    def test_axes_move_flip_and_hide(self):
        order = "return report.view.visible().map((axis) => axis.column.title)"
        before = self.js(order)
        self.assertEqual(before, ["x", "model.lr", "layers", "opt", "norm", "highest rung", "loss"])
        first, third = self.box("x"), self.box("layers")
        y = first["top"] - 18
        self.browser.drag([(first["x"], y), (first["x"] + 60, y), (third["x"] + 20, y)])
        self.assertEqual(self.js(order)[:3], ["model.lr", "layers", "x"])
        press = """const name = [...document.querySelectorAll('text.name')].find((t) => t.textContent.startsWith(arguments[0]));
                   name.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[1], bubbles: true}));"""
        self.js(press, "x", "ArrowLeft")
        self.assertEqual(self.js(order)[:3], ["model.lr", "x", "layers"])
        self.js(press, "layers", "Delete")
        self.assertNotIn("layers", self.js(order))
        places = "const a = report.view.axes.find((a) => a.column.title === 'x'); return [a.flip, Array.from(a.rows)]"
        flip, rows = self.js(places)
        self.js(press, "x", "f")
        flipped, turned = self.js(places)
        self.assertEqual((flip, flipped), (False, True))
        self.assertTrue(all(abs(a + b - 2 * 74 - 330) <= 1 for a, b in zip(rows, turned)), list(zip(rows, turned))[:5])
        self.assertEqual(self.selected(), set(range(40)))

    def test_filters_by_state_and_rank(self):
        self.js("document.querySelector('input[name=state-pruned]').click()")
        self.settled()
        pruned = {t["id"] for t in self.trials if t["reason"] == "pruned"}
        self.assertTrue(pruned)
        self.assertEqual(self.selected(), set(range(40)) - pruned)
        self.js("document.getElementById('reset').click()")
        self.js("const s = document.getElementById('top'); s.value = 50; s.dispatchEvent(new Event('input'))")
        self.settled()
        valued = sorted((i for i in range(40) if not self.rank(i)[0]), key=self.rank)
        self.assertEqual(self.selected(), set(valued[:-(-len(valued) // 10)]))

    def test_table_sorts(self):
        click = "document.querySelector(`button[data-key='${arguments[0]}']`).click()"
        self.js(click, "param x")
        by_x = sorted(range(40), key=lambda i: self.trials[i]["params"]["x"])
        self.assertEqual(self.table_trials(), by_x[:25])
        self.js(click, "param x")
        self.assertEqual(self.table_trials(), by_x[::-1][:25])
        self.js(click, "rank")
        self.assertEqual(self.table_trials(), sorted(range(40), key=self.rank)[:25])

    def test_pinned_trials_stand_side_by_side(self):
        self.js("[...document.querySelectorAll('#table tbody tr')].slice(0, 2).forEach((row) => row.click())")
        self.assertEqual(len(self.js("return report.choice.pinned")), 2)
        self.assertEqual(self.js("return document.querySelectorAll('#pins thead th').length"), 2)
        self.assertEqual(self.js("return document.querySelectorAll('path.pinned').length"), 2)

    def test_hovering_finds_the_nearest_line(self):
        box = self.box("x")
        best = min(range(40), key=self.rank)
        y = self.js("""const axis = report.view.axes[0]; const box = report.view.root.getBoundingClientRect();
                       return box.top + axis.rows[arguments[0]]""", best)
        self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": box["x"] + 1, "y": y})
        wait_until(lambda: self.js("return report.choice.hovered") is not None, "a trial under the pointer")
        self.assertIn("trial ", self.js("return document.getElementById('tip').textContent"))

    def test_every_view_is_drawn_at_both_widths(self):
        for width in (1280, 400):
            self.browser.resize(width)
            self.browser.open(self.path)
            for view in ("history", "importance", "curves", "slices", "failures", "timeline", "cost"):
                with self.subTest(view, width=width):
                    self.js("document.getElementById(arguments[0]).scrollIntoView()", view)
                    wait_until(lambda v=view: self.js("return document.getElementById(arguments[0]).childElementCount", v),
                               view)
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)

    def test_dark(self):
        light = self.js("return getComputedStyle(document.body).backgroundColor")
        self.js("document.getElementById('theme').click()")
        self.assertNotEqual(self.js("return getComputedStyle(document.body).backgroundColor"), light)

    def test_nothing_is_loaded_and_no_parameter_is_a_program(self):
        self.browser.drain()
        page = "file://" + self.path.replace(" ", "%20")
        asked = {url for url in self.browser.requests if not url.startswith(("data:", "chrome"))}
        self.assertEqual(asked, {page})
        self.assertEqual(self.js("return document.images.length"), 0)
        refused = self.browser.driver.execute_async_script(
            "const done = arguments[0]; fetch('http://127.0.0.1:9/').then(() => done('went out'), () => done('refused'));")
        self.assertEqual(refused, "refused")
        told = self.browser.complaints()
        self.assertTrue(any("Content Security Policy" in text for text in told), told)


if __name__ == "__main__":
    ReportTest.build = os.path.abspath(sys.argv.pop(1))
    browser.skip_loudly()
    unittest.main()
