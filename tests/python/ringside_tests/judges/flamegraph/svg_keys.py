"""Checks what a reader without a mouse or without a screen relies on, against the frames as the file has them: keys that walk,
zoom and search, the button that turns the picture over, and what Chromium's accessibility tree shows."""
import re

from ringside_tests.harness import webdriver
from ringside_tests.judges.flamegraph import svg_reading
from ringside_tests.judges.flamegraph.svg_frames import Failed, expect, frames_of, matched_weight

UP, DOWN, LEFT, RIGHT = "\ue013", "\ue015", "\ue012", "\ue014"
FOCUS = svg_reading.FIND + """const element = document.activeElement;
    return [...keyed()].filter(([, frame]) => frame === element).map(([key]) => key)[0] || (element && element.id);"""
# The outline of a frame, and that of one without the focus.
RING = svg_reading.FIND + """const looks = frame => {
        const style = getComputedStyle(frame.querySelector('rect'));
        return [style.stroke, style.strokeWidth];
    };
    return [looks(document.activeElement), looks(find(arguments[0]))];"""
ROOTS_AT_TOP = "return document.documentElement.dataset.roots === 'top'"
TOPS = svg_reading.FIND + "return arguments.length && [...arguments].map(key => box_of(key).top)"
ELEMENTS = svg_reading.FIND + "return [...keyed().keys()]"
LEAST = 13  # pixels of a frame that is an element
# The classes of the paths at a place of the picture, the topmost last, and the path of all that a search has found. The place:
# a share of the root's width, and so many rows away from the root.
PATHS = svg_reading.FIND + """const svg = document.querySelector('#ringside'), [root, child, share, depth] = arguments;
    const rect = key => find(key).querySelector('rect'), number = (key, name) => Number(rect(key).getAttribute(name));
    const at = svg.createSVGPoint(), paths = [...document.querySelectorAll('#thin path')];
    at.x = number(root, 'x') + share * number(root, 'width');
    at.y = number(root, 'y') + depth * (number(child, 'y') - number(root, 'y')) + number(root, 'height') / 2;
    return [paths.filter(path => path.isPointInFill(at)).map(path => path.getAttribute('class')),
            paths.filter(path => path.getAttribute('class') === 'match').map(path => path.getAttribute('d') || '').join('')]"""


def _expect_focus(browser, frame, how):
    there = browser.run(FOCUS)
    expect(there == frame.key, f"{how} leads to {there!r}, not to {frame.key!r}")


def _expect_width(browser, frame, width, how):
    there = browser.wait(svg_reading.FIND + "return Math.abs(box_of(arguments[0]).width - arguments[1]) < 1", frame.key, width)
    expect(there, f"{how}: {frame.name} does not become {width:.0f} px wide")


def heaviest(frames):
    """The first of the heaviest."""
    return max(frames, key=lambda frame: frame.weight)


def keys_walk(browser, frames):
    """From the root to the heaviest callee and on, to its neighbour, and back. A shown focus has another outline."""
    towards, away = (UP, DOWN) if browser.run(ROOTS_AT_TOP) else (DOWN, UP)
    browser.press(away)
    _expect_focus(browser, frames[0], "the first arrow")
    path = [frames[0]]
    while path[-1].children and len(path) < 4:
        path.append(heaviest(path[-1].children))
        browser.press(away)
        _expect_focus(browser, path[-1], "the arrow to the callee")
    with_focus, without = browser.run(RING, frames[0].key)
    expect(with_focus != without, "the frame with the focus looks as all others")
    details = browser.run("return document.querySelector('#details').textContent")
    expect(path[-1].hint.split("\n")[0] in details, f"the details of the focused {path[-1].name} are {details!r}")
    for frame in reversed(path[:-1]):
        browser.press(towards)
        _expect_focus(browser, frame, "the arrow to the caller")
    browser.press(away * (len(path) - 1))
    _expect_focus(browser, path[-1], "the way back")
    browser.press(towards * len(path))
    _expect_focus(browser, frames[0], "an arrow beyond the root")
    neighbours_are_sidewards(browser, frames, away)


def neighbours_are_sidewards(browser, frames, away):
    """From the root on, where a frame has two callees of a pixel and more."""
    width = browser.run(svg_reading.BOX, frames[0].key)[2]
    wide = [frames[0]]
    while len(wide) == 1:
        browser.press(away)
        wide = [child for child in wide[0].children if child.weight * width / frames[0].weight >= 1]
    if not wide:
        return
    at = wide.index(heaviest(wide))
    key, back, other = (RIGHT, LEFT, at + 1) if at + 1 < len(wide) else (LEFT, RIGHT, at - 1)
    browser.press(key)
    _expect_focus(browser, wide[other], "a sideward arrow")
    browser.press(back)
    _expect_focus(browser, wide[at], "the sideward arrow back")


def keys_zoom_and_search(browser, frames):
    """Enter zooms to the frame with the focus; / searches; Enter in the search goes to the heaviest hit; Escape ends both."""
    target = svg_reading.target_of(frames)
    before, full = (browser.run(svg_reading.BOX, frame.key)[2] for frame in (target, frames[0]))
    walk_to(browser, target, before)
    browser.press(webdriver.ENTER)
    _expect_width(browser, target, full, "Enter")
    browser.press("/")
    expect(browser.run(FOCUS) == "search-input", "/ does not start a search")
    word = max(re.findall(r"\w+", target.name), key=len)
    browser.press(word)
    weight = matched_weight(frames[0], re.compile(word, re.IGNORECASE))
    matched = browser.run(svg_reading.MATCHED)
    expect(svg_reading.share(weight, frames[0].weight) in matched, f"/ and {word!r} show {matched!r}")
    browser.press(webdriver.ENTER)
    there = browser.run(FOCUS)
    expect(re.search(word, there.split("\n")[-1], re.IGNORECASE), f"Enter in the search leads to {there!r}")
    browser.press(webdriver.ESCAPE)
    expect(browser.run(svg_reading.MATCHED) == "", "Escape outside of the search does not end it")
    browser.press(webdriver.ESCAPE)
    _expect_width(browser, target, before, "Escape")


def walk_to(browser, frame, width):
    """By a click and Escape: the focus stays."""
    svg_reading.zoom(browser, frame)
    browser.press(webdriver.ESCAPE)
    _expect_width(browser, frame, width, "Escape")
    expect(browser.run(FOCUS) == frame.key, f"the focus leaves {frame.name} by Escape")


def narrow_frames_wait(browser, frames):
    """A frame without room for a letter is no element, but is one in a zoom that makes it wide. The search counts it."""
    width = browser.run(svg_reading.BOX, frames[0].key)[2]
    elements = set(browser.run(ELEMENTS))
    wide = {frame.key for frame in frames if frame.weight * width / frames[0].weight >= LEAST + 0.1}
    some = {frame.key for frame in frames if frame.weight * width / frames[0].weight >= LEAST - 0.1}
    focus = browser.run(FOCUS)
    expect(wide <= elements <= some | {focus}, f"{len(elements)} frames are elements, {len(wide)} are wide")
    narrow = [frame for frame in frames if frame.key not in elements and frame.parent.key in elements
              and frame.weight * width / frame.parent.weight > 2 * LEAST]
    if not narrow:
        return
    target = heaviest(narrow)
    svg_reading.zoom(browser, target.parent)
    expect(browser.run(svg_reading.BOX, target.key)[2] > LEAST, f"{target.name} is no element in a zoom that makes it wide")
    hint = browser.run(svg_reading.HOVER, target.key)[1]
    lines = [line for line in target.hint.split("\n")[1:] if line not in hint]
    expect(not lines, f"the tooltip {hint!r} of {target.name} lacks {lines}")
    browser.press(webdriver.ESCAPE)


def _middle(frame):
    """The middle of a frame, in the weight to its left."""
    at = frame.weight / 2
    while frame.parent:
        siblings = frame.parent.children
        at += sum(sibling.weight for sibling in siblings[:siblings.index(frame)])
        frame = frame.parent
    return at


def narrow_frames_are_found(browser, frames):
    """Frames without an element that a search finds are drawn over the others, also when the picture is turned over."""
    width = browser.run(svg_reading.BOX, frames[0].key)[2]
    names = [frame.name for frame in frames]
    narrow = [frame for frame in frames
              if 3 < frame.weight * width / frames[0].weight < LEAST - 1 and names.count(frame.name) == 1]
    if not narrow:
        return
    target, child = heaviest(narrow), heaviest(frames[0].children)
    place = (frames[0].key, child.key, _middle(target) / frames[0].weight, target.depth)
    before, none = browser.run(PATHS, *place)
    expect([name[0] for name in before] == [target.kind] and not none, f"{target.name} stands as {before}, found is {none!r}")
    browser.press("/")
    browser.press("^" + re.escape(target.name) + "$")
    expect(browser.run(PATHS, *place)[0] == [*before, "match"], f"{target.name} is searched for and not drawn as found")
    browser.run("document.querySelector('#flip').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    expect(browser.run(PATHS, *place)[0] == [*before, "match"], f"{target.name} is not found when the picture is turned over")
    browser.press(webdriver.ESCAPE)
    expect(browser.run(PATHS, *place) == [before, ""], f"{target.name} is drawn as found without a search")


def turns_over(browser, frames):
    """The button puts the roots at the other edge, and the address keeps it."""
    child = heaviest(frames[0].children)
    before = browser.run(TOPS, frames[0].key, child.key)
    for _ in range(2):
        browser.run("document.querySelector('#flip').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        now = browser.run(TOPS, frames[0].key, child.key)
        expect((now[0] < now[1]) != (before[0] < before[1]), "the picture is not turned over")
        before = now
        link = browser.run("return location.href")
        browser.open("about:blank")
        browser.open(link)
        now = browser.run(TOPS, frames[0].key, child.key)
        expect((now[0] < now[1]) == (before[0] < before[1]), f"{link} does not keep where the roots are")


def has_roles(browser, frames):
    """Chromium's accessibility tree: a named document with a tree of named frames, buttons, a text field and a status."""
    nodes = browser.command("Accessibility.getFullAXTree")["nodes"]
    roles = {}
    for node in nodes:
        levels = [one["value"].get("value") for one in node.get("properties", []) if one["name"] == "level"]
        roles.setdefault(node.get("role", {}).get("value"), []).append((node.get("name", {}).get("value", ""), *levels))
    title = browser.run("return document.querySelector('#title').textContent")
    expect(roles.get("graphics-document") == [(title,)], f"no graphics document is named {title!r}")
    expect([name for name, *_ in roles.get("tree", [])] == ["Call stacks"], f"the trees are {roles.get('tree')}")
    by_key = {frame.key: frame for frame in frames}
    there = sorted((by_key[key].hint.split("\n")[0], by_key[key].depth + 1) for key in browser.run(ELEMENTS))
    items = sorted((name[:len(hint)], level) for (name, level), (hint, _) in zip(sorted(roles.get("treeitem", [])), there))
    expect(items == there and len(roles["treeitem"]) == len(there),
           f"{len(roles.get('treeitem', []))} items of the tree are not the {len(there)} frames with their levels")
    expect([name for name, *_ in roles.get("button", [])] in (["Icicle", "Reset zoom", "Search"],
                                                              ["Flame", "Reset zoom", "Search"]),
           f"the buttons are {roles.get('button')}")
    expect("status" in roles, "the result of a search has no role")
    browser.press("/")
    fields = browser.command("Accessibility.getFullAXTree")["nodes"]
    fields = [node["name"]["value"] for node in fields if node.get("role", {}).get("value") == "textbox"]
    expect(fields == ["Search"], f"the text fields are {fields}")
    browser.press(webdriver.ESCAPE)


def run(browser, svg):
    """All of them, on a page that shows the file."""
    frames = frames_of(svg)
    address = browser.run("return location.href.split('#')[0]")
    browser.resize(*webdriver.WINDOW)
    for check in (keys_walk, keys_zoom_and_search, narrow_frames_wait, narrow_frames_are_found, has_roles, turns_over):
        browser.open("about:blank")
        browser.open(address)
        check(browser, frames)
