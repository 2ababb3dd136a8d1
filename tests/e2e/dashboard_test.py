#!/usr/bin/env python3
"""The live page of a sweep that runs: in a real browser where there is one, and asked by hand."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import unittest

import browser
from scene import Scene
from sweep import wait_until

# Trials below 3 report at once; the others wait for the test, a gate each.
TRIAL = """
report "{\\"step\\": 1, \\"loss\\": $HYPEROPT_PARAM_X}"
if [ $HYPEROPT_TRIAL -ge 3 ]; then await gate$HYPEROPT_TRIAL; fi
report "{\\"step\\": 2, \\"loss\\": $HYPEROPT_PARAM_X}"
"""
PARAMETERS = {"x": {"space": "uniform", "lower": 0, "upper": 1},
              "opt": {"space": "choice", "categories": ["sgd", "</script><img src=x onerror=alert(1)>"]}}


class DashboardTest(unittest.TestCase):
    build = ""

    def setUp(self):
        base = os.path.realpath(tempfile.mkdtemp(prefix="hyperopt e2e "))
        self.addCleanup(shutil.rmtree, base, ignore_errors=True)
        self.scene = Scene(self.build, base)
        self.addCleanup(self.scene.close)
        self.scene.search(TRIAL, parameters=PARAMETERS, num_samples=8, max_concurrent_trials=2)

    # ---- helpers ----

    def started(self, *args):
        """A dashboard of its own; its process, port and token."""
        out = os.path.join(self.scene.folder, "dashboard.txt")
        with open(out, "ab") as file:
            process = self.scene.spawn("dashboard", *args, stdout=file, stderr=file)
        return self.address(process, out)

    def address(self, process, out):
        def found():
            with open(out) as file:
                text = file.read()
            assert process.poll() is None, text
            return re.findall(r"dashboard at http://([^:/]+):(\d+)/(?:#token=(\S+))?\n", text)
        host, port, token = wait_until(found, "the dashboard's address")[-1]
        return process, int(port), token

    def ask(self, port, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body if body is None else json.dumps(body),
                               {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return response.status, response.read().decode(), response

    def change(self, port, token, **request):
        status, text, _ = self.ask(port, "POST", "/sweep/0/change", request,
                                   **({"Authorization": "Bearer " + token} if token else {}))
        return status, json.loads(text)

    def events(self, port, path="/sweep/0/events", **headers):
        """Reads them one by one: (id, kind, data)."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            self.assertEqual((response.status, response.headers["Content-Type"]), (200, "text/event-stream"))
            event = {}
            for raw in response:
                line = raw.decode().rstrip("\n")
                if line == "" and "data" in event:
                    yield event["id"], event["event"], json.loads(event["data"])
                    event = {}
                elif ": " in line:
                    name, value = line.split(": ", 1)
                    event[name] = value

    def at_work(self):
        """The sweep, once three trials are over and two wait."""
        sweep = self.scene.start("--dashboard", "0")
        wait_until(lambda: self.scene.states().count("completed") == 3 and self.scene.recorded(4) == 1, "trial 4")
        return sweep

    def let_go(self, *trials):
        for trial in trials:
            self.scene.open(f"gate{trial}")

    # ---- without a browser ----

    def test_the_sweep_ends_as_without(self):
        self.let_go(*range(3, 8))
        sweep = self.scene.start("--dashboard", "0")
        _, port, _ = self.address(sweep, os.path.join(self.scene.folder, "out.txt"))
        kind, data = next(self.events(port))[1:]
        if kind == "trouble":  # it was faster than the sweep
            self.assertIn("sweep", data)
        self.scene.expect(sweep)
        with self.assertRaises(OSError):  # gone with it
            socket.create_connection(("127.0.0.1", port)).close()
        self.scene.hyperopt("verify", self.scene.dir)
        self.scene.nothing_left()

    def test_a_taken_port_is_an_error_before_the_sweep_starts(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            said = self.scene.run("--dashboard", str(taken.getsockname()[1]), code=3)
        self.assertIn("take another --port", said)
        self.assertFalse(os.path.exists(self.scene.dir))

    def test_a_dashboard_that_dies_is_no_matter_of_the_sweep(self):
        sweep = self.at_work()
        pid = 0
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
                with open(f"/proc/{name}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
                if parent == sweep.pid and words[1:2] == ["dashboard"]:
                    pid = int(name)
        self.assertTrue(pid)
        os.kill(pid, 9)
        self.let_go(*range(3, 8))
        self.scene.expect(sweep)
        self.assertEqual({trial["state"] for trial in self.scene.trials()}, {"completed"})

    def test_deltas_make_the_report(self):
        sweep = self.at_work()
        dashboard, port, _ = self.started(self.scene.dir, "--port", "0")
        events = self.events(port)
        version, kind, raw = next(events)
        self.assertEqual(kind, "whole")
        self.assertEqual(len(raw["trials"]["state"]), 5)
        self.let_go(*range(3, 8))
        self.scene.expect(sweep)
        deltas = 0
        while raw["sweep"]["state"] != "finished" or raw["controlled"]:
            version, kind, data = next(events)
            deltas += kind == "delta"
            raw = applied(raw, data) if kind == "delta" else data
        self.assertGreater(deltas, 0)
        fresh = next(self.events(port))[2]
        for data in (raw, fresh):
            data.pop("written")
        self.assertEqual(raw, fresh)
        # One who comes back with what it has is told what it lacks, a stranger's version is none.
        again = self.events(port, Last_Event_ID="0000-" + version.split("-")[1])
        self.assertEqual(next(again)[1], "whole")

    def test_it_only_shows(self):
        sweep = self.at_work()
        _, port, token = self.started(self.scene.dir, "--port", "0")
        self.assertEqual(token, "")
        status, answer = self.change(port, "", op="stop trials", trials=[3])
        self.assertEqual(status, 403)
        self.assertIn("--allow-changes", answer["error"])
        self.let_go(*range(3, 8))
        self.scene.expect(sweep)
        self.assertEqual({trial["state"] for trial in self.scene.trials()}, {"completed"})

    def test_changes_want_the_token(self):
        sweep = self.at_work()
        _, port, token = self.started(self.scene.dir, "--port", "0", "--allow-changes")
        self.assertEqual(len(token), 32)
        for wrong in ("", "x" * 32, token[:-1], token + "0"):
            with self.subTest(wrong):
                status, answer = self.change(port, wrong, op="stop trials", trials=[3])
                self.assertEqual(status, 403)
                self.assertIn("not the token" if wrong else "wants its token", answer["error"])
                self.assertNotIn(token, answer["error"])
        good = {"Authorization": "Bearer " + token}
        for origin in ("http://evil.example", f"http://127.0.0.1:{port + 1}"):
            with self.subTest(origin):
                self.assertEqual(self.ask(port, "POST", "/sweep/0/change", {"op": "stop trials", "trials": [3]},
                                          Origin=origin, **good)[0], 403)
        for request, words in (({"op": "set", "limits": {}}, "op"), ({"op": "stop trials", "trials": [99]}, "99"),
                               ({"op": "add", "params": [{"y": 1}]}, "y"), ([1], "op"), ({"op": 3}, "")):
            with self.subTest(request):
                status, text, _ = self.ask(port, "POST", "/sweep/0/change", request, **good)
                self.assertEqual(status, 400, text)
                self.assertIn(words, json.loads(text)["error"])
        self.assertEqual([trial["state"] for trial in self.scene.trials()][3:5], ["running", "running"])
        status, answer = self.change(port, token, op="stop trials", trials=[3])
        self.assertEqual(status, 200, answer)
        status, answer = self.change(port, token, op="add", params=[{"x": 0.5, "opt": "sgd"}])
        self.assertEqual((status, answer["lines"][0][:5]), (200, "added"))
        self.let_go(*range(4, 9))
        self.scene.expect(sweep)
        trials = self.scene.trials()
        self.assertEqual([trial["state"] for trial in trials], ["completed"] * 3 + ["stopped"] + ["completed"] * 5)
        self.assertIn({"opt": "sgd", "x": 0.5}, [trial["params"] for trial in trials])
        status, answer = self.change(port, token, op="add", samples=1)
        self.assertEqual(status, 400)
        self.assertIn("hyperopt resume", answer["error"])
        self.scene.hyperopt("verify", self.scene.dir)

    def test_a_name_that_was_made_to_point_here(self):
        self.let_go(*range(3, 8))
        self.scene.run()
        _, port, _ = self.started(self.scene.dir, "--port", "0")
        for host, status in (("evil.example", 403), (f"evil.example:{port}", 403), (f"localhost:{port}", 302),
                             ("127.0.0.1:1", 302)):
            with self.subTest(host):
                self.assertEqual(self.ask(port, "GET", "/", Host=host)[0], status)
        self.assertEqual(self.ask(port, "GET", "/sweep/0/events", Host="evil.example")[0], 403)

    def test_others_need_a_token_to_see(self):
        self.let_go(*range(3, 8))
        self.scene.run()
        said = self.scene.hyperopt("dashboard", self.scene.dir, "--host", "0.0.0.0", "--port", "0", code=2)
        self.assertIn("--token", said)
        token = "0123456789abcdef"
        _, port, shown = self.started(self.scene.dir, "--host", "0.0.0.0", "--port", "0", "--token", token)
        self.assertEqual(shown, token)
        self.assertEqual(self.ask(port, "GET", "/sweep/0/events")[0], 403)
        status, missing, _ = self.ask(port, "GET", "/sweeps")
        self.assertEqual(status, 403)
        self.assertIn("wants its token", missing)
        # However near a wrong one is, it is told the same.
        wrong = {self.ask(port, "GET", "/sweeps", Authorization=value)[:2]
                 for value in ("Bearer x", "Bearer " + token[:-1], token, "Bearer " + token + "0", "Basic eDp5")}
        self.assertEqual(len(wrong), 1)
        status, text = wrong.pop()
        self.assertEqual(status, 403)
        self.assertIn("not the token", text)
        page = self.ask(port, "GET", "/sweep/0/")
        self.assertEqual(page[0], 200)
        self.assertNotIn(self.scene.dir, page[1])  # nothing of the sweep is in it
        self.assertEqual(next(self.events(port, Authorization="Bearer " + token))[1], "whole")

    def test_several_and_what_is_no_sweep(self):
        self.let_go(*range(3, 8))
        self.scene.run()
        other = os.path.join(self.scene.folder, "other")
        shutil.copytree(self.scene.dir, other)
        self.assertIn("no sweep here", self.scene.hyperopt("dashboard", self.scene.folder, "--port", "0", code=2))
        _, port, _ = self.started(self.scene.dir, other, "--port", "0")
        status, text, _ = self.ask(port, "GET", "/sweeps")
        self.assertEqual([(line["dir"], line["counts"]["completed"]) for line in json.loads(text)],
                         [(self.scene.dir, 8), (other, 8)])
        self.assertEqual(next(self.events(port, "/sweep/1/events"))[2]["dir"], other)
        self.assertEqual(self.ask(port, "GET", "/sweep/2/events")[0], 404)
        shutil.rmtree(other)
        self.assertIn("error", json.loads(self.ask(port, "GET", "/sweeps")[1])[1])
        for _, kind, data in self.events(port, "/sweep/1/events"):
            if kind == "trouble":
                break
        self.assertIn(other, data)

    def test_many_pages_are_bounded_and_one_that_reads_nothing_holds_nobody(self):
        self.let_go(*range(3, 8))
        self.scene.run()
        _, port, _ = self.started(self.scene.dir, "--port", "0")
        idle = []
        for _ in range(24):
            idle.append(socket.create_connection(("127.0.0.1", port)))
            self.addCleanup(idle[-1].close)
            idle[-1].sendall(b"GET /sweep/0/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200", idle[-1].recv(12))
        status, text, _ = self.ask(port, "GET", "/sweep/0/events")
        self.assertEqual(status, 503, text)
        self.assertEqual(self.ask(port, "GET", "/sweeps")[0], 200)
        for one in idle:
            one.close()
        wait_until(lambda: self.can_listen(port), "the place of one that has gone")

    def test_one_that_reads_nothing_is_dropped_while_the_sweep_reports(self):
        # Megabytes of categories, so that what is sent does not fit into any socket's buffers.
        words = [f"{k:03}" + "x" * 50_000 for k in range(100)]
        self.scene.search("""
            until [ -e "$here/over" ]; do report "{\\"loss\\": $HYPEROPT_PARAM_X}"; sleep 0.02; done
            """, parameters={"x": PARAMETERS["x"], "word": {"space": "choice", "categories": words}},
            num_samples=2)
        sweep = self.scene.start()
        wait_until(lambda: self.scene.recorded(1) > 10, "reports")
        dashboard, port, _ = self.started(self.scene.dir, "--port", "0")
        reader = self.events(port)
        self.assertEqual(next(reader)[1], "whole")
        size, before = sum(map(len, words)), self.peak_kib(dashboard.pid)
        idle = [self.listen_and_read_nothing(port) for _ in range(6)]
        kinds = [next(reader)[1] for _ in range(3)]  # others are served meanwhile
        self.assertEqual(set(kinds), {"delta"})
        for one in idle:
            wait_until(lambda one=one: self.is_dropped(one), "the end of one that reads nothing")
        self.assertEqual(next(reader)[1], "delta")
        # Each may hold what is on its way to it, whatever came since; readings of the record hold
        # a few copies more, some of them at the same time.
        self.assertLess(self.peak_kib(dashboard.pid) - before, (2 * len(idle) + 12) * size / 1024)
        self.scene.open("over")
        self.scene.expect(sweep)

    def listen_and_read_nothing(self, port):
        one = socket.socket()
        self.addCleanup(one.close)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(("127.0.0.1", port))
        one.sendall(b"GET /sweep/0/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return one

    def is_dropped(self, one):
        """The server's end is closed; ours hears of it once it has read what came before."""
        ends = f":{one.getpeername()[1]:04X}", f":{one.getsockname()[1]:04X}"
        with open("/proc/net/tcp") as file:
            lines = [line.split()[1:4] for line in file][1:]
        return not any(local.endswith(ends[0]) and remote.endswith(ends[1]) and state == "01"
                       for local, remote, state in lines)

    def peak_kib(self, pid):
        with open(f"/proc/{pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1))

    def can_listen(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", "/sweep/0/events")
            return connection.getresponse().status == 200


def applied(old, delta):
    """What page/stream.js does."""
    if "=" in delta:
        return delta["="]
    if "n" in delta:
        fresh = (old + [None] * delta["n"])[:delta["n"]]
        for k, value in zip(delta.get("at", []), delta.get("to", [])):
            fresh[k] = value
        for k, change in zip(delta.get("in", []), delta.get("by", [])):
            fresh[k] = applied(fresh[k], change)
        return fresh
    fresh = {name: value for name, value in old.items() if name not in delta.get("-", [])}
    for name, change in delta.get("o", {}).items():
        fresh[name] = applied(fresh.get(name), change)
    return fresh


class LivePageTest(DashboardTest):
    """In a browser. The tests of the base are not run again."""

    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def js(self, text, *words):
        return self.browser.js(text, *words)

    def visit(self, port, path="", token=""):
        self.browser.driver.get("about:blank")  # the page before this one asks no more
        self.browser.drain()
        self.browser.requests.clear()
        self.browser.complaints()
        self.browser.resize(1280)
        self.browser.driver.get(f"http://127.0.0.1:{port}/{path}" + (f"#token={token}" if token else ""))
        wait_until(lambda: self.js("return document.documentElement.dataset.ready === 'yes'"), "the page")

    def selected(self):
        return self.js("return Array.from(report.choice.selected).flatMap((x, i) => x ? [i] : [])")

    def test_new_trials_come_without_a_reload_and_nothing_is_taken_away(self):
        sweep = self.at_work()
        _, port, _ = self.started(self.scene.dir, "--port", "0")
        self.visit(port)
        self.js("""
            window.mark = 'still here';
            const axis = report.view.axes.find((a) => a.column.title === 'x');
            report.brush(axis, [74 + 330 * 0.05, 74 + 330 * 0.7]);   // 0.3 to 0.95
            report.choice.togglePin(1);
            document.querySelector('#table button[data-key="trial"]').click();
            document.getElementById('curves').scrollIntoView();
            document.querySelector('#states input[name=state-running]').click();""")
        brushed = "return report.brushed(report.view.axes.find((a) => a.column.title === 'x'))"
        low, high = self.js(brushed)
        place = self.js("return scrollY")
        self.assertGreater(place, 300)
        self.assertTrue(self.js("return document.querySelector('#live-bar').textContent").startswith("Live"))
        self.let_go(3, 4, 5)
        wait_until(lambda: self.scene.states().count("completed") == 6, "six")
        wait_until(lambda: self.js("return report.model.count('completed')") == 6, "six in the page")
        params = [trial["params"]["x"] for trial in self.scene.trials()]
        self.assertEqual(self.js("return window.mark"), "still here")
        self.assertEqual(self.selected(), [i for i in range(6) if low <= params[i] <= high])
        self.assertEqual([round(end, 7) for end in self.js(brushed)], [round(low, 7), round(high, 7)])
        self.assertEqual(self.js("return report.choice.pinned"), [1])
        self.assertEqual(self.js("return report.table.key"), "trial")
        self.assertFalse(self.js("return document.querySelector('#states input[name=state-running]').checked"))
        self.assertAlmostEqual(self.js("return scrollY"), place, delta=60)
        rows = self.js("return [...document.querySelectorAll('#table tbody tr')].map((r) => Number(r.dataset.trial))")
        self.assertEqual(rows, self.selected())
        # Nothing moves under a pressed button.
        self.js("dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))")
        self.let_go(6, 7)
        self.scene.expect(sweep)
        wait_until(lambda: "over" in self.js("return document.querySelector('#live-bar').textContent"), "the end")
        self.assertEqual(self.js("return report.model.count('completed')"), 6)
        self.js("dispatchEvent(new PointerEvent('pointerup', {bubbles: true}))")
        wait_until(lambda: self.js("return report.model.count('completed')") == 8, "eight in the page")
        self.quiet(port)

    def quiet(self, port):
        """No complaint, no request to elsewhere, no parameter that is a program."""
        self.assertEqual(self.browser.complaints(), [])
        self.browser.drain()
        own = f"http://127.0.0.1:{port}/"
        others = [url for url in self.browser.requests
                  if not url.startswith((own, "data:", "about:", "chrome", "blob:" + own))]
        self.assertEqual(others, [])
        self.assertTrue(any(url.endswith("/events") for url in self.browser.requests))
        self.assertEqual(self.js("return document.images.length"), 0)

    def test_a_sweep_that_has_not_begun(self):
        shown = self.scene.start("--dashboard", "0")  # and trials of a second start
        _, port, _ = self.address(shown, os.path.join(self.scene.folder, "out.txt"))
        self.visit(port)
        self.let_go(*range(3, 8))
        wait_until(lambda: self.js("return report.model.count('completed')") == 8 or shown.poll() is not None, "all")
        self.scene.expect(shown)
        wait_until(lambda: "No connection" in self.js("return document.querySelector('#live-bar').textContent"),
                   "the word that the dashboard is gone")

    def test_stop_and_add_with_the_token(self):
        sweep = self.at_work()
        _, port, token = self.started(self.scene.dir, "--port", "0", "--allow-changes")
        self.visit(port, token=token)
        self.assertNotIn(token, self.browser.driver.current_url)
        self.js("report.choice.togglePin(3)")
        press = "document.getElementById(arguments[0]).click()"
        self.js(press, "stop-trials")
        self.assertEqual(self.js("return document.getElementById('stop-trials').textContent"), "Stop 3 for good?")
        self.assertEqual(self.scene.states()[3], "running")
        self.js(press, "stop-trials")
        wait_until(lambda: self.scene.states()[3] == "stopped", "the stop")
        wait_until(lambda: self.js("return report.model.count('stopped')") == 1, "it in the page")
        self.js("""
            const form = document.getElementById('add-trial');
            form.elements['param x'].value = '0.25';
            form.elements['param opt'].value = '1';
            form.requestSubmit();""")
        wait_until(lambda: "added" in self.js("return document.getElementById('change-said').textContent"), "the answer")
        self.let_go(*range(4, 9))
        self.scene.expect(sweep)
        added = [trial for trial in self.scene.trials() if trial["params"]["x"] == 0.25]
        self.assertEqual([trial["params"]["opt"] for trial in added], [PARAMETERS["opt"]["categories"][1]])
        self.quiet(port)

    def test_without_the_token_the_page_asks_for_it(self):
        sweep = self.at_work()
        _, port, token = self.started(self.scene.dir, "--port", "0", "--allow-changes")
        self.visit(port)
        self.js("sessionStorage.clear()")
        self.visit(port)
        self.assertEqual(self.js("return document.getElementById('stop-trials')"), None)
        self.js("""const form = document.querySelector('#changes form');
                   form.querySelector('input').value = arguments[0]; form.requestSubmit();""", "x" * 32)
        self.js("report.choice.togglePin(3)")
        for _ in range(2):
            self.js("document.getElementById('stop-trials').click()")
        wait_until(lambda: "token" in self.js("return document.getElementById('change-said').textContent"), "refused")
        self.assertEqual(self.scene.states()[3], "running")
        # The page of the test before may still be heard of.
        told = [text for text in self.browser.complaints() if f":{port}/" in text]
        self.assertEqual([text for text in told if "403" not in text], [])
        self.let_go(*range(3, 8))
        self.scene.expect(sweep)

    def test_a_paused_sweep_is_called_paused(self):
        sweep = self.at_work()
        _, port, _ = self.started(self.scene.dir, self.scene.dir, "--port", "0")
        self.visit(port, "sweep/0/")
        bar = "return document.getElementById('live-bar').textContent"
        facts = "return document.getElementById('facts').textContent"
        wait_until(lambda: "Live" in self.js(bar), "the first data")
        self.assertIn("staterunning", self.js(facts))
        self.scene.hyperopt("pause", self.scene.dir)
        wait_until(lambda: self.js(bar).startswith("Paused"), "paused")
        self.assertIn("statepaused", self.js(facts))
        self.visit(port)
        wait_until(lambda: "paused" in self.js("return document.getElementById('sweeps').textContent"), "the index")
        self.scene.hyperopt("report", self.scene.dir)
        self.browser.driver.get("file://" + os.path.join(self.scene.dir, "report.html"))
        self.assertIn("statepaused", self.js(facts))
        self.scene.hyperopt("unpause", self.scene.dir)
        self.visit(port, "sweep/0/")
        wait_until(lambda: self.js(bar).startswith("Live"), "it goes on")
        self.quiet(port)
        self.let_go(*range(3, 8))
        self.scene.expect(sweep)

    def test_a_wrong_token_is_not_called_a_missing_one(self):
        self.let_go(*range(3, 8))
        self.scene.run()
        token = "0123456789abcdef"
        _, port, _ = self.started(self.scene.dir, "--host", "0.0.0.0", "--port", "0", "--token", token)
        bar = "return document.getElementById('live-bar').textContent"
        self.browser.complaints()
        for _ in range(2):
            self.browser.driver.get(f"http://127.0.0.1:{port}/sweep/0/")
            self.js("sessionStorage.clear()")
        wait_until(lambda: "wants its token" in self.js(bar), "it is asked for")
        self.js("""const form = document.querySelector('#live-bar form');
                   form.querySelector('input').value = arguments[0]; form.requestSubmit();""", "x" * 16)
        wait_until(lambda: "not the token" in self.js(bar), "it is refused")
        self.js("""const form = document.querySelector('#live-bar form');
                   form.querySelector('input').value = arguments[0]; form.requestSubmit();""", token)
        wait_until(lambda: "over" in self.js(bar), "the sweep")
        # The page of the test before may still be heard of.
        told = [text for text in self.browser.complaints() if f":{port}/" in text]
        self.assertEqual([text for text in told if "403" not in text], [])

    def test_the_index_at_both_widths(self):
        self.let_go(*range(3, 8))
        self.scene.run()
        other = os.path.join(self.scene.folder, "other")
        shutil.copytree(self.scene.dir, other)
        _, port, _ = self.started(self.scene.dir, other, "--port", "0")
        self.visit(port)
        wait_until(lambda: self.js("return document.querySelectorAll('#sweeps tbody tr').length") == 2, "the index")
        self.browser.resize(400)
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 400)
        self.js("document.querySelectorAll('#sweeps a')[1].click()")
        wait_until(lambda: self.js("return window.report && report.model.raw.dir") == other, "the other's page")
        self.quiet(port)


def own_tests(cls):
    return [name for name in vars(cls) if name.startswith("test_")]


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite(map(DashboardTest, own_tests(DashboardTest)))
    if browser.why_none() is None:
        suite.addTests(map(LivePageTest, own_tests(LivePageTest)))
    return suite


if __name__ == "__main__":
    DashboardTest.build = os.path.abspath(sys.argv.pop(1))
    if browser.why_none():
        print(f"{'=' * 88}\nNO BROWSER TEST WAS RUN: {browser.why_none()}.\n"
              f"./setup.sh --developer brings what it takes.\n{'=' * 88}", file=sys.stderr)
    unittest.main()
