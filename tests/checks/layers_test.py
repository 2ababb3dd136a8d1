"""Plants files that break a rule of layers.py and checks that each is found."""

import tempfile
import unittest
from pathlib import Path

import layers


class LayersTest(unittest.TestCase):
    def faults(self, files):
        with tempfile.TemporaryDirectory(prefix="layers ") as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n", encoding="utf-8")
            return list(layers.faults(Path(folder)))

    def assert_clean(self, file, text):
        self.assertEqual(self.faults({file: text}), [])

    def assert_fault(self, file, text, words):
        found = self.faults({file: "#pragma once\n" + text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{file}:2: "), found[0])
        self.assertIn(words, found[0])

    def test_every_pair_of_folders(self):
        allowed = {("samplers", "trial"), ("executors", "trial"), ("trainer", "trial"),
                   ("search", "trial"), ("search", "samplers"), ("search", "executors")}
        folders = ["trial", "samplers", "executors", "trainer", "search"]
        for source in folders:
            for target in folders:
                include = f'#include "{target}/a.h"'
                if source == target or (source, target) in allowed:
                    self.assert_clean(f"{source}/b.cc", include)
                else:
                    self.assert_fault(f"{source}/b.cc", include, f"not {target}")

    def test_a_folder_below_its_tests(self):
        self.assert_fault("trial/a.h", '#include "tests/support/x.h"', "not tests")
        self.assert_clean("trial/a_test.cc", '#include "tests/support/x.h"')
        self.assert_fault("trial/a_test.cc", '#include "search/x.h"', "not search")

    def test_tests_and_examples_are_free(self):
        self.assert_clean("tests/kill/a.cc",
                          '#include "search/internal/x.h"\n#include <zmq.hpp>')
        self.assert_clean("examples/a.cc", '#include "trainer/x.h"')

    def test_internal_headers(self):
        self.assert_clean("trial/internal/a.cc", '#include "trial/internal/a.h"')
        self.assert_fault("search/a.cc", '#include "trial/internal/a.h"', "for trial alone")

    def test_includes_from_the_root_only(self):
        self.assert_fault("trial/a.cc", '#include "a.h"', "from the root")
        self.assert_fault("trial/a.cc", '#include "../search/a.h"', "from the root")

    def test_spellings_of_an_include(self):
        self.assert_fault("trial/a.cc", '  #  include "search/a.h"', "not search")
        self.assert_clean("trial/a.cc", '// #include "search/a.h"')
        self.assert_clean("trial/a.cc", "#include <map>\n#include <sys/wait.h>")

    def test_libraries(self):
        self.assert_fault("search/a.cc", "#include <torch/torch.h>", "for trainer")
        self.assert_clean("trainer/a.cc", "#include <torch/torch.h>")
        self.assert_fault("search/a.cc", "#include <sqlite3.h>", "the store")
        self.assert_clean("trial/internal/sqlite_store.cc", "#include <sqlite3.h>")
        self.assert_fault("search/a.cc", "#include <zmq.hpp>", "the transport")
        self.assert_clean("executors/internal/transport.cc", "#include <zmq.hpp>")
        self.assert_fault("trial/a.cc", "#include <yaml-cpp/yaml.h>", "search")
        self.assert_fault("samplers/a.cc", "#include <doctest/doctest.h>", "tests")

    def test_yaml_in_one_place(self):
        text = "#include <yaml-cpp/yaml.h>"
        self.assert_clean("search/a.cc", text)
        found = self.faults({"search/a.cc": text, "search/b.cc": text})
        self.assertEqual(found,
                         ["YAML is read in one place, not in search/a.cc, search/b.cc"])

    def test_public_headers(self):
        self.assert_fault("trial/a.h", "#include <nlohmann/json.hpp>", "public headers")
        self.assert_clean("trial/a.h", "#include <nlohmann/json_fwd.hpp>")
        self.assert_clean("trial/internal/a.h", "#include <nlohmann/json.hpp>")
        self.assert_clean("trial/a.cc", "#include <nlohmann/json.hpp>")

    def test_build_folders_are_not_read(self):
        self.assertEqual(self.faults({"build-x/trial/a.h": '#include "search/a.h"'}), [])


if __name__ == "__main__":
    unittest.main()
