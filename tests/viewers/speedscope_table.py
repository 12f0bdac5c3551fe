"""speedscope's page, and the table of functions in it."""
import base64
import collections
import pathlib
import re

import viewer_case

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}
ROW = re.compile(r"([\d.]+)(ns|µs|ms|s|) \([\d.<>%]+\)\s+([\d.]+)(ns|µs|ms|s|) \([\d.<>%]+\)\s+(.+)")
OPENED = "return document.body.innerText.includes('Sandwich') && /\\(1\\/\\d+\\)/.test(document.body.innerText)"
ROWS = "return (document.body.innerText.match(/\\([\\d.<>%]+\\)\\s/g) || []).length / 2"


def open_file(browser, path):
    """Opens the page, which reads the file. It stands in a script beside it, for the page is no server's."""
    page = pathlib.Path(viewer_case.viewers()["SPEEDSCOPE"]) / "index.html"
    script = path.with_suffix(".js")
    content = base64.b64encode(path.read_bytes()).decode()
    script.write_text(f'speedscope.loadFileFromBase64("{path.name}","{content}")')
    browser.open(f"file://{page}#localProfilePath={script}")


def text(browser):
    """The page's text with the table, once it shows the first profile. AssertionError where it does not."""
    if not browser.wait(OPENED):
        raise AssertionError("speedscope does not open the file")
    browser.press("3")
    if not browser.wait(f"return document.body.innerText.includes('Symbol Name') && (() => {{ {ROWS} }})() >= 1"):
        raise AssertionError("speedscope shows no functions")
    return browser.run("return document.body.innerText")


def own_times(page):
    """(seconds, by how much they may be off as the page rounds) by function. Functions of one name in several files have
    rows of their own, which are added up."""
    found = collections.defaultdict(lambda: (0.0, 0.0))
    for _, _, own, unit, symbol in ROW.findall(page):
        seconds, off = found[symbol.strip()]
        found[symbol.strip()] = seconds + float(own) * UNITS[unit], off + 0.0051 * UNITS[unit]
    return dict(found)
