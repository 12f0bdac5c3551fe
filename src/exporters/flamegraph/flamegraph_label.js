'use strict';
// A function's name in at most `room` characters: frame_label.cpp says how, and both do the same.
const frameLabel = (function () {
  const CUT = '\u2026', SHORTEST = 4, OPERATOR = /operator(<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|\(\)|<|>)/y;

  function length(text) { return /[\ud800-\udfff]/.test(text) ? Array.from(text).length : text.length; }

  function cutEnd(text, room) {
    return length(text) <= room ? text : Array.from(text).slice(0, Math.max(room - 1, 0)).join('') + CUT;
  }

  function operatorAt(text, at) {
    if (text.charCodeAt(at) !== 111) return 0;  // o
    OPERATOR.lastIndex = at;
    const found = OPERATOR.exec(text);
    return found ? found[0].length : 0;
  }

  function nestingAt(text, at) {
    const c = text[at];
    if (c === '<' || c === '(' || c === '[' || c === '{') return 1;
    if (c === '>') return text[at - 1] === '-' ? 0 : -1;
    return c === ')' || c === ']' || c === '}' ? -1 : 0;
  }

  function closing(text, start) {
    for (let i = start, open = 0; i < text.length; ++i) {
      const skip = operatorAt(text, i);
      if (skip) { i += skip - 1; continue; }
      open += nestingAt(text, i);
      if (open === 0) return text[i] === (text[start] === '<' ? '>' : ')') ? i + 1 : 0;
    }
    return 0;
  }

  function withoutArguments(name) {
    let out = '';
    for (let i = 0; i < name.length;) {
      let size = operatorAt(name, i);
      if (!size && (name[i] === '<' || name[i] === '(')) {
        const end = closing(name, i);
        if (end === 0) return out + name.slice(i);
        size = end - i;
        if (size > 3 && !(i === 0 && end === name.length)) {
          out += name[i] + CUT + name[end - 1];
          i = end;
          continue;
        }
      }
      size = size || 1;
      out += name.slice(i, i + size);
      i += size;
    }
    return out;
  }

  function partsOf(name) {
    const starts = [0];
    for (let i = 0, open = 0; i < name.length; ++i) {
      const skip = operatorAt(name, i);
      if (skip) { i += skip - 1; continue; }
      open += nestingAt(name, i);
      if (open <= 0 && name[i] === ':' && name[i + 1] === ':') starts.push(++i + 1);
    }
    return starts;
  }

  function withoutReturnType(text) {
    const space = text.lastIndexOf(' ', text.indexOf('('));
    return text.includes('(') && space >= 0 && !text.slice(0, space).endsWith('operator') ? text.slice(space + 1) : text;
  }

  return function (name, room) {
    if (length(name) <= room) return name;
    if (room < SHORTEST) return '';
    const brief = withoutArguments(name);
    if (length(brief) <= room) return brief;
    const parts = partsOf(brief);
    let cut = '';
    if (parts.length > 1) {
      const first = brief.slice(0, parts[1]) + CUT + '::';
      let best = 0;
      for (let part = parts.length - 1, size = length(first); part > 1; --part) {
        size += length(brief.slice(parts[part], parts[part + 1]));
        if (size > room) break;
        best = part;
      }
      if (best) return first + brief.slice(parts[best]);
      cut = CUT + '::';
    }
    const last = withoutReturnType(brief.slice(parts[parts.length - 1]));
    return length(cut) + length(last) <= room ? cut + last : cutEnd(last, room);
  };
})();
