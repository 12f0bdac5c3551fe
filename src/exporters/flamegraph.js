'use strict';
// Makes the picture live: fills the window, zooms, searches. Every frame carries its place in the
// tree: data-x (weight to its left), data-w (its weight), data-d (depth, the root is 0). Without
// this script the picture stands as it was written.
(function () {
  const svg = document.getElementById('ringside');
  const frames = Array.from(svg.querySelectorAll('.frame')).map(function (g) {
    return {
      g: g, rect: g.querySelector('rect'), text: g.querySelector('text'), name: g.dataset.name,
      x: Number(g.dataset.x), w: Number(g.dataset.w), d: Number(g.dataset.d), shown: true,
    };
  });
  const byId = function (id) { return document.getElementById(id); };
  const details = byId('details'), matched = byId('matched'), reset = byId('reset');
  const box = byId('search-box'), input = byId('search-input');
  const MARGIN = Number(svg.dataset.margin), UNIT = svg.dataset.unit;
  const CHARACTER = 6.95, FRAME_HEIGHT = Number(svg.dataset.frame), SHORTEST = 3;
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const total = frames.length ? frames[0].w : 0;
  let width = Number(svg.dataset.width), zoomed = frames[0], view = { x: 0, w: total };
  let running = 0, finisher = 0;

  function percent(part, whole) { return (100 * part / whole).toFixed(2) + '%'; }
  function count(n) { return n.toLocaleString('en-US') + ' ' + UNIT; }

  function label(frame, pixels) {
    const room = Math.floor((pixels - 6) / CHARACTER);
    if (room < SHORTEST) return '';
    const letters = Array.from(frame.name);
    return letters.length <= room ? frame.name : letters.slice(0, room - 1).join('') + '\u2026';
  }

  function draw(labels) {
    const scale = (width - 2 * MARGIN) / view.w;
    for (const f of frames) {
      const left = Math.max((f.x - view.x) * scale, 0);
      const right = Math.min((f.x + f.w - view.x) * scale, width - 2 * MARGIN);
      const shown = right - left >= 0.1;
      if (shown !== f.shown) { f.g.classList.toggle('hidden', !shown); f.shown = shown; }
      if (!shown) continue;
      f.rect.setAttribute('x', (MARGIN + left).toFixed(2));
      f.rect.setAttribute('width', (right - left).toFixed(2));
      f.text.setAttribute('x', (MARGIN + left + 4).toFixed(2));
      if (labels || right - left < f.pixels) f.text.textContent = label(f, right - left);
      f.pixels = right - left;
    }
  }

  function moveTo(target) {
    cancelAnimationFrame(running);
    clearTimeout(finisher);
    const from = { x: view.x, w: view.w }, start = performance.now(), TIME = 260;
    if (calm || frames.length > 20000) { view = target; draw(true); return; }
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

  function zoom(frame) {
    zoomed = frame;
    for (const f of frames)
      f.g.classList.toggle('above', f.d < frame.d && f.x <= frame.x && f.x + f.w >= frame.x + frame.w);
    reset.classList.toggle('off', frame === frames[0]);
    moveTo({ x: frame.x, w: frame.w });
    describe(null);
  }

  function describe(frame) {
    if (!frame) {
      details.textContent = zoomed && zoomed !== frames[0]
        ? 'Zoomed: ' + sentence(zoomed) : 'Click a frame to zoom, Ctrl-F to search.';
      return;
    }
    details.textContent = sentence(frame) +
      (zoomed !== frames[0] && frame !== zoomed ? ', ' + percent(frame.w, zoomed.w) + ' of ' + zoomed.name : '');
  }
  function sentence(f) { return f.name + ' \u2014 ' + count(f.w) + ', ' + percent(f.w, total) + ' of all'; }

  function openSearch() { box.classList.add('open'); input.focus(); input.select(); }
  function closeSearch() { box.classList.remove('open'); input.blur(); }

  // Weight under matching frames, each sample once: a match below another match adds nothing.
  function search(text) {
    input.classList.remove('bad');
    svg.classList.toggle('searching', text !== '');
    if (text === '') {
      for (const f of frames) f.g.classList.remove('match');
      matched.textContent = '';
      return;
    }
    let pattern;
    try { pattern = new RegExp(text, 'i'); } catch (error) {
      input.classList.add('bad');
      pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
    }
    let sum = 0, end = -1;
    frames.slice(1).sort(function (a, b) { return a.x - b.x || a.d - b.d; }).forEach(function (f) {
      const hit = pattern.test(f.name);
      f.g.classList.toggle('match', hit);
      if (hit && f.x >= end) { sum += f.w; end = f.x + f.w; }
    });
    matched.textContent = 'Matched: ' + percent(sum, total);
  }

  function resize() {
    width = Math.max(svg.getBoundingClientRect().width, 320);
    for (const e of svg.querySelectorAll('[data-right]'))
      e.setAttribute('transform', 'translate(' + (width - Number(e.dataset.right)) + ',' + e.dataset.top + ')');
    draw(true);
  }

  if (!frames.length) return;
  svg.classList.add('live');
  svg.removeAttribute('viewBox');
  svg.setAttribute('width', '100%');
  reset.classList.add('off');
  svg.addEventListener('click', function (event) {
    const g = event.target.closest('.frame');
    if (g) zoom(frames[Number(g.dataset.i)]);
  });
  svg.addEventListener('mouseover', function (event) {
    const g = event.target.closest('.frame');
    describe(g ? frames[Number(g.dataset.i)] : null);
  });
  svg.addEventListener('focusin', function (event) {
    const g = event.target.closest('.frame');
    if (g) describe(frames[Number(g.dataset.i)]);
  });
  reset.addEventListener('click', function () { zoom(frames[0]); });
  byId('search').addEventListener('click', function () {
    if (box.classList.contains('open')) { closeSearch(); } else { openSearch(); }
  });
  input.addEventListener('keydown', function (event) {
    event.stopPropagation();
    if (event.key === 'Enter') search(input.value.trim());
    if (event.key === 'Escape') { input.value = ''; search(''); closeSearch(); }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') { event.preventDefault(); input.select(); }
  });
  window.addEventListener('keydown', function (event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') { event.preventDefault(); openSearch(); }
    if (event.key === 'Escape') {
      if (svg.classList.contains('searching')) { input.value = ''; search(''); closeSearch(); }
      zoom(frames[0]);
    }
    if (event.key === 'Enter' && document.activeElement) {
      const e = document.activeElement;
      if (e.dataset.i) zoom(frames[Number(e.dataset.i)]);
      else if (e.classList.contains('button')) e.dispatchEvent(new MouseEvent('click'));
    }
  });
  window.addEventListener('resize', resize);
  resize();
  describe(null);
})();
