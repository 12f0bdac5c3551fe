"""Checks in a browser what a reader of a flame graph relies on, against the frames as the file has them.

Expected numbers are computed here from each frame's weight and depth, not by the page's own script.
"""
import re
import urllib.parse

from ringside_tests.harness import webdriver
from ringside_tests.judges.flamegraph.svg_frames import Failed, expect, frames_of, matched_weight

SHARE = r"(\d+\.\d\d)%"
# The element of a frame by its key. A page has only elements of those that are wide enough.
FIND = """const keyed = () => {
        const path = [];
        return new Map([...document.querySelectorAll('g.frame')].map(frame => {
            path.length = Number(frame.dataset.d);
            path.push(frame.getAttribute('class').split(' ')[1][0] + frame.dataset.name);
            return [path.join('\\n'), frame];
        }));
    };
    const find = key => keyed().get(key);
    const box_of = key => find(key) ? find(key).querySelector('rect').getBoundingClientRect() : new DOMRect();
    """
BOX = FIND + """const box = box_of(arguments[0]);
    return [box.left, box.top, box.width, box.height];"""
HOVER = FIND + """const frame = find(arguments[0]);
    frame.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
    return [document.querySelector('#details').textContent, frame.querySelector('title').textContent];"""
CLICK = FIND + """find(arguments[0]).querySelector('rect')
    .dispatchEvent(new MouseEvent('click', {bubbles: true}))"""
MATCHED = "return document.querySelector('#matched').textContent"
SETTLED = FIND + """const box = box_of(arguments[0]);
    const all = document.querySelectorAll('g.frame')[0].querySelector('rect').getBoundingClientRect();
    return Math.abs(box.width - all.width) < 0.5"""
# The window hears of a scroll when it is drawn next, which a busy host puts off.
HEAD = """scrollTo(0, arguments[0]);
    const seen = id => {
        const box = document.getElementById(id).getBoundingClientRect();
        const hit = document.elementFromPoint(box.left + 8, box.top + box.height / 2);
        return box.top >= 0 && box.bottom <= innerHeight && !(hit && hit.closest('.frame'));
    };
    const hidden = () => ['title', 'details', 'search', 'reset'].filter(id => !seen(id));
    const end = performance.now() + 5000;
    return new Promise(done => setTimeout(function look() {
        if (hidden().length === 0 || performance.now() > end) done([scrollY, hidden()]);
        else setTimeout(look, 100);
    }, 100));"""
DRAWN = """const svg = document.documentElement, all = document.querySelector('g.frame rect').getBoundingClientRect();
    return Math.abs(svg.getBoundingClientRect().width - all.width - 2 * svg.dataset.margin) < 0.5"""
LABELS = FIND + """return [...keyed()].map(([key, frame]) => {
    const text = frame.querySelector('text'), box = frame.querySelector('rect').getBoundingClientRect();
    return [key, text ? text.textContent : '', text && text.textContent ? text.getComputedTextLength() : 0, box.width];
})"""
KINDS = {"k": "kernel", "u": "user", "i": "interrupt", "f": "firmware", "x": "unknown"}


def share(part, whole):
    return f"{100 * part / whole:.2f}%"


def _near(text, part, whole):
    """Whether a share as it is written is right; languages round a half differently."""
    return abs(float(text) - 100 * part / whole) <= 0.0051


def zoom(browser, frame):
    browser.run(CLICK, frame.key)
    expect(browser.wait(SETTLED, frame.key), f"{frame.name} does not fill the picture after a click")


def target_of(frames):
    """A frame to zoom to: of less than 95 % of all, with others above it, the heaviest of those."""
    for wanted in (1, 0):
        inner = [f for f in frames if 0 < f.weight < frames[0].weight * 0.95 and len(f.children) >= wanted]
        if inner:
            return max(inner, key=lambda f: (f.weight, f.depth))
    raise Failed("every frame is as wide as the picture: nothing to zoom into")


def zoom_keeps_shares(browser, frames):
    """The zoomed frame, those on it and those below it show their share of all; all but the first, that of the zoom too."""
    target = target_of(frames)
    zoom(browser, target)
    wide = [child for child in target.children if child.weight > target.weight / 50]
    for frame in [target] + wide[:3] + target.above():
        for where, text in zip(("the details", "the tooltip"), browser.run(HOVER, frame.key)):
            shares = [float(number) for number in re.findall(SHARE, text)]
            expect(all(number <= 100 for number in shares), f"after a zoom {where} have a share above 100 %: {text!r}")
            of_all = re.search(SHARE + r" of all", text)
            expect(of_all and _near(of_all.group(1), frame.weight, frames[0].weight),
                   f"after a zoom {where} of {frame.name} lack {share(frame.weight, frames[0].weight)} of all: {text!r}")
            if frame is target:
                continue
            of_zoom = re.search(SHARE + r" of (?!all)", text)
            expect(of_zoom and _near(of_zoom.group(1), min(frame.weight, target.weight), target.weight),
                   f"{where} of {frame.name} lack its share of the zoom to {target.name}: {text!r}")
    zoom(browser, frames[0])


def head_stays(browser, frames):
    """Title, details and buttons are in the window wherever it is scrolled to; at first the root is in it too."""
    browser.resize(1000, 480)
    _open_anew(browser)
    height = browser.run("return innerHeight")
    top = browser.run(BOX, frames[0].key)[1]
    expect(0 <= top < height, f"the root is not in the window at first, but at {top:.0f} of {height}")
    for goal in (0, 200, 100000, 300, 0):
        at, hidden = browser.run(HEAD, goal)
        expect(not hidden, f"scrolled to {at:.0f}, the window does not show {hidden}")
    browser.resize(*webdriver.WINDOW)
    _open_anew(browser)


def _open_anew(browser):
    """Not by a reload, which would scroll to where the window stood before."""
    address = browser.run("return location.href.split('#')[0]")
    browser.open("about:blank")
    browser.open(address)


def searches_while_typing(browser, frames):
    """Each letter searches; a zoom's share is of the zoom; what is no regular expression is said."""
    target = target_of(frames)
    word = max(re.findall(r"\w+", (target.children or [target])[0].name), key=len)
    browser.press_with_control("f")
    for end in range(1, len(word) + 1):
        browser.press(word[end - 1])
        weight = matched_weight(frames[0], re.compile(word[:end], re.IGNORECASE))
        _expect_matched(browser, weight, frames[0].weight, f"while {word[:end]!r} is typed")
    zoom(browser, target)
    pattern = re.compile(word, re.IGNORECASE)
    inside = any(pattern.search(f.name) for f in target.above()[:-1])
    weight = target.weight if inside else matched_weight(target, pattern)
    _expect_matched(browser, weight, target.weight, f"in the zoom to {target.name}")
    zoom(browser, frames[0])
    browser.run("const i = document.querySelector('#search-input'); i.focus(); i.select()")
    browser.press("(")
    said = browser.wait("const t = document.querySelector('#matched').textContent;"
                        "return /regular expression/.test(t) && t")
    expect(said, f"an invalid regular expression is not reported: {browser.run(MATCHED)!r}")
    errors = [entry["message"] for entry in browser.log() if entry["level"] == "SEVERE"]
    expect(not errors, f"JavaScript errors by an invalid regular expression: {errors}")
    browser.press(webdriver.ESCAPE)
    expect(browser.run(MATCHED) == "", "Escape does not end the search")


def _expect_matched(browser, weight, whole, when):
    text = browser.run(MATCHED)
    shown = re.search(SHARE, text)
    expect(shown and _near(shown.group(1), weight, whole), f"{when}, {text!r} stands for {share(weight, whole)}")


def links_keep_the_view(browser, frames):
    """A link opens with its zoom and its search; the browser's Back undoes them."""
    target = target_of(frames)
    start = browser.run("return location.href.split('#')[0]")
    browser.open(start)
    zoom(browser, target)
    browser.press_with_control("f")
    browser.press("[a-m]+")
    view = "return [document.querySelector('#matched').textContent, document.querySelector('#search-input').value]"
    wanted, link = browser.run(view), browser.run("return location.href")
    expect(link.startswith(start + "#") and "search=" + urllib.parse.quote_plus("[a-m]+") in link,
           f"the address does not keep the search: {link}")
    browser.open("about:blank")
    browser.open(link)
    expect(browser.wait(SETTLED, target.key), f"{link} does not open zoomed to {target.name}")
    expect(browser.run(view) == wanted, f"{link} opens with {browser.run(view)}, not with {wanted}")
    browser.open("about:blank")
    browser.open(start)
    full = browser.run(BOX, target.key)[2]
    zoom(browser, target)
    browser.run("history.back()")
    undone = browser.wait(FIND + "const box = box_of(arguments[0]); return Math.abs(box.width - arguments[1]) < 1", target.key, full)
    expect(undone, "the browser's Back does not undo a zoom")
    browser.open("about:blank")
    browser.open(start + "#zoom=0123456789abcdef")
    said = browser.run("return document.querySelector('#details').textContent")
    expect("not in this picture" in said, f"a link to a frame that is not there opens with {said!r}")
    browser.open(start)


def tooltips_show_all(frames, complete):
    """Self weight and share, and the kind of code. complete: no frame was left out."""
    total = frames[0].weight
    for frame in frames:
        lines = frame.hint.split("\n")
        own = re.fullmatch(r"self ([\d,]+) \w+, " + SHARE, lines[1] if len(lines) > 1 else "")
        expect(own, f"the tooltip of {frame.name} has no self time: {frame.hint!r}")
        weight, rest = int(own.group(1).replace(",", "")), frame.weight - sum(f.weight for f in frame.children)
        expect(weight == rest if complete else weight <= rest,
               f"{frame.name} has {weight} of its own, but {rest} is not in the frames on it")
        expect(_near(own.group(2), weight, total), f"{frame.name}: {weight} of {total} is not {own.group(2)} %")
        if frame.kind in KINDS:
            expect(len(lines) == 3 and lines[2].startswith(KINDS[frame.kind] + " code"),
                   f"the tooltip of {frame.name} does not say {KINDS[frame.kind]}: {frame.hint!r}")


def labels_fit(browser, frames):
    """Labels stay inside of their frames; at the file's own width the script writes those of the file."""
    browser.resize(900, 700)
    expect(browser.wait(DRAWN), "the picture does not follow the width of its window")
    for key, label, length, width in browser.run(LABELS):
        expect(length <= width, f"{label!r} is {length:.0f} px long in a frame of {width:.0f} px")
        name, pieces = key.split("\n")[-1][1:], label.split("…")
        expect(re.search(".*".join(map(re.escape, pieces)), name), f"{name!r} is labelled {label!r}")
        expect(len(pieces) == 1 or len(label) > 3, f"{name!r} is labelled {label!r}, of less than three letters")
    wanted = int(browser.run("return document.documentElement.dataset.width"))
    width = wanted
    for _ in range(4):  # a scroll bar may take some of it
        browser.resize(width, 900)
        width += wanted - round(browser.run("return document.documentElement.getBoundingClientRect().width"))
    expect(browser.wait(DRAWN), f"the picture does not become {wanted} px wide")
    here = {key: label for key, label, _, _ in browser.run(LABELS)}
    there = {frame.key: frame.label for frame in frames if frame.label is not None}
    for key in there.keys() | here.keys():
        expect(here.get(key) == there.get(key), f"{key!r} is {there.get(key)!r} in the file, {here.get(key)!r} by the script")
    browser.resize(*webdriver.WINDOW)


def run(browser, svg):
    """All of them, on a page that shows the file."""
    frames = frames_of(svg)
    complete = "left out" not in (browser.run("return document.querySelector('#foot').textContent") or "")
    tooltips_show_all(frames, complete)
    labels_fit(browser, frames)
    head_stays(browser, frames)
    zoom_keeps_shares(browser, frames)
    searches_while_typing(browser, frames)
    links_keep_the_view(browser, frames)
