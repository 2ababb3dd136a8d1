#!/usr/bin/env python3
"""Every view of the report with every kind of sweep, in a real browser.

  views_test.py BUILD_DIR [unittest's words]

With PICTURES=FOLDER in the environment it leaves a picture of each page there, at 1280 and 400 pixels,
light and dark: to be looked at.
"""

import base64
import functools
import json
import math
import os
import re
import shutil
import statistics
import sys
import tempfile
import unittest

import browser
from scene import Scene
from sweep import wait_until
from told_sweeps import CASES, Teller

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VIEWS = ("history", "importance", "curves", "failures", "slices", "contour", "pareto", "folds", "timeline", "cost")


class ViewsTest(unittest.TestCase):
    build = ""

    @classmethod
    def setUpClass(cls):
        cls.base = os.path.realpath(tempfile.mkdtemp(prefix="hyperopt e2e "))
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.base, ignore_errors=True)

    def js(self, text, *words):
        return self.browser.js(text, *words)

    @classmethod
    @functools.cache
    def report(cls, name):
        """The report of a case: its file, its data, and the scene for other commands."""
        folder = os.path.join(cls.base, name)
        os.mkdir(folder)
        scene = Scene(cls.build, folder)
        scene.dir = Teller(scene, name).dir
        return cls.written(scene)

    @staticmethod
    def written(scene):
        path = scene.hyperopt("report", scene.dir).strip()
        with open(path, encoding="utf-8") as file:
            data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>',
                                        file.read(), re.S).group(1))
        return path, data, scene

    def open(self, path, width=1280):
        self.browser.resize(width)
        self.browser.open(path)
        self.assertEqual(self.js("return document.documentElement.dataset.ready"), "yes")

    # ---- the matrix ----

    def test_every_view_with_every_sweep(self):
        for name in CASES:
            for width in (1280, 400):
                with self.subTest(name, width=width):
                    path, _, _ = self.report(name)
                    self.look_at(path, width)
                    self.take_pictures(name, width)

    def look_at(self, path, width):
        self.open(path, width)
        self.browser.requests.clear()
        self.js("report.lazy.all()")
        for view in VIEWS:
            with self.subTest(view=view):
                self.sound(view)
        self.assertEqual(self.broken_words(), [])
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.complaints(), [])
        self.browser.drain()
        asked = {url for url in self.browser.requests if not url.startswith(("data:", "chrome", "file:"))}
        self.assertEqual(asked, set())

    def sound(self, view):
        """Words why there is nothing, or something drawn where it can be seen."""
        text, drawn, bad, shown = self.js("""
            const root = document.getElementById(arguments[0]);
            const bad = [...root.querySelectorAll('svg *')].flatMap((e) => [...e.attributes])
                .filter((a) => /NaN|Infinity|undefined|null/.test(a.value)).map((a) => a.name + '=' + a.value);
            const inked = [...root.querySelectorAll('canvas')].some((c) =>
                c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((x) => x));
            return [root.textContent.trim(), inked || root.querySelectorAll('path, rect, circle, li, td').length > 0,
                    bad, root.offsetParent !== null];""", view)
        if not shown:
            self.assertIn(view, ("pareto", "folds"))
            return
        self.assertEqual(bad, [])
        self.assertTrue(text)
        empty = self.js("return document.getElementById(arguments[0]).querySelector('.empty') !== null", view)
        self.assertTrue(empty or drawn)

    def broken_words(self):
        text = self.js("return document.body.innerText")
        return re.findall(r"\bundefined\b|\[object|\bnull\b", text)

    def take_pictures(self, name, width):
        folder = os.environ.get("PICTURES")
        if not folder:
            return
        os.makedirs(folder, exist_ok=True)
        for theme in ("light", "dark"):
            self.js("""document.documentElement.dataset.theme = arguments[0] === 'dark' ? 'light' : 'dark';
                       document.getElementById('theme').click(); report.lazy.all();""", theme)
            size = self.js("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            shot = self.browser.driver.execute_cdp_cmd("Page.captureScreenshot", {
                "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}})
            with open(os.path.join(folder, f"{name} {width} {theme}.png"), "wb") as file:
                file.write(base64.b64decode(shot["data"]))

    def test_ten_thousand_trials_stay_small(self):
        path, data, _ = self.report("10,000")
        self.assertLess(os.path.getsize(path), 5e6)
        self.assertEqual(len(data["landscape"]["maps"]), 15)
        self.assertEqual(data["landscape"]["of"], 10000)

    # ---- what is drawn is what is there ----

    def test_the_map_of_two_parameters(self):
        path, data, _ = self.report("mixed")
        self.open(path)
        self.js("document.getElementById('contour').scrollIntoView()")
        wait_until(lambda: self.js("return document.querySelectorAll('#contour-section select').length") == 2, "the map")
        landscape = data["landscape"]
        shares = data["importance"]["shares"]
        order = sorted(range(len(shares)), key=lambda p: -shares[p])
        names = [data["params"][p]["name"] for p in order]
        chosen = self.js("return [...document.querySelectorAll('#contour-section select')].map((s) => s.value)")
        self.assertEqual(chosen, ["param " + names[0], "param " + names[1]])
        note = self.js("return document.getElementById('contour-note').textContent")
        self.assertIn(f"trial {landscape['maps'][0]['base']}, the best", note)
        self.assertIn(f"knows the {landscape['of']} ended trials", note)
        for x, y in (("model.lr", "x"), ("opt", "x"), ("x", "opt"), ("opt", "norm"), ("momentum", "layers")):
            with self.subTest(x=x, y=y):
                self.choose("contour-x", "param " + x)
                self.choose("contour-y", "param " + y)
                chosen = self.js("return [...document.querySelectorAll('#contour-section select')].map((s) => s.value)")
                self.assertEqual(chosen, ["param " + x, "param " + y])
                self.sound("contour")
        # The model saw the bowl: at the best of x it expects less than at its ends.
        lowest = next(s for s in landscape["slices"] if data["params"][s["param"]]["name"] == "x")
        at = min(range(len(lowest["at"])), key=lambda k: lowest["middle"][k])
        self.assertAlmostEqual(lowest["at"][at], 0.5, delta=0.5)
        for low, middle, high in zip(lowest["low"], lowest["middle"], lowest["high"]):
            self.assertTrue(low <= middle <= high)

    def choose(self, name, value):
        self.js("""const select = document.querySelector(`select[name="${arguments[0]}"]`);
                   select.value = arguments[1]; select.dispatchEvent(new Event('change'));""", name, value)

    def test_a_point_of_a_map_is_a_trial(self):
        path, data, _ = self.report("objectives")
        self.open(path)
        self.js("report.lazy.all()")
        for view in ("pareto", "contour"):
            with self.subTest(view):
                trial = data["objectives"]["front"][0]
                self.js("report.choice.unpin(); report.choice.togglePin(arguments[0])", trial)
                self.js("document.getElementById(arguments[0]).scrollIntoView({block: 'center'})", view)
                # Without pins the page is shorter: the place is asked for afterwards.
                x, y = self.js("""
                    const ring = document.querySelector(`#${arguments[0]} .rings circle`);
                    const at = [Number(ring.getAttribute('cx')), Number(ring.getAttribute('cy'))];
                    report.choice.unpin();
                    const root = document.getElementById(arguments[0]);
                    root.scrollIntoView({block: 'center'});
                    const box = root.getBoundingClientRect();
                    return [box.left + at[0], box.top + at[1]]""", view)
                self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
                wait_until(lambda t=trial: self.js("return report.choice.hovered") == t, "the trial under the pointer")
                self.assertIn(f"trial {trial}", self.js("return document.getElementById('tip').textContent"))
                self.browser.drag([(x, y)])
                wait_until(lambda t=trial: self.js("return report.choice.pinned") == [t], "the pin")
        self.assertEqual(self.browser.complaints(), [])

    def test_the_front_is_that_of_best(self):
        for name in ("objectives", "three objectives"):
            with self.subTest(name):
                path, data, scene = self.report(name)
                best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
                front = {each["trial"] for each in best["front"]}
                self.assertEqual(set(data["objectives"]["front"]), front)
                if name == "objectives":
                    said = scene.hyperopt("report", scene.dir, "--format", "svg").splitlines()
                    with open(said[-1], encoding="utf-8") as file:
                        picture = file.read()
                    self.assertTrue(said[-1].endswith("report-pareto.svg"), said)
                    self.assertIn(f"{len(front)} of 80 trials on the front", picture)
                    self.assertEqual(picture.count('r="4.5"'), len(front))
                self.open(path)
                self.front_in_words(data, front)
                self.js("document.querySelector(`button[data-key='front']`).click()")
                marked = self.js("""return [...document.querySelectorAll('#table tbody tr')]
                    .filter((row) => row.textContent.includes('★')).map((row) => Number(row.dataset.trial))""")
                self.assertEqual(set(marked), set(sorted(front)[:25]))
                self.js("report.lazy.all()")
                note = self.js("return document.getElementById('pareto-note').textContent")
                self.assertIn(f"{len(front)} ", note)
        self.choose("pareto-x", "2")
        self.sound("pareto")
        self.assertIn("memory (lower is better)", self.js("return document.getElementById('pareto').textContent"))

    def front_in_words(self, data, front):
        """The first sentence names every objective, how many are on the front, and the best of each."""
        words = self.js("return document.getElementById('answer').textContent")
        self.assertTrue(words.startswith(f"{len(front)} trials of 80 trade off minimize loss, maximize speed"), words)
        objectives = data["objectives"]
        values = [data["trials"]["last"], *objectives["values"]]
        goals = [data["sweep"]["goal"], *objectives["goals"]]
        said = re.findall(r"(lowest|highest) (\w+) is (\S+) \(trial (\d+)\)", words)
        self.assertEqual([name for _, name, _, _ in said], [data["sweep"]["metric"], *objectives["names"]])
        for (way, _, value, trial), column, goal in zip(said, values, goals):
            self.assertEqual(way, "lowest" if goal == "minimize" else "highest")
            self.assertIn(int(trial), front)
            best = (min if goal == "minimize" else max)(column[i] for i in front)
            self.assertEqual(column[int(trial)], best)
            self.assertAlmostEqual(float(value.replace("−", "-").replace(",", "")), best, delta=1e-4 * abs(best))

    def test_few_completed_trials_are_called_few(self):
        path, data, _ = self.report("few completed")
        completed = [data["states"][state] for state in data["trials"]["state"]].count("completed")
        self.assertTrue(0 < completed < 10, completed)
        self.assertGreaterEqual(data["importance"]["used"], 10)
        self.open(path)
        self.js("report.lazy.all()")
        for view in ("importance", "slices", "contour"):
            note = self.js("return document.getElementById(arguments[0] + '-note').textContent", view)
            self.assertRegex(note, f"Only {completed} trials have completed: too few" if completed > 1
                             else "Only one trial has completed: too few", view)
        path, _, _ = self.report("few")
        self.open(path)
        self.js("report.lazy.all()")
        self.assertIn("Too few", self.js("return document.getElementById('importance').textContent"))
        self.assertIn("Too few", self.js("return document.getElementById('slices-note').textContent"))
        self.assertNotIn("best tenth", self.js("return document.getElementById('answer').textContent"))
        path, _, _ = self.report("one parameter")
        self.open(path)
        self.js("report.lazy.all()")
        for view in ("importance", "slices"):
            self.assertNotIn("too few", self.js("return document.getElementById(arguments[0] + '-note').textContent", view))

    def test_a_trial_with_one_report_is_a_point(self):
        path, data, _ = self.report("few completed")
        alone = [trial for trial, values in zip(data["curves"]["trial"], data["curves"]["value"]) if len(values) == 1]
        self.assertTrue(alone)
        self.open(path)
        self.js("report.lazy.all()")
        note = self.js("return document.getElementById('curves-note').textContent")
        self.assertIn("A dot is a trial with one report", note)
        self.assertIn(f"of {len(data['curves']['trial'])} curves drawn", note)

        def ink():
            return self.js("""const c = document.querySelector('#curves canvas');
                return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((sum, x) => sum + x, 0)""")
        before = ink()
        # Without them less is drawn.
        self.js("""const { curves } = report.model.raw, alone = new Set(arguments[0]);
            for (const name of ['step', 'value']) curves[name] = curves[name].filter((_, k) => !alone.has(curves.trial[k]));
            curves.trial = curves.trial.filter((trial) => !alone.has(trial));
            report.views.find((view) => view.root.id === 'curves').draw();""", alone)
        self.assertLess(ink(), before)

    def test_means_over_folds(self):
        path, data, _ = self.report("folds")
        spreads = data["spreads"]
        self.assertEqual((spreads["of"], spreads["test_field"]), ("fold_loss", "test_loss"))
        self.assertEqual(spreads["trial"], list(range(30)))
        for trial, mean, error, values in zip(spreads["trial"], spreads["mean"], spreads["errors"], spreads["folds"]):
            self.assertEqual(len(values), 5)
            self.assertAlmostEqual(mean, statistics.mean(values), delta=1e-5)
            self.assertAlmostEqual(error, statistics.stdev(values) / math.sqrt(5), delta=1e-5)
            self.assertAlmostEqual(mean, data["trials"]["last"][trial], delta=1e-5)
        self.open(path)
        self.js("report.lazy.all()")
        self.assertEqual(self.js("return document.querySelectorAll('#folds .fold .error').length"), 20)
        self.assertEqual(self.js("return document.querySelectorAll('#folds .fold .test').length"), 20)
        self.assertIn("standard error", self.js("return document.getElementById('folds-note').textContent"))
        _, data, _ = self.report("told folds")
        self.assertEqual((data["spreads"]["error"], data["spreads"]["errors"][8]), ("standard deviation", 0.06))
        _, data, _ = self.report("mixed")
        self.assertIsNone(data["spreads"])

    def test_the_same_settings_again(self):
        path, data, _ = self.report("one category")
        self.open(path)
        self.js("report.lazy.all()")
        rows = self.js("return [...document.querySelectorAll('#folds .grid text')].map((t) => t.textContent).filter((t) => t.includes('×'))")
        used = [column for column in data["values"][0]]
        self.assertEqual(len(rows), sum(used.count(k) > 1 for k in set(used)))

    def test_trials_that_waited(self):
        path, data, scene = self.report("promotion")
        promoted = scene.query("select trial from event where kind = 'promoted' order by number")
        self.assertEqual(data["resumed"]["trial"], [trial for trial, in promoted])
        self.assertTrue(promoted)
        self.open(path)
        self.js("report.lazy.all()")
        text = self.js("return document.getElementById('table').textContent")
        self.assertIn("paused once", text)
        self.sound("timeline")

    def test_copies_of_population_based_training(self):
        folder = os.path.join(self.base, "pbt")
        os.mkdir(folder)
        scene = Scene(self.build, folder)
        example = os.path.join(REPOSITORY, "examples", "checkpoints")
        shutil.copy(os.path.join(example, "train.py"), folder)
        shutil.copy(os.path.join(example, "pbt.yaml"), scene.config)
        scene.run("--set", "hyperopt.executor.max_concurrent_trials=2")
        path, data, _ = self.written(scene)
        made = scene.query("select id, parent from trial where parent is not null order by id")
        self.assertTrue(made)
        copies = dict(zip(data["copies"]["trial"], data["copies"]["parent"]))
        self.assertEqual(copies, dict(made))
        for width in (1280, 400):
            self.look_at(path, width)
            self.take_pictures("pbt", width)
        arrows = self.js("return document.querySelectorAll('#timeline .link.copy').length")
        self.assertEqual(arrows, len(made))
        first, parent = made[0]
        self.js("""document.querySelector(`button[data-key='pieces']`).click()""")
        self.assertIn(f"copy of {parent} at step ", self.js("return document.getElementById('table').textContent"))


if __name__ == "__main__":
    ViewsTest.build = os.path.abspath(sys.argv.pop(1))
    browser.skip_loudly()
    unittest.main()
