"""Uses an SVG flame graph in a real browser: loads it, zooms, resets, searches, and looks for errors; then
checks what a reader relies on (svg_reading.py).

    python3 -m ringside_tests.judges.flamegraph.svg_in_chromium SVG [--png FILE]

Exit status: 0 all works, 1 something does not, 2 wrong usage, 77 there is no Chromium (skipped).
"""
import argparse
import pathlib
import re
import sys
import time

from ringside_tests.harness import machine, webdriver
from ringside_tests.harness.webdriver import ENTER
from ringside_tests.judges.flamegraph import svg_keys, svg_reading
from ringside_tests.judges.flamegraph.svg_frames import Failed, expect

SKIPPED = 77

# Every frame as it shows: name, left edge and width in pixels; hidden and zero-width ones left out.
VISIBLE = """return [...document.querySelectorAll('#ringside g.frame, g.frame')].map(frame => {
    const box = frame.querySelector('rect').getBoundingClientRect();
    const style = getComputedStyle(frame);
    const shown = style.display !== 'none' && style.visibility !== 'hidden' && Number(style.opacity) > 0;
    return [frame.dataset.name, box.left, box.top, shown ? box.width : 0];
}).filter(frame => frame[3] > 0)"""
SHOWN = """const element = document.querySelector(arguments[0]);
    return !!element && getComputedStyle(element).display !== 'none'
        && getComputedStyle(element).visibility !== 'hidden' && element.getBoundingClientRect().width > 0;"""
FILLS = "return [...document.querySelectorAll('g.frame rect')].map(rect => getComputedStyle(rect).fill)"
TEXT = "const e = document.querySelector(arguments[0]); return e ? e.textContent : null;"
# Marks one frame for clicks: not the widest row, but wide enough that its middle can be hit.
MARK = """const frames = [...document.querySelectorAll('g.frame')]
        .map(frame => [frame, frame.querySelector('rect').getBoundingClientRect()])
        .filter(([, box]) => box.width > 0);
    const widest = Math.max(...frames.map(([, box]) => box.width));
    const [target] = frames.filter(([, box]) => box.width < widest * 0.95)
        .sort((a, b) => b[1].width - a[1].width)[0] || [null];
    if (!target) return null;
    target.querySelector('rect').id = 'test-target';
    return target.dataset.name;"""


def no_errors(browser, when):
    errors = [entry["message"] for entry in browser.log() if entry["level"] == "SEVERE"]
    expect(not errors, f"JavaScript errors {when}: {errors}")


def loads(browser):
    expect(browser.run("return document.documentElement.id") == "ringside", "the root is not <svg id=\"ringside\">")
    frames = browser.run(VISIBLE)
    expect(len(frames) >= 2, f"only {len(frames)} frames are visible")
    expect(all(name for name, *_ in frames), "a frame has no data-name")
    bare = browser.run("return [...document.querySelectorAll('g.frame')]"
                       ".filter(f => !f.querySelector('title') || !f.querySelector('title').textContent).length")
    expect(bare == 0, f"{bare} frames have no title to show as a tooltip")
    hints = browser.run("return [...document.querySelectorAll('g.frame title')].map(t => t.textContent)")
    bare = [hint for hint in hints if not re.search(r"\d", hint) or "%" not in hint]
    expect(not bare, f"a tooltip has no count and share: {bare[:3]}")
    return frames


def details_follow_the_pointer(browser):
    browser.run("document.querySelector('#test-target').parentNode.dispatchEvent("
                "new MouseEvent('mouseover', {bubbles: true}))")
    expect(browser.wait("return document.querySelector('#details').textContent.trim().length > 0"),
           "#details stays empty over a frame")


def zooms(browser, before):
    name = browser.run(MARK)
    expect(name, "every frame is as wide as the picture: nothing to zoom into")
    details_follow_the_pointer(browser)
    width = browser.run("return document.querySelector('#test-target').getBoundingClientRect().width")
    browser.click("#test-target")
    grown = browser.wait("return document.querySelector('#test-target').getBoundingClientRect().width"
                         " > arguments[0] * 1.04", width)
    expect(grown, f"a click on {name} does not make it wider")
    for _ in range(40):  # the zoom is a movement
        after = browser.run(VISIBLE)
        widest = max(frame[3] for frame in after)
        wide = browser.run("return document.querySelector('#test-target').getBoundingClientRect().width")
        if wide >= widest * 0.98:
            break
        time.sleep(0.05)
    expect(wide >= widest * 0.98, f"{name} is {wide:.0f} px wide after the zoom, the widest frame {widest:.0f} px")
    expect(_sorted(after) != _sorted(before), "the visible frames are the same after the zoom")
    no_errors(browser, "after a zoom")


def resets(browser, before):
    expect(browser.wait(SHOWN, "#reset"), "#reset is not shown after a zoom")
    browser.click("#reset")
    wanted = _sorted(before)
    for _ in range(40):
        if (now := _sorted(browser.run(VISIBLE))) == wanted:
            break
        time.sleep(0.05)
    expect(now == wanted, f"after a reset {len(now)} frames stand, not as the {len(wanted)} of the beginning")
    no_errors(browser, "after a reset")


def searches(browser, before, by_key):
    """Searches for a visible frame's name; the matched share must show and lie in 0..100 %, not 0."""
    word = _word_of_a_frame(before)
    before_fill = browser.run(FILLS)
    if by_key:
        browser.press_with_control("f")
    else:
        browser.click("#search")
    how = "Ctrl-F" if by_key else "a click on #search"
    expect(browser.wait(SHOWN, "#search-input"), f"{how} shows no #search-input")
    focused = browser.wait("const a = document.activeElement; const i = document.querySelector('#search-input');"
                           "return a === i || i.contains(a)")
    expect(focused, f"{how} does not put the focus into #search-input")
    browser.press(word)
    browser.press(ENTER)
    browser.wait("return /%/.test(document.querySelector('#matched').textContent)")
    expect(browser.run(SHOWN, "#matched"), "#matched is not shown after a search")
    matched = browser.run(TEXT, "#matched")
    share = re.search(r"(\d+(?:\.\d+)?)\s?%", matched)
    expect(share, f"#matched tells no percentage: {matched!r}")
    expect(0 < float(share.group(1)) <= 100, f"the matched share of a visible frame is {matched!r}")
    after_fill = browser.run(FILLS)
    expect(before_fill != after_fill, "no frame changes its colour by a search")
    no_errors(browser, "after a search")
    browser.open(browser.run("return location.href.split('#')[0]"))


def _word_of_a_frame(frames):
    """A word of the name of the widest frame that does not fill the picture; good as a regex and as plain text."""
    widest = max(frame[3] for frame in frames)
    name = max((frame for frame in frames if frame[3] < widest * 0.95), key=lambda frame: frame[3])[0]
    return max(re.findall(r"\w+", name), key=len)


def _sorted(frames):
    return sorted((name, round(left), round(top), round(width)) for name, left, top, width in frames)


def run(browser, options):
    """Everything: how the page answers, and what it says."""
    use(browser, options)
    svg_reading.run(browser, options.svg)
    svg_keys.run(browser, options.svg)
    no_errors(browser, "after all")
    print("shares, search, links, tooltips, labels, keys and roles are right, the head stays")


def use(browser, options):
    browser.open(options.svg.resolve().as_uri())
    frames = loads(browser)
    no_errors(browser, "after loading")
    if options.png:
        options.png.write_bytes(browser.screenshot())
    zooms(browser, frames)
    resets(browser, frames)
    searches(browser, frames, by_key=False)
    searches(browser, frames, by_key=True)
    picture = browser.screenshot()
    expect(picture.startswith(b"\x89PNG") and len(picture) > 2000, "the screenshot is no picture")
    print(f"{len(frames)} frames: loads, zooms, resets and searches without an error")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("svg", type=pathlib.Path)
    parser.add_argument("--png", type=pathlib.Path, help="write a screenshot of the loaded page to this file")
    options = parser.parse_args(arguments)
    if not options.svg.is_file():
        parser.error(f"no file {options.svg}")
    if not webdriver.available():
        print("skipped: needs Debian's packages chromium and chromium-driver")
        return SKIPPED
    machine.exit_on_signals()
    try:
        with webdriver.Browser() as browser:
            run(browser, options)
    except (Failed, webdriver.WebDriverError) as error:
        print(f"FAILED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
