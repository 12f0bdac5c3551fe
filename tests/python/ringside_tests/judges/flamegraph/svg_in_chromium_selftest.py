"""Tests of svg_in_chromium.py with an example that works and with the same one broken in several ways."""
import argparse
import pathlib
import re
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

from ringside_tests.harness import limits, webdriver
from ringside_tests.judges.flamegraph import svg_in_chromium, svg_reading

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

# The real style and scripts around frames whose numbers are known: depth, weight, kind, name, and
# the label where it is cut.
ASSETS = pathlib.Path(__file__).resolve().parents[5] / "src" / "exporters" / "flamegraph"
TREE = ([(0, 1000, "n", "all"), (1, 1000, "k", "main"), (2, 400, "k", "schedule"), (3, 30, "i", "tick"),
         (3, 100, "u", "std::vector<int, std::allocator<int>>::push_back", "…::push_back")]
        + [(depth, 640 - 20 * depth, "k", "walk") for depth in range(2, 28)])
MISREAD = {
    "share above 100 %": ("Math.min(f.w, zoomed.w)", "f.w"),
    "lack .* of all": ("'% of all)'", "'%)'"),
    "lack its share of the zoom": ("lines.splice(1, 0, ofZoom(f))", "0"),
    "does not show .'title'": ("addEventListener('scroll'", "addEventListener('never'"),
    "the root is not in the window": ("scrollTo(0, document", "(0, document"),
    "while 'w' is typed": ("addEventListener('input'", "addEventListener('never'"),
    "stands for 60.00%": ("left >= end && ", ""),
    "in the zoom to": ("'Matched: ' + weightOfHits(zoomed)", "'Matched: ' + weightOfHits(root)"),
    "invalid regular expression is not reported": ("query.error\n", "false\n"),
    "Escape does not end": ("if (event.key === 'Escape') endSearch();", ""),
    "does not keep the search": ("state.set('search', query.text)", "0"),
    "does not open zoomed": ("keyOf(f) === key", "false"),
    "Back does not undo": ("addEventListener('hashchange'", "addEventListener('never'"),
    "a link to a frame that is not there": ("note = 'The frame", "text = 'The frame"),
    "has no self time": ("\nself 270 ticks", "\nown 270 ticks"),
    "of its own": ("\nself 270 ticks, 27.00%", "\nself 271 ticks, 27.10%"),
    "does not say interrupt": ("interrupt code", "code"),
    "px long in a frame": ("CHARACTER = layout('character')", "CHARACTER = layout('character') / 2"),
    "by the script": ("? cut + last : cutEnd(last, room)", "? cutEnd(name, room) : cutEnd(last, room)"),
}


def picture():
    """An SVG as ringside writes it, of TREE, roots at the bottom."""
    deepest = max(frame[0] for frame in TREE)
    kinds = dict(svg_reading.KINDS, n="")
    css, theme, label, script = ((ASSETS / name).read_text() for name in
                                 ("flamegraph.css", "flamegraph_theme.css", "flamegraph_label.js", "flamegraph.js"))
    height = 112 + 34 + 19 * (deepest + 1)
    frames, left = "", {0: 0}
    for index, (depth, weight, kind, name, *cut) in enumerate(TREE):
        x, y = 16 + left[depth] * 1.168, 112 + 19 * (deepest - depth)
        left[depth + 1] = left[depth]
        left[depth] += weight
        own = weight
        for below in TREE[index + 1:]:
            if below[0] <= depth:
                break
            own -= below[1] if below[0] == depth + 1 else 0
        hint = f"{name} ({weight:,} ticks, {weight / 10:.2f}%)\nself {own:,} ticks, {own / 10:.2f}%"
        hint += f"\n{kinds[kind]} code in kernel" if kinds[kind] else ""
        frames += (f'<g class="frame {kind}0" data-name="{escape(name)}" data-w="{weight}" data-d="{depth}">'
                   f'<title>{escape(hint)}</title><rect x="{x:.2f}" y="{y}" width="{weight * 1.168:.2f}" height="18"/>'
                   f'<text x="{x + 3:.2f}" y="{y + 13}">{escape(cut[0] if cut else name)}</text></g>\n')
    return f"""<svg id="ringside" xmlns="http://www.w3.org/2000/svg" width="1200" height="{height}" data-width="1200"
 data-narrowest-picture="320" data-margin="16" data-gap="16" data-narrowest-frame="0.1" data-inset="3"
 data-baseline="13" data-character="6.95" data-shortest="3" data-roots="bottom"
 data-unit="ticks"><style><![CDATA[{css}{theme}]]></style><rect id="page" width="100%" height="100%"/><g id="head">
<rect id="head-page" width="100%" height="111"/><text id="title" x="16" y="32">T</text>
<text id="reset" class="button" x="16" y="50">Reset</text><text id="search" class="button" x="90" y="50">Search</text>
<foreignObject id="search-box" x="200" y="30" width="232" height="26"><div xmlns="http://www.w3.org/1999/xhtml"><input
 id="search-input"/></div></foreignObject><text id="details" x="16" y="102"> </text>
<g data-right="16" data-top="102"><text id="matched"> </text></g></g><g id="frames">{frames}</g><text id="foot"/>
<script><![CDATA[{label}{script}]]></script></svg>"""


class Svg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = webdriver.Browser(patience=limits.SOON)
        cls.addClassCleanup(cls.browser.__exit__)

    def use(self, text):
        with tempfile.TemporaryDirectory() as folder:
            svg = pathlib.Path(folder) / "flame.svg"
            svg.write_text(text)
            svg_in_chromium.use(self.browser, argparse.Namespace(svg=svg, png=None))

    def assert_fails(self, failure, message, use, text):
        """A fault shows where something does not happen in time. A short wait comes first; a busy machine needs a long one."""
        for patience in (limits.SOON / 20, limits.SOON / 2):
            self.browser.patience = patience
            with self.assertRaises(failure) as caught:
                use(text)
            self.browser.log()
            if re.search(message, str(caught.exception)):
                break
        self.browser.patience = limits.SOON
        self.assertRegex(str(caught.exception), message)

    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            svg = pathlib.Path(folder) / "flame.svg"
            svg.write_text(text)
            self.browser.open(svg.as_uri())
            svg_reading.run(self.browser, svg)

    def test_the_picture_reads_well(self):
        self.read(picture())

    def test_each_misreading_is_found(self):
        for message, (good, bad) in MISREAD.items():
            with self.subTest(message=message):
                self.assertTrue(good in picture(), good)
                self.assert_fails(svg_reading.Failed, message, self.read, picture().replace(good, bad))

    def test_the_example_works(self):
        self.use(EXAMPLE.read_text())

    def test_each_fault_is_found(self):
        for message, (good, bad) in BROKEN.items():
            with self.subTest(message=message):
                text = EXAMPLE.read_text()
                self.assertIn(good, text)
                self.assert_fails(svg_in_chromium.Failed, message, self.use, text.replace(good, bad))


if __name__ == "__main__":
    if not webdriver.available():
        print("skipped: needs Debian's packages chromium and chromium-driver")
        sys.exit(svg_in_chromium.SKIPPED)
    unittest.main()
