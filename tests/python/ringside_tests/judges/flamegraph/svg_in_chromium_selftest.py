"""Tests of svg_in_chromium.py with an example that works and with the same one broken in several ways."""
import argparse
import json
import pathlib
import re
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

from ringside_tests.harness import limits, webdriver
from ringside_tests.judges.flamegraph import svg_frames, svg_in_chromium, svg_keys, svg_reading

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
TREE = ([(0, 10000, "n", "all"), (1, 10000, "k", "main"), (2, 4000, "k", "schedule"), (3, 300, "i", "tick"),
         (3, 1000, "u", "std::vector<int, std::allocator<int>>::push_back", "…::push_back"), (3, 90, "k", "balance"),
         (4, 5, "k", "rare"), (5, 5, "i", "rarer")]
        + [(depth, 6400 - 200 * depth, "k", "walk") for depth in range(2, 28)])
SCALE = 0.1168  # pixels of a unit of weight in a picture of 1200 pixels
PARTS = ("label", "frames", "painter", "search", "address", "keys")
MISREAD = {
    "share above 100 %": ("Math.min(f.w, zoomed.w)", "f.w"),
    "lack .* of all": ("'% of all)'", "'%)'"),
    "lack its share of the zoom": ("lines.splice(1, 0, ofZoom(f))", "0"),
    "does not show .'title'": ("addEventListener('scroll'", "addEventListener('never'"),
    "the root is not in the window": ("scrollTo(0, rootsAtTop", "(0, rootsAtTop"),
    "while 'w' is typed": ("addEventListener('input'", "addEventListener('never'"),
    "stands for 60.00%": ("sum += f.w; i = f.end;", "sum += f.w; ++i;"),
    "in the zoom to": ("'Matched: ' + matchedIn(zoomed)", "'Matched: ' + matchedIn(root)"),
    "invalid regular expression is not reported": ("query.error\n", "false\n"),
    "Escape does not end": ("if (event.key === 'Escape') endSearch();", ""),
    "does not keep the search": ("state.search = query.text", "0"),
    "does not open zoomed": ("keyOf(f) === state.zoom", "false"),
    "Back does not undo": ("addEventListener('hashchange'", "addEventListener('never'"),
    "a link to a frame that is not there": ("note = 'The frame", "text = 'The frame"),
    "has no self time": ("\nself 2,610 ticks", "\nown 2,610 ticks"),
    "of its own": ("\nself 2,610 ticks, 26.10%", "\nself 2,710 ticks, 27.10%"),
    "does not say interrupt": ("interrupt code", "code"),
    "px long in a frame": ("CHARACTER = layout('character')", "CHARACTER = layout('character') / 2"),
    "by the script": ("? cut + last : cutEnd(last, room)", "? cutEnd(name, room) : cutEnd(last, room)"),
    "less than three letters": ("SHORTEST = 4", "SHORTEST = 2"),
}
MISLED = {
    "first arrow": ("event.key.startsWith('Arrow')", "event.key.startsWith('arrow')"),
    "the arrow to the callee": ("best.w >= f.w", "best.w <= f.w"),
    "a sideward arrow leads": ("key === 'ArrowLeft' ? -1 : 1", "0"),
    "looks as all others": (".frame:focus-visible { stroke-width: 2.5; }", ""),
    "details of the focused": ("addEventListener('focusin'", "addEventListener('never'"),
    "Enter: ": ("event.key === 'Enter' || event.key === ' '", "event.key === ' '"),
    "does not start a search": ("event.key === '/'", "event.key === 'never'"),
    "Enter in the search": ("if (hit) walkTo(hit);", ""),
    "Escape outside of the search": ("if (query.text) endSearch(); else", "if (!query.text)"),
    "Escape: ": ("if (query.text) endSearch(); else zoomTo(root);", "if (query.text) endSearch();"),
    "searched for and not drawn": ("if (!isSame) painter.mark();", ""),
    "when the picture is turned over": ("drawFound();\n  }\n\n  function drawFound", "}\n\n  function drawFound"),
    "drawn as found without": ("thin.filter(isHit).map", "thin.filter(f => isHit(f) || found.getAttribute('d')).map"),
    "frames are elements": ("pixels >= NARROWEST_ELEMENT", "pixels >= NARROWEST_FRAME"),
    "is no element in a zoom": ("pixels >= NARROWEST_ELEMENT ||", "f.tail === null ||"),
    "the tooltip .* lacks": ("f.name + f.tail", "f.name + ' (1%)'"),
    "no graphics document": ('role="graphics-document document"', ""),
    "the trees are": ('role="tree"', ""),
    "with their levels": ('aria-level="3"', 'aria-level="4"'),
    "the buttons are": ('role="button"', ""),
    "of a search has no role": ('role="status"', ""),
    "the text fields": ('aria-label="Search"', ""),
    "not turned over": ("turn(!rootsAtTop)", "turn(rootsAtTop)"),
    "does not keep where the roots are": ("state.roots = rootsAtTop", "state.never = rootsAtTop"),
}


def hint(index):
    """The tooltip of a frame of TREE."""
    depth, weight, kind, name, *_ = TREE[index]
    own = weight
    for below in TREE[index + 1:]:
        if below[0] <= depth:
            break
        own -= below[1] if below[0] == depth + 1 else 0
    text = f"{name} ({weight:,} ticks, {weight / 100:.2f}%)\nself {own:,} ticks, {own / 100:.2f}%"
    word = dict(svg_reading.KINDS, n="")[kind]
    return text + (f"\n{word} code in kernel" if word else "")


def frames_of_tree(deepest):
    """The elements of TREE, roots at the bottom, and the numbers and texts of those without room for a letter."""
    frames, numbers, texts, left = "", [], [], {0: 0}
    for index, (depth, weight, kind, name, *cut) in enumerate(TREE):
        x, y, width = 16 + left[depth] * SCALE, 112 + 19 * (deepest - depth), weight * SCALE
        left[depth + 1] = left[depth]
        left[depth] += weight
        if width < 13:
            numbers += [depth, weight, len(texts), len(texts) + 1, len(texts) + 2]
            texts += [f"{kind}0", name, hint(index)[len(name):]]
            continue
        numbers.append(-1)
        label = cut[0] if cut else name if len(name) * 6.95 + 6 <= width else ""
        text = f'<text x="{x + 3:.2f}" y="{y + 13}">{escape(label)}</text>' if label else ""
        frames += (f'<g class="frame {kind}0" data-name="{escape(name)}" data-w="{weight}" data-d="{depth}" role="treeitem"'
                   f' aria-level="{depth + 1}"><title>{escape(hint(index))}</title><rect x="{x:.2f}" y="{y}"'
                   f' width="{width:.2f}" height="18"/>{text}</g>\n')
    return frames, escape(json.dumps({"frames": numbers, "texts": texts}))


def picture():
    """An SVG as ringside writes it, of TREE."""
    deepest = max(frame[0] for frame in TREE)
    css, theme = ((ASSETS / name).read_text() for name in ("flamegraph.css", "flamegraph_theme.css"))
    script = "".join((ASSETS / f"flamegraph_{part}.js").read_text() for part in PARTS)
    script += (ASSETS / "flamegraph.js").read_text()
    height = 112 + 34 + 19 * (deepest + 1)
    frames, narrow = frames_of_tree(deepest)
    return f"""<svg id="ringside" xmlns="http://www.w3.org/2000/svg" width="1200" height="{height}" data-width="1200"
 role="graphics-document document" data-narrowest-picture="320" data-margin="16" data-gap="16" data-narrowest-frame="1"
 data-narrowest-element="13" data-inset="3" data-baseline="13" data-character="6.95" data-frames-top="112"
 data-frame-height="19" data-frame-gap="1" data-thin-gap="0.4" data-depth="{deepest}" data-roots="bottom"><title>T</title>
<style><![CDATA[{css}{theme}]]></style><rect id="page" width="100%" height="100%"/><g id="head">
<rect id="head-page" width="100%" height="111"/><text id="title" x="16" y="32">T</text>
<text id="flip" role="button" class="button" x="170" y="50"><tspan>Icicle</tspan></text>
<text id="reset" role="button" class="button" x="16" y="50">Reset zoom</text>
<text id="search" role="button" class="button" x="100" y="50">Search</text>
<foreignObject id="search-box" x="220" y="30" width="232" height="26"><div xmlns="http://www.w3.org/1999/xhtml"><input
 id="search-input" aria-label="Search"/></div></foreignObject><text id="details" x="16" y="102"> </text>
<g data-right="16" data-top="102"><text id="matched" role="status"> </text></g></g>
<g id="frames" role="tree" aria-label="Call stacks">{frames}</g><g id="thin"/><metadata id="narrow">{narrow}</metadata>
<text id="foot"/><script><![CDATA[{script}]]></script></svg>"""


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

    def read(self, text, judge=svg_reading):
        with tempfile.TemporaryDirectory() as folder:
            svg = pathlib.Path(folder) / "flame.svg"
            svg.write_text(text)
            self.browser.open(svg.as_uri())
            judge.run(self.browser, svg)

    def steer(self, text):
        self.read(text, svg_keys)

    def test_the_picture_reads_and_steers_well(self):
        self.read(picture())
        self.steer(picture())

    def test_each_misreading_is_found(self):
        for faults, use in ((MISREAD, self.read), (MISLED, self.steer)):
            for message, (good, bad) in faults.items():
                with self.subTest(message=message):
                    self.assertTrue(good in picture(), good)
                    self.assert_fails(svg_frames.Failed, message, use, picture().replace(good, bad))

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
