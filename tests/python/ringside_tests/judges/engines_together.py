"""Measures what two engines say of one guest at the same time. Work of the guest's own sampler is left out: the other engine
samples that, and the guest itself does not."""
import json

from ringside_tests.harness import folded, launched
from ringside_tests.judges import engines_agree


def measures(own, ringside, recordings, deadline):
    """A Measure of each recording, by engine. own: a regular expression; stacks with a frame that it matches are left out."""
    found = {}
    for engine, recording in recordings.items():
        stacks = folded.parse(launched.folded_text(ringside, recording, deadline))
        kept = [(stack, count) for stack, count in stacks if not any(own.fullmatch(frame) for frame in stack)]
        print(f"{engine}: {100 * folded.samples(kept) / max(1, folded.samples(stacks)):.1f} % are not the sampler's own")
        found[engine] = engines_agree.Measure()
        found[engine].add(kept, samples(ringside, recording, deadline))
    return found


def samples(ringside, recording, deadline):
    """The recording's samples, as json-lines has them."""
    text = launched.read_back(ringside, deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    return [line for line in map(json.loads, text.splitlines()) if "disposition" in line]
