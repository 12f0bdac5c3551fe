"""Tests of svg_in_chromium.py with an example that works and with the same one broken in several ways."""
import argparse
import pathlib
import sys
import tempfile
import unittest

import svg_in_chromium
import webdriver

EXAMPLE = pathlib.Path(__file__).resolve().parent / "testdata" / "example.svg"
BROKEN = {
    "JavaScript errors after loading": ("show(0, 1);\n]]>", "show(0, 1); nonsense();\n]]>"),
    "does not make it wider": ("show(...place(frame))", "0"),
    "after a reset": ("addEventListener('click', () => show(0, 1))", "addEventListener('click', () => 0)"),
    "shows no #search-input": ("by('search').addEventListener('click', ask);", ""),
    "Ctrl-F shows no": ("event.ctrlKey &&", "false &&"),
    "no percentage": ("toFixed(2)} %`", "toFixed(2)}`"),
    "the matched share": ("share = Math.max(share, Number(frame.dataset.w))", "share = 0"),
    "no count and share": ("(40 samples, 40.00 %)", ""),
    "#details stays empty": ("addEventListener('mouseover'", "addEventListener('never'"),
    "changes its colour": (".hit rect { fill: #d0f }", ""),
}


class Svg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = webdriver.Browser(patience=1.0)
        cls.addClassCleanup(cls.browser.__exit__)

    def use(self, text):
        with tempfile.TemporaryDirectory() as folder:
            svg = pathlib.Path(folder) / "flame.svg"
            svg.write_text(text)
            svg_in_chromium.run(self.browser, argparse.Namespace(svg=svg, png=None))

    def test_the_example_works(self):
        self.use(EXAMPLE.read_text())

    def test_each_fault_is_found(self):
        for message, (good, bad) in BROKEN.items():
            with self.subTest(message=message):
                text = EXAMPLE.read_text()
                self.assertIn(good, text)
                with self.assertRaisesRegex(svg_in_chromium.Failed, message):
                    self.use(text.replace(good, bad))
                self.browser.log()


if __name__ == "__main__":
    if not webdriver.available():
        print("skipped: needs Debian's packages chromium and chromium-driver")
        sys.exit(svg_in_chromium.SKIPPED)
    unittest.main()
