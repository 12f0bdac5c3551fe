"""The frames of a flame graph as its file has them: elements of the page, and numbers where they are narrow."""
import dataclasses
import json
import xml.etree.ElementTree

NAMESPACE = "{http://www.w3.org/2000/svg}"


class Failed(Exception):
    """A fault of the page; the message describes it."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


@dataclasses.dataclass
class Frame:
    """A frame as it stands in the file."""
    name: str
    weight: int
    depth: int
    kind: str
    hint: str
    label: str = None  # None: no element of the page
    parent: "Frame" = None
    children: list = dataclasses.field(default_factory=list)

    def above(self):
        """The frames that this one stands on, the root last."""
        return [] if self.parent is None else [self.parent] + self.parent.above()

    @property
    def key(self):
        """Kinds and names from the root on."""
        return "\n".join(frame.kind + frame.name for frame in reversed([self] + self.above()))


def _element(group):
    text = group.find(NAMESPACE + "text")
    return Frame(group.get("data-name"), int(group.get("data-w")), int(group.get("data-d")), group.get("class").split()[1][0],
                 group.find(NAMESPACE + "title").text, "" if text is None else text.text or "")


def _in_order(tree):
    """The elements of the page and, at their places, the frames that are numbers (src/exporters/flamegraph/narrow_frames.h)."""
    elements = [_element(group) for group in tree.iter(NAMESPACE + "g") if "frame" in group.get("class", "").split()]
    block = tree.find(f".//{NAMESPACE}metadata[@id='narrow']")
    numbers, texts = ([], []) if block is None else json.loads(block.text).values()
    at = 0
    while at < len(numbers):
        if numbers[at] < 0:
            for _ in range(-numbers[at]):
                yield elements.pop(0)
            at += 1
        else:
            depth, weight, kind, name, tail = numbers[at:at + 5]
            yield Frame(texts[name], weight, depth, texts[kind][0], texts[name] + texts[tail])
            at += 5
    yield from elements


def frames_of(svg):
    """The frames of a file, in its order: each behind its parent."""
    frames, path = [], []
    for frame in _in_order(xml.etree.ElementTree.parse(svg)):
        path[frame.depth:] = [frame]
        if frame.depth > 0:
            frame.parent = path[frame.depth - 1]
            frame.parent.children.append(frame)
        frames.append(frame)
    return frames


def matched_weight(frame, pattern):
    """The weight under matching frames, each sample once."""
    if frame.depth > 0 and pattern.search(frame.name):
        return frame.weight
    return sum(matched_weight(child, pattern) for child in frame.children)
