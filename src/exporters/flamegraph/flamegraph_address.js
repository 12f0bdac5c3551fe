// A frame in the page's address: 64 bits of hash over kinds and names from the root, so that a link
// fits a picture that was drawn again. FNV-1a twice, of different beginnings.
const keyOf = (function () {
  function keysOf(f) {
    if (f.keys) return f.keys;
    const keys = f.parent ? keysOf(f.parent).slice() : [2166136261, 40389];
    const text = ';' + f.kind[0] + f.name;
    for (let i = 0; i < text.length; ++i)
      for (const k of [0, 1]) keys[k] = Math.imul(keys[k] ^ text.charCodeAt(i), 16777619);
    return f.keys = keys;
  }
  return function (f) {
    return keysOf(f).map(function (k) { return (k >>> 0).toString(16).padStart(8, '0'); }).join('');
  };
})();

// The page's address keeps the view, so that a link leads to a part. `view`: texts by name, without those that are empty.
// A change is a step in the browser's history; the letters of one search are one step together.
const pageAddress = (function () {
  let last = '';
  return {
    read: function () {
      last = '';
      return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    },
    write: function (view, what) {
      const hash = new URLSearchParams(view).toString(), address = location.href.split('#')[0] + (hash && '#' + hash);
      if (address === location.href) return;
      try {
        if (what === 'search' && last === what) history.replaceState(null, '', address);
        else history.pushState(null, '', address);
        last = what;
      } catch (error) { /* a sandbox without history: the picture works all the same */ }
    },
  };
})();
