// The frames of the picture, in preorder: each stands behind its parent. Those with room for a letter are elements of the
// page. All others are numbers in #narrow (narrow_frames.h has their form), and get an element while they are as wide.
//   w: weight; d: depth; x: the weight to the left, for children stand side by side from their parent's left edge on;
//   index: its place; end: the place behind the last frame on this one; tail: the tooltip behind the name, null where the
//   page has it; named: what all frames of one name share.
// `names` gets each name once.
function readFrames(svg, names) {
  const frames = [], path = [], wide = svg.querySelectorAll('.frame'), narrow = svg.querySelector('#narrow');
  const byName = new Map(), byPlace = [];
  let next = 0;  // of `wide`

  function named(name) {
    let it = byName.get(name);
    if (!it) {
      it = { name: name, hit: false };
      byName.set(name, it);
      names.push(it);
    }
    return it;
  }

  function add(g, kind, it, d, w, tail) {
    const f = {
      g: g, kind: kind, name: it.name, named: it, d: d, w: w, tail: tail, x: 0, next: 0, index: frames.length, end: 0,
      parent: d > 0 ? path[d - 1] : null,
      rect: g && g.childNodes[1], text: g && g.childNodes[2] || null, left: 0, pixels: 0,
      shown: Boolean(g), solid: Boolean(g), above: false, entered: null,
    };
    if (f.parent) { f.x = f.parent.next; f.parent.next += w; }
    f.next = f.x;
    path[d] = f;
    frames.push(f);
  }

  function addWide(count) {
    for (const stop = next + count; next < stop; ++next) {
      const g = wide[next], data = g.dataset;
      add(g, g.getAttribute('class').slice('frame '.length), named(data.name), Number(data.d), Number(data.w), null);
    }
  }

  const { frames: rows, texts } = narrow ? JSON.parse(narrow.textContent) : { frames: [], texts: [] };
  for (let i = 0; i < rows.length;) {
    if (rows[i] < 0) { addWide(-rows[i++]); continue; }
    const place = rows[i + 3];
    byPlace[place] = byPlace[place] || named(texts[place]);
    add(null, texts[rows[i + 2]], byPlace[place], rows[i], rows[i + 1], texts[rows[i + 4]]);
    i += 5;
  }
  addWide(wide.length - next);
  for (let i = frames.length - 1; i >= 0; --i) {
    let end = i + 1;
    while (end < frames.length && frames[end].d > frames[i].d) end = frames[end].end;
    frames[i].end = end;
  }
  return frames;
}

// The lines of a frame's tooltip as they are recorded.
function factsOf(f) {
  return f.facts = f.facts || (f.tail === null ? f.g.firstChild.textContent : f.name + f.tail).split('\n');
}
