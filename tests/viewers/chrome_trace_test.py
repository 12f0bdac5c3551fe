"""The format chrome-trace: the Performance panel of Chromium's developer tools reads ringside's threads, stacks, times and
events."""
import collections
import json
import unittest

import viewer_case
from ringside_tests.harness import webdriver

FILE_INPUT = """
const inside = (root, found) => { for (const element of root.querySelectorAll('*')) {
  if (element.matches('input[type=file]')) found.push(element);
  if (element.shadowRoot) inside(element.shadowRoot, found); } return found; };
const found = inside(document, []);
return found.length ? found[0] : null;"""
# The panel's own model of the trace: for each thread its samples as stacks, leaf first, and their times; and all events.
PARSED = """
return (async () => {
  const panel = (await import('devtools://devtools/bundled/panels/timeline/timeline.js')).TimelinePanel;
  const trace = panel.TimelinePanel.instance().model.parsedTrace(0);
  const data = trace && (trace.data || trace);
  if (!data) return null;
  const threads = {};
  for (const [pid, profiles] of data.Samples.profilesInProcess) for (const [tid, profile] of profiles) {
    const nodes = new Map(profile.rawProfile.nodes.map(node => [node.id, node]));
    const stack = id => { const names = [];
      for (let node = nodes.get(id); node; node = nodes.get(node.parent)) names.push(node.callFrame.functionName);
      return names.join('\\n'); };
    threads[pid + '/' + tid] = {start: profile.rawProfile.startTime, deltas: profile.rawProfile.timeDeltas,
                                stacks: profile.rawProfile.samples.map(stack)};
  }
  const events = trace.traceEvents.filter(event => event.ph === 'i' || event.ph === 'X')
                                  .map(event => [event.name, event.ts, event.dur || 0, event.args]);
  return JSON.stringify({threads, events});
})();"""


@unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
class ChromeTrace(viewer_case.ViewerCase):
    def parsed(self, path):
        with webdriver.Browser() as browser:
            browser.open("devtools://devtools/bundled/devtools_app.html?panel=timeline")
            browser.wait(FILE_INPUT)
            browser.choose_file(FILE_INPUT, path)
            text = browser.wait(PARSED)
        self.assertTrue(text, "the panel has not opened the file")
        return json.loads(text)

    def test_threads_stacks_and_times_are_those_of_the_samples(self):
        def check(name):
            path = self.export(name, "out.trace.json", "--source", "cpu")
            parsed = self.parsed(path)
            numbers = {event["args"]["name"]: f"{event['pid']}/{event['tid']}"
                       for event in json.loads(path.read_text())["traceEvents"] if event["name"] == "thread_name"}
            self.assertEqual(len(set(numbers.values())), len(numbers), numbers)
            thread_of = self.thread_of(name)
            there = collections.Counter()
            for thread, samples in parsed["threads"].items():
                time = samples["start"]
                for delta, stack in zip(samples["deltas"], samples["stacks"], strict=True):
                    time += delta
                    there[thread, round(1000 * time), stack.removesuffix("\n(root)")] += 1
            here = collections.Counter()
            for sample in self.sampled(name):
                thread = thread_of(sample).replace("vcpu ", "-1/")
                here[numbers.get(thread, thread), sample.time_ns, "\n".join(sample.frames)] += 1
            self.assert_same(there, here)
        self.each_recording(check)

    def test_events_are_there_with_their_fields(self):
        parsed = self.parsed(self.export("mixed", "out.trace.json"))
        there = collections.Counter(json.dumps([name, round(ts), round(dur), args], sort_keys=True)
                                    for name, ts, dur, args in parsed["events"] if name != "RunTask")
        here = collections.Counter()
        for line in self.lines("mixed"):
            if "event" in line:
                fields = {key: value["functions"][0] if isinstance(value, dict) else value
                          for key, value in line["fields"].items()}
                here[json.dumps([line["event"], round(line["time"] / 1000), round(line.get("duration", 0) / 1000),
                                 fields], sort_keys=True)] += 1
        self.assert_same(there, here)


if __name__ == "__main__":
    viewer_case.main()
