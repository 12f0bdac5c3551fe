"""Measures what two engines say of one guest at the same time. Work of the guest's own sampler is left out: the other engine
samples that, and the guest itself does not."""
import json

from ringside_tests.harness import folded, launched
from ringside_tests.judges import engines_agree, findings


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


def judged(options, recordings, measures, complete, deadline, waits=None):
    """The Findings of both recordings. options: those of harness/together.py. waits: a regular expression of functions whose
    shares are not compared."""
    found = findings.Findings(options.ringside, deadline)
    found.add(*engines_agree.check_stacks(measures, complete))
    shares = engines_agree.check_shares(measures, options.points)
    found.add_shares([line for line in shares if not (waits and waits.fullmatch(line.partition(":")[0]))], *recordings.values())
    for engine, measure in measures.items():
        found.add_few(engines_agree.check_count(engine, measure, options.busy), recordings[engine], options.busy)
    print("\n".join(engines_agree.table(measures)))
    return found


def samples(ringside, recording, deadline):
    """The recording's samples, as json-lines has them."""
    text = launched.read_back(ringside, deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    return [line for line in map(json.loads, text.splitlines()) if "disposition" in line]
