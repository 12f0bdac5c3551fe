// The frame that an arrow key leads to from `f`, null where there is none. Towards the roots that is the caller, away
// from them the callee that was left last, else the heaviest one. Sidewards it is the next frame of the same depth.
// `shown`: the frames of the page, in preorder.
function stepFrom(f, key, shown, rootsAtTop) {
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const row = shown.filter(function (other) { return other.d === f.d; });
    return row[row.indexOf(f) + (key === 'ArrowLeft' ? -1 : 1)] || null;
  }
  if ((key === 'ArrowUp') === rootsAtTop) return f.parent;
  if (f.entered && f.entered.shown) return f.entered;
  return heaviest(shown.filter(function (other) { return other.parent === f; }));
}

function heaviest(frames) {
  return frames.reduce(function (best, f) { return best && best.w >= f.w ? best : f; }, null);
}

// The one frame that the Tab key comes to. It needs an element when the page is drawn.
function frameFocus(root) {
  let frame = root;
  return {
    frame: function () { return frame; },
    isOn: function () { return Boolean(frame.g) && document.activeElement === frame.g; },
    choose: function (f) {
      if (frame.g) frame.g.removeAttribute('tabindex');
      frame = f;
      for (; f.parent; f = f.parent) f.parent.entered = f;
    },
    mark: function () { frame.g.setAttribute('tabindex', '0'); },
  };
}
