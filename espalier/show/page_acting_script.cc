/// The second half of the script of a page: says in words what the first (page_script.cc) draws, plays it, and answers
/// pointer and keys. It puts texts on the page as texts only.
#include "espalier/show/page_parts.h"

namespace espalier::show {

const std::string_view kActingScript = R"JS(
// --- words ----------------------------------------------------------------------------------------------------------
let told = '';
function sentence(k) {
  const step = steps[k];
  return 'Step ' + number(step.n) + ' of ' + number(data.allSteps) + ': ' + step.op + ', ' + plural(step.nodes, 'node') + ' of ' + plural(step.inputs, 'input');
}
/// Why a step has the nodes that it has.
function reasons(k) {
  const step = steps[k], weights = step.shared.map(isolated).join(', ');
  const all = step.nodes > 1 ? ['They do the same operation' + (weights ? ' with the same weights (' + weights + ').' : '.')] : [];
  const ready = new Set();
  for (const i of ownOf[k]) for (const from of needs[i]) ready.add(data.step[from]);
  const before = [...ready].filter(s => s < k).sort((a, b) => a - b).map(s => steps[s].n);
  const listed = before.length < 4 ? (before.length === 1 ? 'step ' : 'steps ') + before.map(number).join(before.length === 2 ? ' and ' : ', ')
                                   : 'steps from ' + number(before[0]) + ' to ' + number(before[before.length - 1]);
  if (before.length > 0)
    all.push('All that ' + (step.nodes === 1 ? 'it needs' : 'they need') + ' is ready: ' + listed + ' computed it.');
  else if (ownOf[k].length === step.nodes && ownOf[k].every(i => needs[i].length === 0)) all.push((step.nodes === 1 ? 'It needs no other node of its input.' : 'They need no other node of their inputs.'));
  if (steps.every(of => of.nodes === 1)) return all;  // their order is the program's
  // Those of the same kind that come later, if all of them wait for something.
  let later = 0;
  for (let s = k + 1; s < last; ++s) {
    if (steps[s].group !== step.group) continue;
    if (ownOf[s].length !== steps[s].nodes || ownOf[s].some(i => readyAfter(i) < k)) return all;
    later += steps[s].nodes;
  }
  if (later > 0) all.push((later === 1 ? 'The one other node' : 'The ' + number(later) + ' other nodes') + ' of this kind that ' + (later === 1 ? 'is' : 'are') + ' left cannot run yet: ' + (later === 1 ? 'it needs' : 'each needs') + ' a result of this step or a later one.');
  return all;
}
function tell(k, isOver) {
  const key = k + (isOver ? 'over' : '');
  if (key !== told) {
    told = key;
    const step = steps[k];
    byId('panel-swatch').style.background = isOver ? 'transparent' : step.colour;
    byId('panel-title').textContent = isOver ? 'All ' + plural(data.allSteps, 'step') + ' are done' : 'Step ' + number(step.n) + ' of ' + number(data.allSteps) + ': ' + isolated(step.op);
    const rows = step.rows === step.nodes ? '' : ' (' + plural(step.rows, 'row') + ')';
    byId('panel-what').textContent = isOver ? 'Press Play to see them again.' :
      step.nodes === 1 ? 'One node' + rows + ', alone in its kernel call.' :
      plural(step.nodes, 'node') + rows + (step.inputs > 0 ? ' of ' + plural(step.inputs, 'input') : '') + ' run together, as the rows below: 1 kernel call instead of ' + number(step.nodes) + '.';
    byId('panel-head').textContent = isOver ? '' : step.nodes === 1 ? 'Why now:' : 'Why exactly these:';
    byId('panel-why').replaceChildren(...(isOver ? [] : reasons(k)).map(text => {
      const item = document.createElement('li');
      item.textContent = text;
      return item;
    }));
    byId('panel-facts').textContent = isOver ? '' : [
      'Result of each row: ' + isolated(step.type), 'recorded at ' + isolated(step.where),
      ...step.time ? ['time of the step: ' + step.time + ', measured'] : [], ...step.copied ? [step.copied + ' copied to bring its inputs side by side'] : []].join('; ') + '.';
    for (const line of document.querySelectorAll('tr.current')) line.classList.remove('current');
    const line = document.querySelector('tr[data-step="' + k + '"]');
    if (line) line.classList.add('current');
    canvas.setAttribute('aria-label', 'The inputs as trees. ' + sentence(k));
    measureBlock();
  }
  scrub.value = position;
  scrub.setAttribute('aria-valuetext', isOver ? 'the end' : sentence(k));
}
/// The panel's words decide where the block begins.
function measureBlock() {
  const before = view.block.y;
  const below = panel.offsetTop + panel.offsetHeight + 8;
  if (below === before) return;
  view.block.y = below;
  view.block.h = view.height - below - 6;
  slots.clear();
  ask();
}
function say(text) { if (said.textContent !== text) said.textContent = text; }
function words(i) {
  const k = data.step[i], [name, text] = data.inputs[data.input[i]];
  const lines = [nameOf(i) + ': ' + isolated(steps[k].op), ...text ? [name + ': ' + isolated(text)] : [],
                 'step ' + number(steps[k].n) + (rowsOf(i) > 1 ? ', rows ' + number(data.row[i] + 1) + ' to ' + number(data.row[i] + rowsOf(i)) : ', row ' + number(data.row[i] + 1)) + ' of ' + number(steps[k].rows)];
  if (data.merged[i]) lines.push('equal to the node of that row: computed once for both');
  lines.push(needs[i].length ? 'needs ' + (needs[i].length === 1 ? 'node ' : 'nodes ') + needs[i].slice(0, 12).map(placeIn).join(', ') + (needs[i].length > 12 ? ' …' : '') : 'needs no other node');
  lines.push('recorded at ' + isolated(data.lines[data.line[i]]) + ', as node ' + number(data.id[i]) + ' of the whole graph');
  return lines.join('\n');
}
function showTip(i) {
  tip.hidden = i < 0;
  if (i < 0) return;
  tip.textContent = words(i);
  const x = Math.min(Math.max(nodeX(i) + 16, 0), Math.max(0, view.width - tip.offsetWidth - 4));
  const above = nodeY(i) - tip.offsetHeight - 14;
  tip.style.left = x + 'px';
  tip.style.top = (above > 0 ? above : nodeY(i) + 18) + 'px';
}

// --- playing --------------------------------------------------------------------------------------------------------
function ask() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(now => {
    asked = false;
    if (playing) {
      const since = lastFrame === 0 ? 16 : now - lastFrame;
      if (lastFrame !== 0 && frames.length < 5000) frames.push(since);
      lastFrame = now;
      const duration = Math.min(Math.max(40000 / last, 250), 1600) / Number(byId('speed').value);
      position = Math.min(position + Math.min(since, 200) / duration, last);
      if (position >= last) pause();
    }
    draw();
    if (playing) ask();
  });
}
function play() {
  if (!touched || position >= last) position = 0;
  touched = playing = true;
  hovered = pinned = row = -1;
  lastFrame = 0;
  showTip(-1);
  playButton.textContent = '❚❚ Pause';
  ask();
}
function pause() {
  playing = false;
  playButton.textContent = '▶ Play';
  if (position < last) say(sentence(stepAt()));
  ask();
}
function select(k, gathered) {
  playing = false;
  touched = true;
  pause();
  pinned = hovered = row = -1;
  showTip(-1);
  position = Math.min(Math.max(k, 0), last);
  if (gathered && position < last) position += GATHERED;
  if (position < last) say(sentence(stepAt()));
  ask();
}
function pin(i) {
  pinned = i;
  row = i < 0 ? -1 : nodesOf[data.step[i]].indexOf(i);
  if (i >= 0) {
    position = data.step[i] + GATHERED;
    touched = true;
    pause();
    say(words(i));
  }
  showTip(i);
  ask();
}
function walk(by) {
  const list = nodesOf[stepAt()];
  if (list.length === 0) return;
  const next = row < 0 ? (by > 0 ? 0 : list.length - 1) : (row + by + list.length) % list.length;
  pin(list[next]);
  row = next;
}
function zoomBy(factor, x, y) {
  const before = view.unit, t = view.trees;
  const wx = ((x ?? t.w / 2) - view.x) / before, wy = ((y ?? t.h / 2) - view.y) / before;
  zoom = factor === 0 ? 1 : Math.min(Math.max(zoom * factor, 1), 40);
  const unit = view.fit * zoom;
  panX = factor === 0 ? 0 : (x ?? t.w / 2) - wx * unit - (t.w - data.width * unit) / 2;
  panY = factor === 0 ? 0 : (y ?? t.h / 2) - wy * unit - (t.h - data.height * unit) / 2;
  place();
  showTip(marked());
  ask();
}

// --- pointer and keys -----------------------------------------------------------------------------------------------
function nodeUnder(x, y) {
  const near = Math.max(view.radius + 2, 6);
  let found = -1, least = near * near;
  if (x < view.trees.x + view.trees.w && y < view.trees.y + view.trees.h)
    for (let i = 0; i < count; ++i) {
      const dx = nodeX(i) - x, dy = nodeY(i) - y, distance = dx * dx + dy * dy;
      if (distance < least) { least = distance; found = i; }
    }
  if (found >= 0) return found;
  const k = shownStep(), of = slotsOf(k), column = Math.floor((x - view.block.x) / of.cellW), line = Math.floor((y - view.block.y) / of.cellH);
  if (column < 0 || line < 0 || line >= of.perColumn || column >= of.columns) return -1;
  const wanted = column * of.perColumn + line;
  return nodesOf[k].find(i => hasRow(i, wanted)) ?? -1;
}
const inStage = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
let drag = null;
canvas.addEventListener('pointermove', event => {
  const [x, y] = inStage(event);
  if (drag && zoom > 1) {
    if (Math.hypot(x - drag.x, y - drag.y) > 3) drag.moved = true;
    panX = drag.panX + x - drag.x;
    panY = drag.panY + y - drag.y;
    place();
    ask();
    return;
  }
  if (playing) return;
  const found = nodeUnder(x, y);
  if (found === hovered) return;
  hovered = found;
  showTip(marked());
  canvas.style.cursor = found >= 0 ? 'pointer' : zoom > 1 ? 'grab' : 'default';
  ask();
});
canvas.addEventListener('pointerdown', event => { const [x, y] = inStage(event); drag = {x, y, panX, panY, moved: false}; });
addEventListener('pointerup', () => { setTimeout(() => { drag = null; }, 0); });
canvas.addEventListener('pointerleave', () => { hovered = -1; showTip(pinned); ask(); });
canvas.addEventListener('click', event => {
  if (drag && drag.moved) return;
  const found = nodeUnder(...inStage(event));
  if (playing) { pause(); if (found < 0) return; }
  hovered = -1;
  pin(found === pinned ? -1 : found);
});
canvas.addEventListener('wheel', event => {
  if (!event.ctrlKey && zoom === 1) return;
  event.preventDefault();
  zoomBy(Math.exp(-event.deltaY / 300), ...inStage(event));
}, {passive: false});
/// The step under a place of the strip; -1 if there is none.
function stepUnder(event) {
  const box = strip.getBoundingClientRect(), left = stripLeft();
  const k = Math.floor((event.clientX - box.left - left) / (box.width - left) * last);
  return k < 0 || k >= last ? -1 : k;
}
strip.addEventListener('pointermove', event => {
  const k = stepUnder(event), of = byId('strip-tip');
  of.hidden = k < 0;
  if (k < 0) return;
  of.textContent = sentence(k) + ', ' + plural(steps[k].rows, 'row') + (steps[k].time ? '\n' + steps[k].time + ', measured' : '');
  const x = event.clientX - strip.getBoundingClientRect().left;
  of.style.left = Math.min(Math.max(x - of.offsetWidth / 2, 0), Math.max(0, view.width - of.offsetWidth - 2)) + 'px';
});
strip.addEventListener('pointerleave', () => { byId('strip-tip').hidden = true; });
strip.addEventListener('click', event => {
  const k = stepUnder(event);
  if (k >= 0) select(k, true);
});
const keys = {
  ' ': () => playing ? pause() : play(),
  ArrowRight: () => select(Math.min(stepAt() + 1, last - 1), true),
  ArrowLeft: () => select(stepAt() - 1, true),
  ArrowDown: () => walk(1), ArrowUp: () => walk(-1),
  Home: () => select(0, true), End: () => select(last - 1, true),
  '+': () => zoomBy(1.5), '=': () => zoomBy(1.5), '-': () => zoomBy(1 / 1.5), '0': () => zoomBy(0),
  Escape: () => pin(-1),
};
canvas.addEventListener('keydown', event => {
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});
playButton.addEventListener('click', keys[' ']);
byId('next').addEventListener('click', keys.ArrowRight);
byId('back').addEventListener('click', keys.ArrowLeft);
byId('first').addEventListener('click', () => select(0, false));
byId('zoom-in').addEventListener('click', keys['+']);
byId('zoom-out').addEventListener('click', keys['-']);
byId('zoom-all').addEventListener('click', keys['0']);
scrub.max = last;
scrub.addEventListener('input', () => {
  const to = Number(scrub.value);
  playing = false;
  touched = true;
  pause();
  hovered = pinned = row = -1;
  showTip(-1);
  position = to;
  ask();
});
scrub.addEventListener('keydown', event => {  // whole steps, not parts of one
  if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) return;
  event.preventDefault();
  keys[{ArrowUp: 'ArrowRight', ArrowDown: 'ArrowLeft'}[event.key] ?? event.key]();
});
document.addEventListener('click', event => {
  const button = event.target.closest('.to-step');
  if (!button) return;
  select(Number(button.dataset.step), true);
  stage.scrollIntoView({block: 'nearest'});
});
function again() { measure(); told = stripOf = ''; layerDone = ringsOf = -1; ask(); }
addEventListener('resize', again);
dark.addEventListener('change', again);
function printAs(on) {
  printing = on;
  measure();
  told = stripOf = '';
  layerDone = ringsOf = -1;
  draw();
  if (on) for (const part of document.querySelectorAll('details')) part.open = true;
}
addEventListener('beforeprint', () => printAs(true));
addEventListener('afterprint', () => printAs(false));

// --- the beginning: a step that shows the idea, its nodes gathered --------------------------------------------------
/// Prefers steps of several inputs that fit, and whose nodes need others that are drawn.
function telling(k) {
  const step = steps[k], list = nodesOf[k];
  let score = Math.log1p(step.nodes) + (step.inputs > 1 ? 3 : 0) + (step.shared.length ? 1 : 0);
  if (list.some(i => needs[i].length > 1)) score += 4;
  if (step.nodes > 48) score -= 3;
  return list.length === 0 ? -1 : score;
}
let first = 0;
for (let k = 1; k < last; ++k) if (telling(k) > telling(first)) first = k;
position = first + GATHERED;
measure();
draw();
window.espalierPage = {
  state: () => ({step: shownStep(), position, playing, hovered, pinned, steps: last, nodes: count, zoom, panel: panel.textContent, tip: tip.hidden ? '' : tip.textContent, frames: frames.slice()}),
  placeOf: i => { const box = canvas.getBoundingClientRect(); return [box.left + nodeX(i), box.top + nodeY(i)]; },
  placeOfRow: (k, r) => { const box = canvas.getBoundingClientRect(), to = slotOf(k, r); return [box.left + to.x + to.w / 2, box.top + to.y + to.h / 2]; },
  placeOfBar: k => { const box = strip.getBoundingClientRect(), left = stripLeft(); return [box.left + left + (box.width - left) * (k + 0.5) / last, box.top + box.height / 2]; },
  /// Draws a moment of the animation at once.
  drawAt: moment => { position = moment; draw(); return canvas.getContext('2d').getImageData(0, 0, 1, 1).data[0]; },
  data, select, zoomBy,
};
})();
)JS";

}  // namespace espalier::show
