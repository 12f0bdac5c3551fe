// Marks the names that match: { text, error }. `error` has a text where `text` is no regular expression and was taken as
// plain text. There are far fewer names than frames.
function findNames(names, text) {
  const query = { text: text, error: '' };
  let pattern = null;
  try { pattern = text && new RegExp(text, 'i'); } catch (error) {
    query.error = String(error.message).replace(/^.*: /, '');
    pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  }
  for (const it of names) it.hit = Boolean(pattern) && pattern.test(it.name);
  return query;
}

function isHit(f) { return f.named.hit && f.parent !== null; }

// Weight under the hits within `whole`, each sample once: a hit on another adds nothing.
function weightOfHits(frames, whole) {
  for (let f = whole; f; f = f.parent) if (isHit(f)) return whole.w;
  let sum = 0;
  for (let i = whole.index + 1; i < whole.end;) {
    const f = frames[i];
    if (isHit(f)) { sum += f.w; i = f.end; } else ++i;
  }
  return sum;
}
