"""Flame graphs in Chromium: their colours on a light and on a dark page, by kind, by memory and by module."""
import collections
import itertools
import math
import os
import re
import shutil
import unittest

import viewer_case
from ringside_tests.harness import webdriver
from ringside_tests.judges.flamegraph import svg_frames

FILLS = """return [...document.querySelectorAll('g.frame')].map(frame => [
    getComputedStyle(frame.querySelector('rect')).fill, frame.querySelector('title').textContent]);"""
PAGE = """const fill = id => getComputedStyle(document.getElementById(id)).fill;
    return [fill('page'), fill('title')];"""
LEGEND = "return [...document.querySelectorAll('.legend title')].map(title => title.textContent);"


def color(text):
    """(red, green, blue) of a computed style, 0 to 255."""
    return tuple(int(number) for number in re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", text).groups())


def light(code):
    """The linear red, green and blue of "#rrggbb", 0 to 1."""
    parts = [int(code[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def lab(parts):
    """CIELAB of linear red, green and blue (IEC 61966-2-1, white D65)."""
    def bend(part):
        return part ** (1 / 3) if part > (6 / 29) ** 3 else part / (3 * (6 / 29) ** 2) + 4 / 29
    red, green, blue = parts
    x = bend((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    y = bend(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = bend((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def lightness(text):
    return sum(color(text)) / 3 / 255


# Linear red, green and blue as eyes see them: with all receptors, without green ones, without red ones (Machado, Oliveira
# and Fernandes, 2009, severity 1).
EYES = (((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)))


class Flamegraph(viewer_case.ViewerCase):
    def test_colours_of_modules_are_apart_for_all_eyes(self):
        """Any two of one page, by CIE76."""
        source = (viewer_case.ROOT / "src" / "exporters" / "flamegraph" / "frame_colors.cpp").read_text()
        table = source.partition("kModuleColors = ")[2].partition(";")[0]
        pairs = re.findall(r'"(#[0-9a-f]{6})", "(#[0-9a-f]{6})"', table)
        self.assertEqual(len(pairs), 7)
        for colours in zip(*pairs, strict=True):
            for eyes in EYES:
                seen = [lab([min(max(sum(a * b for a, b in zip(row, light(code), strict=True)), 0), 1) for row in eyes])
                        for code in colours]
                self.assertGreaterEqual(min(math.dist(a, b) for a, b in itertools.combinations(seen, 2)), 22)

    def picture(self, name, *options, minimum=0):
        self.ringside("flamegraph", "-i", self.recording(name), "-o", "out.svg", "--min-width", minimum, *options)
        return self.folder / "out.svg"

    def test_roots_by_module_are_the_rows_of_a_report(self):
        def check(name):
            here = +self.report(name, "dso", "--sort", "dso")
            self.assert_same({frame.name: frame.weight for frame in
                              svg_frames.frames_of(self.picture(name, "--by", "module"))[0].children}, here)
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
        with webdriver.Browser() as browser:
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

        with webdriver.Browser() as browser:
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
            with webdriver.Browser() as browser:
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
