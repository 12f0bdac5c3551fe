"""Flame graphs in Chromium: their colours on a light and on a dark page, by kind, by memory and by module."""
import collections
import os
import re
import shutil
import unittest

import viewer_case
from ringside_tests.harness import webdriver
from ringside_tests.judges.flamegraph import svg_reading

FILLS = """return [...document.querySelectorAll('g.frame')].map(frame => [
    getComputedStyle(frame.querySelector('rect')).fill, frame.querySelector('title').textContent]);"""
PAGE = """const fill = id => getComputedStyle(document.getElementById(id)).fill;
    return [fill('page'), fill('title')];"""
LEGEND = "return [...document.querySelectorAll('.legend title')].map(title => title.textContent);"


def color(text):
    """(red, green, blue) of a computed style, 0 to 255."""
    return tuple(int(number) for number in re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", text).groups())


def lightness(text):
    return sum(color(text)) / 3 / 255


class Flamegraph(viewer_case.ViewerCase):
    def picture(self, name, *options, minimum=0):
        self.ringside("flamegraph", "-i", self.recording(name), "-o", "out.svg", "--min-width", minimum, *options)
        return self.folder / "out.svg"

    def test_roots_by_module_are_the_rows_of_a_report(self):
        def check(name):
            here = +self.report(name, "dso", "--sort", "dso")
            self.assert_same({frame.name: frame.weight for frame in
                              svg_reading.frames_of(self.picture(name, "--by", "module"))[0].children}, here)
            folded = collections.Counter()
            for line in self.export(name, "out.folded", "--by", "module").read_text().splitlines():
                stack, count = line.rsplit(" ", 1)
                folded[stack.split(";")[0]] += int(count)
            self.assert_same(folded, here)
        self.each_recording(check)

    def test_one_recording_gives_one_picture(self):
        def check(name):
            shutil.copy(self.recording(name), self.folder / "other.data")
            for options in ([], ["--colors", "module", "--by", "module", "--theme", "dark"]):
                picture = self.picture(name, *options).read_bytes()
                place = self.folder / "elsewhere"
                place.mkdir(exist_ok=True)
                self.ringside("flamegraph", "-i", self.folder / "other.data", "-o", place / "out.svg", "--min-width", "0",
                              *options, env={"PATH": os.environ["PATH"], "HOME": str(place), "TZ": "Asia/Tokyo",
                                             "LANG": "C.UTF-8", "COLUMNS": "40"})
                self.assertEqual(picture, (place / "out.svg").read_bytes())
        self.each_recording(check)

    @unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
    def test_pages_are_light_or_dark(self):
        with webdriver.Browser(patience=20) as browser:
            for theme, preference, is_dark in (("auto", "light", False), ("auto", "dark", True), ("light", "dark", False),
                                               ("dark", "light", True)):
                with self.subTest(theme=theme, preference=preference):
                    path = self.picture("mixed", "--theme", theme)
                    browser.prefer(preference)
                    browser.open(f"file://{path}")
                    page, title = browser.run(PAGE)
                    self.assertEqual(lightness(page) < 0.2, is_dark, page)
                    self.assertEqual(lightness(title) > 0.8, is_dark, title)
                    fills = {fill for fill, hint in browser.run(FILLS) if "kernel code" in hint}
                    self.assertTrue(fills)
                    for fill in fills:
                        self.assertEqual(lightness(fill) < 0.5, is_dark, fill)

    @unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
    def test_memory_is_green(self):
        def is_green(fill):
            red, green, blue = color(fill)
            return green > red and green > blue

        with webdriver.Browser(patience=20) as browser:
            for options, expected in ((["--source", "allocations", "--value", "bytes"], True), (["--colors", "memory"], True),
                                      (["--source", "allocations", "--value", "bytes", "--colors", "kind"], False), ([], False)):
                with self.subTest(options=options):
                    browser.open(f"file://{self.picture('mixed', *options)}")
                    kernel = [fill for fill, hint in browser.run(FILLS) if "kernel code" in hint]
                    self.assertTrue(kernel)
                    self.assertEqual({is_green(fill) for fill in kernel}, {expected})

    @unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
    def test_modules_have_colours_of_their_own(self):
        def heaviest(name):
            sums = +self.report(name, "dso", "--sort", "dso")
            del sums["[unknown]"]
            return dict(sorted(sums.items(), key=lambda row: (-row[1], row[0]))[:6])

        def check_legend(name, legend):
            best = heaviest(name)
            shown = [image for image in legend if image != "other images"]
            self.assertTrue(shown)
            self.assertEqual(shown, [image for image in best if image in shown])
            if name == "demo":
                self.assertEqual(shown, list(best))

        def check(name):
            with webdriver.Browser(patience=20) as browser:
                for minimum, *options in ([0, "--reverse"], [20, "--by", "module"], [0, "--by", "none"]):
                    picture = self.picture(name, "--colors", "module", *options, minimum=minimum)
                    browser.open(f"file://{picture}")
                    check_legend(name, browser.run(LEGEND))
                frames = browser.run(FILLS)
            fills = collections.defaultdict(set)
            for fill, hint in frames:
                if found := re.search(r" code in (?!several images)(.*?)(,|$)", hint.split("\n")[-1]):
                    fills[found.group(1)].add(fill)
            colours = [frozenset(fills[image]) for image in heaviest(name) if fills[image]]
            self.assertGreaterEqual(len(colours), 2)
            self.assertEqual({len(each) for each in colours}, {1})
            self.assertEqual(len(set(colours)), len(colours))
        self.each_recording(check, "linux", "demo")


if __name__ == "__main__":
    viewer_case.main()
