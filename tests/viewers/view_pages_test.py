"""`ringside view --svg` and `--speedscope`: the page behind the link, in Chromium that reaches this machine only."""
import collections
import re
import unittest
import urllib.parse
import urllib.request

import page_browser
import speedscope_table
import viewer_case
from ringside_tests.harness import limits, webdriver
from ringside_tests.judges.flamegraph import svg_frames, svg_in_chromium, svg_reading

FRAMES = """return [...document.querySelectorAll('g.frame')].map(frame =>
    [frame.dataset.name, Number(frame.dataset.d), Number(frame.dataset.w)])"""
ZOOMED = """const width = element => element.getBoundingClientRect().width;
    return Math.abs(width(document.querySelector('#test-target')) - width(document.querySelector('g.frame rect'))) < 0.5"""
# Whether a script that is put into the page runs.
FOREIGN_SCRIPT = """const script = document.createElementNS('http://www.w3.org/2000/svg', 'script');
    script.textContent = 'window.ringsideTestRan = true';
    document.documentElement.append(script);
    return window.ringsideTestRan === true"""
FOREIGN_REQUEST = "return fetch(arguments[0]).then(() => 'an answer').catch(error => String(error))"
SEARCH_OPEN = "return document.activeElement === document.querySelector('#search-input')"
# The names of the frames that have another colour than before.
COLOURED = """const fills = arguments[0];
    return [...document.querySelectorAll('g.frame')].filter((frame, index) =>
        getComputedStyle(frame.querySelector('rect')).fill !== fills[index]).map(frame => frame.dataset.name)"""


@unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
class ViewPages(viewer_case.ViewerCase):
    def assert_quiet_and_local(self, browser, link):
        """All requests of the page went to the link's server, and the console has no errors."""
        requests, errors = browser.requests_and_errors()
        self.assertIn(link.partition("#")[0], [url.partition("#")[0] for url in requests])
        server = f"http://{urllib.parse.urlsplit(link).netloc}/"
        self.assertEqual([url for url in requests if not url.startswith(server)], [])
        self.assertEqual(errors, [])

    def test_the_flame_graph_shows_the_samples(self):
        def check(name):
            link = self.view(name, "--svg")
            with page_browser.PageBrowser() as browser:
                browser.open(link)
                elements = browser.run(FRAMES)
                self.assert_quiet_and_local(browser, link)
            with urllib.request.urlopen(link.partition("#")[0], timeout=limits.STEP) as page:
                frames = svg_frames.frames_of(page)
            self.assertLessEqual({tuple(element) for element in elements},
                                 {(frame.name, frame.depth, frame.weight) for frame in frames})
            there = {tuple(each.name for each in reversed([frame] + frame.above())): frame.weight for frame in frames}
            here = collections.Counter()
            for sample in self.sampled(name):
                stack = ("all", sample.comm, *reversed(sample.frames))
                for depth in range(1, len(stack) + 1):
                    here[stack[:depth]] += sample.weight
            self.assert_same(there, here)
        self.each_recording(check)

    def test_the_file_that_xdg_open_gets_leads_to_the_flame_graph(self):
        page = self.folder / "page.html"
        link = self.view("demo", "--svg", xdg_open=f'#!/bin/sh\ncp "$1" {self.folder}/new && mv {self.folder}/new {page}\n')
        self.assertTrue(limits.wait_until(page.exists))
        with page_browser.PageBrowser() as browser:
            browser.open(page.as_uri())
            self.assertTrue(browser.wait("return location.href === arguments[0]", link))
            self.assertTrue(browser.run(FRAMES))

    def test_a_flame_graph_that_asks_for_more_than_its_script_is_refused_it(self):
        """The page's policy holds: no other script runs, and nothing is loaded, sent or framed."""
        link = self.view("demo", "--svg")
        with page_browser.PageBrowser() as browser:
            browser.open(link)
            self.assertFalse(browser.run(FOREIGN_SCRIPT))
            self.assertEqual(browser.run(FOREIGN_REQUEST, link), "TypeError: Failed to fetch")

    def test_a_click_zooms_the_flame_graph_and_a_search_colours_it(self):
        link = self.view("demo", "--svg")
        with page_browser.PageBrowser() as browser:
            browser.open(link)
            browser.run(svg_in_chromium.MARK)
            self.assertFalse(browser.run(ZOOMED))
            drawn = browser.run(FRAMES)
            browser.click("#test-target")
            self.assertTrue(browser.wait(ZOOMED), "a click on a frame does not zoom")
            browser.click("#reset")
            self.assertTrue(browser.wait("return !(() => {" + ZOOMED + "})()"), "the reset does not end the zoom")
            self.assertTrue(limits.wait_until(lambda: browser.run(FRAMES) == drawn), "the reset does not draw all frames")
            fills = browser.run(svg_in_chromium.FILLS)
            self.assertEqual(browser.run(COLOURED, fills), [])
            browser.press_with_control("f")
            self.assertTrue(browser.wait(SEARCH_OPEN), "Ctrl-F opens no search")
            browser.press("sort")
            expected = [name for name, depth, _ in browser.run(FRAMES) if depth and "sort" in name]
            self.assertTrue(expected)
            self.assertTrue(browser.wait("return (() => {" + COLOURED + "})(...arguments).length === arguments[1]",
                                         fills, len(expected)), "the search colours other frames than those of the name")
            self.assertEqual(browser.run(COLOURED, fills), expected)
            whole = svg_frames.frames_of(self.export("demo", "out.svg"))[0]
            weight = svg_frames.matched_weight(whole, re.compile("sort"))
            self.assertIn(svg_reading.share(weight, whole.weight), browser.run(svg_reading.MATCHED))
            self.assert_quiet_and_local(browser, link)

    def test_speedscope_shows_the_functions_and_their_times(self):
        page = viewer_case.viewers()["SPEEDSCOPE"]

        def check(name):
            link = self.view(name, "--speedscope", "--speedscope-page", page)
            period = 1e-9 * self.interval(name)
            own, whole = self.function_sums(name)
            with page_browser.PageBrowser() as browser:
                browser.open(link)
                speedscope_table.text(browser)
                browser.resize(webdriver.WINDOW[0], 24 * len(whole) + 800)  # for all rows
                has_all = browser.wait(speedscope_table.ROWS + " >= arguments[0]", len(whole))
                self.assertTrue(has_all, "there are fewer functions")
                there = speedscope_table.own_times(browser.run("return document.body.innerText"))
                self.assert_quiet_and_local(browser, link)
            self.assertEqual(set(there), set(whole))
            wrong = [f"{function}: {seconds} s there, {own[function] * period} s here"
                     for function, (seconds, off) in there.items() if abs(seconds - own[function] * period) > off]
            self.assertEqual(wrong, [])
            self.assertAlmostEqual(sum(seconds for seconds, _ in there.values()), sum(own.values()) * period,
                                   delta=sum(off for _, off in there.values()))
        self.each_recording(check, "demo", "mixed")


if __name__ == "__main__":
    viewer_case.main()
