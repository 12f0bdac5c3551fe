// Draws a part of the frames into the page: those with room for a letter as elements, the others of a pixel or more as
// parts of one path for each colour. Those that a search has found are drawn once more, over the others. An attribute
// is only written where it changes: that is what takes time.
function framePainter(svg, frames) {
  const group = svg.querySelector('#frames'), thinGroup = svg.querySelector('#thin');
  const layout = function (name) { return Number(svg.dataset[name]); };
  const MARGIN = layout('margin'), INSET = layout('inset'), BASELINE = layout('baseline'), CHARACTER = layout('character');
  const NARROWEST_FRAME = layout('narrowestFrame'), NARROWEST_ELEMENT = layout('narrowestElement');
  const TOP = layout('framesTop'), HEIGHT = layout('frameHeight'), GAP = layout('frameGap'), DEPTH = layout('depth');
  const THIN_GAP = layout('thinGap'), ROUNDING = 1e-6;
  const byElement = new Map(), paths = new Map();
  let shown = [], thin = [], solid = frames.filter(function (f) { return f.solid; }), atTop = false;

  function create(parent, tag) { return parent.appendChild(document.createElementNS(svg.namespaceURI, tag)); }

  function write(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  function dress(f) {
    write(f.g, 'class', 'frame ' + f.kind + (f.above ? ' above' : '') + (isHit(f) ? ' match' : ''));
  }

  function make(f) {
    f.g = document.createElementNS(svg.namespaceURI, 'g');
    Object.assign(f.g.dataset, { name: f.name, w: f.w, d: f.d });
    f.g.setAttribute('role', 'treeitem');
    f.g.setAttribute('aria-level', f.d + 1);
    create(f.g, 'title').textContent = factsOf(f).join('\n');
    f.rect = create(f.g, 'rect');
    f.rect.setAttribute('height', HEIGHT - GAP);
    byElement.set(f.g, f);
  }

  function label(f) {
    const text = frameLabel(f.name, Math.max(0, Math.floor((f.pixels - 2 * INSET) / CHARACTER)));
    if (!f.text && text) f.text = create(f.g, 'text');
    if (f.text && f.text.textContent !== text) f.text.textContent = text;
  }

  // Sets the element of a frame of so many pixels, which is new, has become narrower, or gets all labels anew.
  function place(f, pixels, labels) {
    const isNew = !f.g, y = rowTop(f);
    if (isNew) make(f);
    const needsLabel = labels || isNew || pixels < f.pixels;
    f.pixels = pixels;
    if (needsLabel) label(f);
    dress(f);
    write(f.rect, 'x', (MARGIN + f.left).toFixed(2));
    write(f.rect, 'y', String(y));
    write(f.rect, 'width', pixels.toFixed(2));
    if (!f.text) return;
    write(f.text, 'x', (MARGIN + f.left + INSET).toFixed(2));
    write(f.text, 'y', String(y + BASELINE));
  }

  function rowTop(f) { return TOP + (atTop ? f.d : DEPTH - f.d) * HEIGHT; }

  function makePath(kind, next) {
    const path = document.createElementNS(svg.namespaceURI, 'path');
    path.setAttribute('class', kind);
    create(path, 'title');
    return thinGroup.insertBefore(path, next);
  }

  function drawThin() {
    const outlines = new Map(), bottom = 'v' + (HEIGHT - GAP) + 'h-';
    for (const f of thin) {
      const wide = (f.pixels - THIN_GAP).toFixed(2);
      f.outline = 'M' + (MARGIN + f.left).toFixed(2) + ' ' + rowTop(f) + 'h' + wide + bottom + wide + 'z';
      if (outlines.has(f.kind)) outlines.get(f.kind).push(f.outline); else outlines.set(f.kind, [f.outline]);
    }
    for (const kind of outlines.keys()) if (!paths.has(kind)) paths.set(kind, makePath(kind, found));
    for (const [kind, path] of paths) write(path, 'd', (outlines.get(kind) || []).join(''));
    drawFound();
  }

  function drawFound() {
    write(found, 'd', thin.filter(isHit).map(function (f) { return f.outline; }).join(''));
  }

  // Shows what a search has found, where the frames stand as they did.
  function mark() {
    solid.forEach(dress);
    drawFound();
  }

  // `view`: the weight that fills the picture, from x on. Frames on a narrow frame are as narrow. `raised`: a frame
  // that gets an element in any case.
  function draw(view, width, rootsAtTop, labels, raised) {
    const full = width - 2 * MARGIN, scale = full / view.w, before = solid;
    atTop = rootsAtTop;
    for (const f of shown) f.shown = false;
    for (const f of before) f.shown = f.solid = false;
    shown = [];
    thin = [];
    for (let i = 0; i < frames.length;) {
      const f = frames[i];
      const left = Math.max((f.x - view.x) * scale, 0), right = Math.min((f.x + f.w - view.x) * scale, full);
      const pixels = right - left + ROUNDING;
      if (pixels < NARROWEST_FRAME) { i = f.end; continue; }
      f.left = left;
      f.shown = true;
      f.solid = pixels >= NARROWEST_ELEMENT || f === raised;
      if (f.solid) place(f, right - left, labels);
      else { f.pixels = right - left; thin.push(f); }
      shown.push(f);
      ++i;
    }
    drawThin();
    solid = shown.filter(function (f) { return f.solid; });
    for (const f of before) if (!f.solid) f.g.remove();
    for (let i = solid.length - 1, next = null; i >= 0; next = solid[i--].g)
      if (!solid[i].g.parentNode) group.insertBefore(solid[i].g, next);
  }

  // The frame under the pointer, or null.
  function frameAt(event) {
    const g = event.target.closest('.frame');
    if (g) return byElement.get(g) || null;
    if (!event.target.closest('#thin')) return null;
    const box = svg.getBoundingClientRect(), x = event.clientX - box.left - MARGIN, y = event.clientY - box.top;
    return shown.find(function (f) {
      return rowTop(f) <= y && y < rowTop(f) + HEIGHT && f.left <= x && x < f.left + f.pixels;
    }) || null;
  }

  // The element whose tooltip is that of the frame, or null.
  function titleOf(f) {
    const element = f.solid ? f.g : f.shown && (isHit(f) ? found : paths.get(f.kind));
    return element ? element.firstChild : null;
  }

  for (const f of solid) byElement.set(f.g, f);
  thinGroup.replaceChildren();
  const found = makePath('match', null);
  return { draw: draw, mark: mark, frameAt: frameAt, titleOf: titleOf, shown: function () { return shown; } };
}
