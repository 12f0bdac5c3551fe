// Makes the picture live: fills the window, zooms, turns over, searches, obeys keys, keeps the view in the page's
// address. Without this script the picture stands as it was written.
(function () {
  const svg = document.getElementById('ringside');
  const byId = function (id) { return document.getElementById(id); };
  const head = byId('head'), details = byId('details'), matched = byId('matched'), reset = byId('reset');
  const box = byId('search-box'), input = byId('search-input'), flip = byId('flip');
  const layout = function (name) { return Number(svg.dataset[name]); };
  const MARGIN = layout('margin'), GAP = layout('gap'), NARROWEST = layout('narrowestPicture');
  const ANIMATED = 5000;  // frames at most
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const alone = svg === document.documentElement;  // not a part of another page

  const names = [], frames = readFrames(svg, names), root = frames[0];
  if (!root) return;
  const painter = framePainter(svg, frames), focus = frameFocus(root);
  let width = layout('width'), zoomed = root, view = { x: 0, w: root.w }, rootsAtTop = svg.dataset.roots === 'top';
  let running = 0, finisher = 0;
  let query = { text: '', error: '' };
  let hovered = null, note = '';

  function percent(part, whole) { return (100 * part / whole).toFixed(2) + '%'; }
  function ofZoom(f) { return percent(Math.min(f.w, zoomed.w), zoomed.w) + ' of ' + frameLabel(zoomed.name, 40); }

  // A frame that leaves the page leaves its focus to the one below it.
  function draw(labels) {
    const hadFocus = focus.isOn();
    painter.draw(view, width, rootsAtTop, labels, focus.frame());
    let f = focus.frame();
    if (f.shown) { focus.mark(); return; }
    while (!f.shown) f = f.parent;
    choose(f, hadFocus);
  }

  // Where the focus is, or comes to by the Tab key.
  function choose(f, hasFocus) {
    focus.choose(f);
    painter.draw(view, width, rootsAtTop, false, f);
    focus.mark();
    if (hasFocus) f.g.focus({ preventScroll: true });
  }

  function moveTo(target, atOnce) {
    cancelAnimationFrame(running);
    clearTimeout(finisher);
    const from = { x: view.x, w: view.w }, start = performance.now(), TIME = 260;
    if (calm || atOnce || painter.shown().length > ANIMATED) { view = target; draw(true); return; }
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
    note = '';
    for (let above = zoomed.parent; above; above = above.parent) above.above = false;
    for (let above = f.parent; above; above = above.parent) above.above = true;
    zoomed = f;
    reset.classList.toggle('off', f === root);
    moveTo({ x: f.x, w: f.w }, atOnce);
    showMatched();
    describe(hovered);
  }

  // The tooltip and the line in the head say the same: what the recording says of the frame, and
  // its share of what is zoomed to. A frame that holds the zoom fills it.
  function describe(f) {
    hovered = f;
    let lines = [note || 'Click a frame to zoom. Keys: arrows walk, Enter zooms, / searches, Escape ends both.'];
    if (f || zoomed !== root) {
      lines = factsOf(f || zoomed).slice();
      if (zoomed !== root) {
        lines[0] = lines[0].replace(/%\)$/, '% of all)');
        if (f && f !== zoomed) lines.splice(1, 0, ofZoom(f));
      }
      const title = f && painter.titleOf(f);
      if (title) title.textContent = lines.join('\n');
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
    const isSame = text === query.text;
    query = findNames(names, text);
    if (!isSame) painter.mark();
    input.classList.toggle('bad', query.error !== '');
    svg.classList.toggle('searching', text !== '');
    showMatched();
    describe(hovered);
  }

  function matchedIn(whole) { return percent(weightOfHits(frames, whole), whole.w); }

  function showMatched() {
    matched.classList.toggle('error', query.error !== '');
    if (!query.text) { matched.textContent = ''; return; }
    matched.textContent = query.error
      ? 'Not a regular expression (' + query.error + '). Matched as plain text: ' + matchedIn(zoomed)
      : 'Matched: ' + matchedIn(zoomed) +
        (zoomed === root ? '' : ' of ' + frameLabel(zoomed.name, 24) + ', ' + matchedIn(root) + ' of all');
  }

  function remember(what) {
    const state = {};
    if (zoomed !== root) state.zoom = keyOf(zoomed);
    if (query.text) state.search = query.text;
    if (rootsAtTop !== (svg.dataset.roots === 'top')) state.roots = rootsAtTop ? 'top' : 'bottom';
    pageAddress.write(state, what);
  }

  function restore(atOnce) {
    const state = pageAddress.read(), text = state.search || '';
    const found = state.zoom ? frames.find(function (f) { return keyOf(f) === state.zoom; }) : root;
    turn((state.roots || svg.dataset.roots) === 'top');
    input.value = text;
    box.classList.toggle('open', text !== '' || document.activeElement === input);
    search(text);
    zoom(found || root, atOnce);
    if (!found) { note = 'The frame that the link zooms to is not in this picture.'; describe(null); }
  }

  // Where the roots stand. The button has the name of the other picture.
  function turn(atTop) {
    rootsAtTop = atTop;
    flip.lastChild.textContent = atTop ? 'Flame' : 'Icicle';
  }

  function showRoots() { if (alone) scrollTo(0, rootsAtTop ? 0 : document.documentElement.scrollHeight); }

  function turnOver() {
    turn(!rootsAtTop);
    draw(true);
    showRoots();
    keepHead();
    remember('turn');
  }

  function revealZoom() { if (zoomed !== root) reveal(zoomed); }

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
    const goal = rootsAtTop ? top + 3 * at.height : innerHeight - 4 * at.height;
    scrollBy(0, at.top - goal);
    keepHead();
  }

  function measure() {
    width = Math.max(svg.getBoundingClientRect().width, NARROWEST);
    for (const e of svg.querySelectorAll('[data-right]'))
      e.setAttribute('transform', 'translate(' + (width - Number(e.dataset.right)) + ',' + e.dataset.top + ')');
  }

  function resize() {
    measure();
    draw(true);
    describe(hovered);
    keepHead();
  }

  function walkTo(f) {
    choose(f, true);
    reveal(f);
  }

  function isFind(event) { return (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f'; }

  function inputKey(event) {
    event.stopPropagation();
    if (event.key === 'Escape') endSearch();
    if (isFind(event)) { event.preventDefault(); input.select(); }
    const hit = event.key === 'Enter' && heaviest(painter.shown().filter(isHit));
    if (hit) walkTo(hit);
  }

  function point(event) {
    const f = painter.frameAt(event);
    if (f !== hovered) describe(f);
  }

  // A page around the picture keeps the keys that are not for the picture.
  function pageKey(event) {
    const element = document.activeElement, isOurs = alone || svg.contains(element);
    if (isFind(event)) { event.preventDefault(); openSearch(); }
    if (event.key === 'Escape') { if (query.text) endSearch(); else zoomTo(root); }
    if (!isOurs || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') { event.preventDefault(); openSearch(); }
    if (event.key.startsWith('Arrow')) {
      event.preventDefault();
      const next = focus.isOn() ? stepFrom(focus.frame(), event.key, painter.shown(), rootsAtTop) : focus.frame();
      if (next) walkTo(next);
    }
    if ((event.key === 'Enter' || event.key === ' ') && element && element.closest('.frame, .button')) {
      event.preventDefault();
      element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    }
  }

  svg.classList.add('live');
  svg.removeAttribute('viewBox');
  svg.setAttribute('width', '100%');
  svg.appendChild(head);  // over the frames
  svg.addEventListener('click', function (event) {
    const f = painter.frameAt(event);
    if (!f) return;
    choose(f, true);
    zoomTo(f);
  });
  svg.addEventListener('mouseover', point);
  svg.addEventListener('mousemove', point);
  svg.addEventListener('focusin', function (event) { if (event.target.closest('.frame')) point(event); });
  reset.addEventListener('click', function () { zoomTo(root); });
  flip.addEventListener('click', turnOver);
  byId('search').addEventListener('click', function () {
    if (box.classList.contains('open')) endSearch(); else openSearch();
  });
  input.addEventListener('input', function () { searchFor(input.value); });
  input.addEventListener('keydown', inputKey);
  window.addEventListener('keydown', pageKey);
  window.addEventListener('resize', resize);
  window.addEventListener('scroll', keepHead, { passive: true });
  window.addEventListener('hashchange', function () { restore(false); revealZoom(); });
  measure();
  restore(true);
  if (!rootsAtTop) showRoots();
  revealZoom();
  keepHead();
})();
