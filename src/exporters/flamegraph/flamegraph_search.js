// Finds the frames whose names match: { text, error, hits }. `error` has a text where `text` is no regular expression
// and was taken as plain text. Calls `changed` with each frame that has become a hit, or is none any more.
function findFrames(frames, text, changed) {
  const query = { text: text, error: '', hits: [] };
  let pattern = null;
  try { pattern = text && new RegExp(text, 'i'); } catch (error) {
    query.error = String(error.message).replace(/^.*: /, '');
    pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  }
  const answers = new Map();  // many frames have one name
  for (const f of frames) {
    let hit = answers.get(f.name);
    if (hit === undefined) answers.set(f.name, hit = Boolean(pattern) && pattern.test(f.name));
    hit = hit && f.parent !== null;
    if (hit) query.hits.push(f);
    if (hit !== f.hit) { f.hit = hit; changed(f); }
  }
  return query;
}

// Weight under the hits within `whole`, each sample once: a match on another adds nothing.
function weightOfHits(hits, whole) {
  let sum = 0, end = whole.x;
  for (const f of hits) {
    const left = Math.max(f.x, whole.x), right = Math.min(f.x + f.w, whole.x + whole.w);
    if (left >= end && right > left) { sum += right - left; end = right; }
  }
  return sum;
}
