// Makes the picture live: fills the window, zooms, searches, keeps both in the page's address.
// Without this script the picture stands as it was written.
(function () {
  const svg = document.getElementById('ringside');
  const byId = function (id) { return document.getElementById(id); };
  const head = byId('head'), details = byId('details'), matched = byId('matched'), reset = byId('reset');
  const box = byId('search-box'), input = byId('search-input');
  const layout = function (name) { return Number(svg.dataset[name]); };
  const MARGIN = layout('margin'), INSET = layout('inset'), BASELINE = layout('baseline');
  const CHARACTER = layout('character'), SHORTEST = layout('shortest');
  const GAP = layout('gap'), NARROWEST_FRAME = layout('narrowestFrame'), NARROWEST = layout('narrowestPicture');
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const alone = svg === document.documentElement;  // not a part of another page

  const frames = readFrames(), byElement = new Map(frames.map(function (f) { return [f.g, f]; }));
  const root = frames[0];
  let width = layout('width'), zoomed = root, view = root && { x: 0, w: root.w };
  let running = 0, finisher = 0;
  let query = { text: '', error: '', hits: [] };
  let hovered = null, note = '', lastPush = '';

  // Frames stand in preorder with their weight (data-w) and depth (data-d). Children stand side by
  // side from their parent's left edge on: x is the weight to a frame's left.
  function readFrames() {
    const path = [];
    return Array.from(svg.querySelectorAll('.frame')).map(function (g) {
      const f = {
        g: g, hint: g.firstChild, rect: g.childNodes[1], text: g.childNodes[2] || null, name: g.dataset.name,
        w: Number(g.dataset.w), d: Number(g.dataset.d), x: 0, next: 0, parent: null, shown: true, hit: false,
      };
      f.parent = f.d > 0 ? path[f.d - 1] : null;
      if (f.parent) { f.x = f.parent.next; f.parent.next += f.w; }
      f.next = f.x;
      path[f.d] = f;
      return f;
    });
  }

  function percent(part, whole) { return (100 * part / whole).toFixed(2) + '%'; }
  function ofZoom(f) { return percent(Math.min(f.w, zoomed.w), zoomed.w) + ' of ' + frameLabel(zoomed.name, 40); }

  function label(f, pixels) {
    const room = Math.floor((pixels - 2 * INSET) / CHARACTER), text = room < SHORTEST ? '' : frameLabel(f.name, room);
    if (!f.text) {
      if (!text) return;
      f.text = document.createElementNS(svg.namespaceURI, 'text');
      f.text.setAttribute('y', Number(f.rect.getAttribute('y')) + BASELINE);
      f.g.appendChild(f.text);
    }
    f.text.textContent = text;
  }

  function draw(labels) {
    const scale = (width - 2 * MARGIN) / view.w;
    for (const f of frames) {
      const left = Math.max((f.x - view.x) * scale, 0);
      const right = Math.min((f.x + f.w - view.x) * scale, width - 2 * MARGIN);
      const shown = right - left >= NARROWEST_FRAME;
      if (shown !== f.shown) { f.g.classList.toggle('hidden', !shown); f.shown = shown; }
      if (!shown) continue;
      f.rect.setAttribute('x', (MARGIN + left).toFixed(2));
      f.rect.setAttribute('width', (right - left).toFixed(2));
      if (labels || right - left < f.pixels) label(f, right - left);
      if (f.text) f.text.setAttribute('x', (MARGIN + left + INSET).toFixed(2));
      f.pixels = right - left;
    }
  }

  function moveTo(target, atOnce) {
    cancelAnimationFrame(running);
    clearTimeout(finisher);
    const from = { x: view.x, w: view.w }, start = performance.now(), TIME = 260;
    if (calm || atOnce || frames.length > 20000) { view = target; draw(true); return; }
    // A page that is not shown gets no animation frames; it must not stay half zoomed.
    finisher = setTimeout(function () { cancelAnimationFrame(running); view = target; draw(true); }, TIME + 100);
    (function step(now) {
      const t = Math.min(Math.max((now - start) / TIME, 0), 1), ease = 1 - Math.pow(1 - t, 3);
      view = { x: from.x + (target.x - from.x) * ease, w: from.w + (target.w - from.w) * ease };
      if (t >= 1) { clearTimeout(finisher); view = target; draw(true); return; }
      draw(false);
      running = requestAnimationFrame(step);
    })(start);
  }

  function zoom(f, atOnce) {
    zoomed = f;
    note = '';
    for (const g of svg.querySelectorAll('.above')) g.classList.remove('above');
    for (let above = f.parent; above; above = above.parent) above.g.classList.add('above');
    reset.classList.toggle('off', f === root);
    moveTo({ x: f.x, w: f.w }, atOnce);
    showMatched();
    describe(hovered);
  }

  // The tooltip and the line in the head say the same: what the recording says of the frame, and
  // its share of what is zoomed to. A frame that holds the zoom fills it.
  function describe(f) {
    hovered = f;
    let lines = [note || 'Click a frame to zoom, Ctrl-F to search.'];
    if (f || zoomed !== root) {
      const g = f || zoomed;
      g.facts = g.facts || g.hint.textContent.split('\n');
      lines = g.facts.slice();
      if (zoomed !== root) {
        lines[0] = lines[0].replace(/%\)$/, '% of all)');
        if (f && f !== zoomed) lines.splice(1, 0, ofZoom(f));
      }
      if (f) g.hint.textContent = lines.join('\n');
      if (!f) lines[0] = 'Zoomed: ' + lines[0];
    }
    fit(lines, f || zoomed);
  }

  // Beside what the search says, the name gives way first, then what stands behind the shares.
  function fit(lines, f) {
    const room = width - 2 * MARGIN - matched.getComputedTextLength() - GAP;
    const excess = function () {
      details.textContent = lines.join(' \u00b7 ');
      return details.textContent.length * Math.max(0, 1 - room / details.getComputedTextLength());
    };
    const letters = excess();
    if (letters > 0) {
      const name = frameLabel(f.name, Math.max(12, Math.floor(f.name.length - letters) - 2));
      lines[0] = lines[0].replace(f.name, function () { return name; });
    }
    while (excess() > 0 && lines.length > 1) lines.pop();
  }

  function openSearch() { box.classList.add('open'); input.focus(); input.select(); }
  function closeSearch() { box.classList.remove('open'); input.blur(); }

  function search(text) {
    query = { text: text, error: '', hits: [] };
    let pattern = null;
    try { pattern = text && new RegExp(text, 'i'); } catch (error) {
      query.error = String(error.message).replace(/^.*: /, '');
      pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
    }
    const known = new Map();  // many frames have one name
    for (const f of frames) {
      let hit = known.get(f.name);
      if (hit === undefined) known.set(f.name, hit = Boolean(pattern) && pattern.test(f.name));
      hit = hit && f !== root;
      if (hit) query.hits.push(f);
      if (hit !== f.hit) { f.g.classList.toggle('match', hit); f.hit = hit; }
    }
    input.classList.toggle('bad', query.error !== '');
    svg.classList.toggle('searching', text !== '');
    showMatched();
    describe(hovered);
  }

  // Weight under matching frames within `whole`, each sample once: a match on another adds nothing.
  function weightOfHits(whole) {
    let sum = 0, end = whole.x;
    for (const f of query.hits) {
      const left = Math.max(f.x, whole.x), right = Math.min(f.x + f.w, whole.x + whole.w);
      if (left >= end && right > left) { sum += right - left; end = right; }
    }
    return percent(sum, whole.w);
  }

  function showMatched() {
    matched.classList.toggle('error', query.error !== '');
    if (!query.text) { matched.textContent = ''; return; }
    matched.textContent = query.error
      ? 'Not a regular expression (' + query.error + '). Matched as plain text: ' + weightOfHits(zoomed)
      : 'Matched: ' + weightOfHits(zoomed) +
        (zoomed === root ? '' : ' of ' + frameLabel(zoomed.name, 24) + ', ' + weightOfHits(root) + ' of all');
  }

  // A frame in the page's address: 64 bits of hash over kinds and names from the root, so that a link
  // fits a picture that was drawn again. FNV-1a twice, of different beginnings.
  function keysOf(f) {
    if (f.keys) return f.keys;
    const keys = f.parent ? keysOf(f.parent).slice() : [2166136261, 40389];
    const text = ';' + f.g.getAttribute('class').match(/ ([a-z])\d/)[1] + f.name;
    for (let i = 0; i < text.length; ++i)
      for (const k of [0, 1]) keys[k] = Math.imul(keys[k] ^ text.charCodeAt(i), 16777619);
    return f.keys = keys;
  }
  function keyOf(f) {
    return keysOf(f).map(function (k) { return (k >>> 0).toString(16).padStart(8, '0'); }).join('');
  }

  // A zoom is a step in the browser's history; the letters of one search are one step together.
  function remember(what) {
    const state = new URLSearchParams();
    if (zoomed !== root) state.set('zoom', keyOf(zoomed));
    if (query.text) state.set('search', query.text);
    const hash = state.toString(), address = location.href.split('#')[0] + (hash && '#' + hash);
    if (address === location.href) return;
    try {
      if (what === 'search' && lastPush === what) history.replaceState(null, '', address);
      else history.pushState(null, '', address);
      lastPush = what;
    } catch (error) { /* a sandbox without history: the picture works all the same */ }
  }

  function restore(atOnce) {
    const state = new URLSearchParams(location.hash.slice(1)), key = state.get('zoom');
    const text = state.get('search') || '', found = key ? frames.find(function (f) { return keyOf(f) === key; }) : root;
    lastPush = '';
    input.value = text;
    box.classList.toggle('open', text !== '' || document.activeElement === input);
    search(text);
    zoom(found || root, atOnce);
    if (!found) { note = 'The frame that the link zooms to is not in this picture.'; describe(null); }
    if (found && found !== root) reveal(found);
  }

  function zoomTo(f) { zoom(f); remember('zoom'); }
  function searchFor(text) { search(text); remember('search'); }
  function endSearch() { input.value = ''; searchFor(''); closeSearch(); }

  // The head stays in the window, whatever part of a deep graph that shows.
  function keepHead() {
    const above = Math.max(0, -svg.getBoundingClientRect().top);
    head.setAttribute('transform', 'translate(0,' + above + ')');
    head.classList.toggle('moved', above > 0);
  }

  // Scrolls so that a frame stands beside the edge where its callers are.
  function reveal(f) {
    const at = f.rect.getBoundingClientRect(), top = byId('head-page').getBoundingClientRect().height;
    if (!alone || (at.top >= top && at.bottom <= innerHeight)) return;
    const goal = svg.dataset.roots === 'top' ? top + 3 * at.height : innerHeight - 4 * at.height;
    scrollBy(0, at.top - goal);
    keepHead();
  }

  function resize() {
    width = Math.max(svg.getBoundingClientRect().width, NARROWEST);
    for (const e of svg.querySelectorAll('[data-right]'))
      e.setAttribute('transform', 'translate(' + (width - Number(e.dataset.right)) + ',' + e.dataset.top + ')');
    draw(true);
    describe(hovered);
    keepHead();
  }

  if (!frames.length) return;
  svg.classList.add('live');
  svg.removeAttribute('viewBox');
  svg.setAttribute('width', '100%');
  svg.appendChild(head);  // over the frames
  svg.addEventListener('click', function (event) {
    const f = byElement.get(event.target.closest('.frame'));
    if (f) zoomTo(f);
  });
  svg.addEventListener('mouseover', function (event) {
    const f = byElement.get(event.target.closest('.frame')) || null;
    if (f !== hovered) describe(f);
  });
  reset.addEventListener('click', function () { zoomTo(root); });
  byId('search').addEventListener('click', function () {
    if (box.classList.contains('open')) endSearch(); else openSearch();
  });
  input.addEventListener('input', function () { searchFor(input.value); });
  function isFind(event) { return (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f'; }
  input.addEventListener('keydown', function (event) {
    event.stopPropagation();
    if (event.key === 'Escape') endSearch();
    if (isFind(event)) { event.preventDefault(); input.select(); }
  });
  window.addEventListener('keydown', function (event) {
    if (isFind(event)) { event.preventDefault(); openSearch(); }
    if (event.key === 'Escape') { if (query.text) endSearch(); else zoomTo(root); }
    if (event.key === 'Enter' && document.activeElement && document.activeElement.classList.contains('button'))
      document.activeElement.dispatchEvent(new MouseEvent('click'));
  });
  window.addEventListener('resize', resize);
  window.addEventListener('scroll', keepHead, { passive: true });
  window.addEventListener('hashchange', function () { restore(false); });
  resize();
  if (alone && svg.dataset.roots === 'bottom') scrollTo(0, document.documentElement.scrollHeight);
  restore(true);
})();
