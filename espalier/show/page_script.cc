/// The script of a page: draws the picture, plays it, and answers pointer and keys. It reads the JSON of
/// page_data.cc, and puts texts on the page as texts only.
#include "espalier/show/page_parts.h"

namespace espalier::show {

const std::string_view kBatchesScript = R"JS(
(() => {
'use strict';
const byId = id => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const stage = byId('stage'), canvas = byId('trees'), strip = byId('strip'), scrub = byId('scrub');
const panel = byId('panel'), tip = byId('tip'), said = byId('said'), playButton = byId('play');
const steps = data.steps, count = data.x.length, last = steps.length;
const number = value => value.toLocaleString('en');
const plural = (value, what) => number(value) + ' ' + what + (value === 1 ? '' : 's');
const isolated = text => '\u2068' + text + '\u2069';

// --- what is known of nodes -----------------------------------------------------------------------------------------
const nodesOf = steps.map(() => []);
const needs = Array.from({length: count}, () => []);
for (let i = 0; i < count; ++i) nodesOf[data.step[i]].push(i);
for (const list of nodesOf) list.sort((a, b) => data.row[a] - data.row[b] || a - b);
for (let e = 0; e < data.edges.length; e += 2) needs[data.edges[e + 1]].push(data.edges[e]);
const rowsOf = i => data.rows ? data.rows[i] : 1;
const hasRow = (i, wanted) => data.row[i] <= wanted && wanted < data.row[i] + rowsOf(i) && !data.merged[i];
const ownOf = nodesOf.map(list => list.filter(i => data.merged[i] === 0));
const mergedOf = nodesOf.map(list => list.filter(i => data.merged[i] !== 0));
const mostRows = steps.reduce((most, step) => Math.max(most, step.rows), 1);

// --- state ----------------------------------------------------------------------------------------------------------
let position = 0;        // the step, and how far it is: 3.5 is the middle of the fourth
let playing = false, touched = false, printing = false;
let hovered = -1, pinned = -1, row = -1;
let zoom = 1, panX = 0, panY = 0;
let view = {}, layer = null, layerDone = -1, rings = null, ringsOf = -1, stripOf = '', slots = new Map(), frames = [], lastFrame = 0, asked = false;
const GATHERED = 0.6;    // of a step: its nodes are rows
const still = matchMedia('(prefers-reduced-motion: reduce)');
const dark = matchMedia('(prefers-color-scheme: dark)');

const stepAt = () => Math.min(last - 1, Math.floor(position));
const phaseAt = () => position >= last ? 1 : position - Math.floor(position);
const marked = () => hovered >= 0 ? hovered : pinned;
const shownStep = () => !playing && marked() >= 0 ? data.step[marked()] : stepAt();
const colours = () => {
  if (printing) return {ink: '#000000', pale: '#b8c0c8', quiet: '#444444', shade: 'rgba(0,0,0,.06)', line: '#bbbbbb'};
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  return {ink: of('--ink'), pale: of('--pale'), quiet: of('--quiet'), shade: of('--shade'), line: of('--line')};
};
let paint = colours();

// --- places ---------------------------------------------------------------------------------------------------------
function measure() {
  const width = Math.max(stage.clientWidth, 200), height = stage.clientHeight;
  const wide = innerWidth >= 760;
  const density = printing ? 2 : Math.min(devicePixelRatio || 1, 2);
  const trees = wide ? {x: 0, y: 0, w: width * 0.62, h: height} : {x: 0, y: 0, w: width, h: height - 372};
  const below = panel.offsetTop + panel.offsetHeight + 8;
  const block = wide ? {x: width * 0.64 + 18, y: below, w: width * 0.36 - 22, h: height - below - 4}
                     : {x: 0, y: height - 230, w: width, h: 226};
  for (const [element, h] of [[canvas, height], [strip, strip.clientHeight]]) {
    const w = Math.round(width * density), tall = Math.round(h * density);
    if (element.width !== w || element.height !== tall) { element.width = w; element.height = tall; }
  }
  const fit = count === 0 ? 1 : Math.min(trees.w / data.width, trees.h / data.height, 48);
  view = {width, height, wide, density, trees, block, fit};
  place();
}
function place() {
  const unit = view.fit * zoom, t = view.trees;
  const spareX = t.w - data.width * unit, spareY = t.h - data.height * unit;
  panX = Math.min(Math.max(panX, Math.min(spareX, 0) / 2), Math.max(-spareX, 0) / 2);
  panY = Math.min(Math.max(panY, Math.min(spareY, 0) / 2), Math.max(-spareY, 0) / 2);
  view.unit = unit;
  view.x = t.x + spareX / 2 + panX;
  view.y = t.y + spareY / 2 + panY;
  view.radius = Math.min(Math.max(unit * 0.37, 1.4), 15);
  slots.clear();
  layerDone = ringsOf = -1;
  stripOf = '';
}
const nodeX = i => view.x + data.x[i] * view.unit;
const nodeY = i => view.y + data.y[i] * view.unit;

/// The rows of a step as cells of a block: down, then to the right.
function slotsOf(k) {
  let of = slots.get(k);
  if (of) return of;
  const {w, h} = view.block, rows = steps[k].rows;
  let columns = 1;
  while (h / Math.ceil(rows / columns) < 9 && w / (columns + 1) >= 12) ++columns;
  while (h / Math.ceil(rows / columns) < 3 && w / (columns + 1) >= 4) ++columns;
  const perColumn = Math.max(1, Math.min(Math.ceil(rows / columns), Math.floor(h / 2)));
  const cellH = Math.min(h / perColumn, 24), cellW = Math.min(w / columns, columns > 1 ? 90 : w);
  of = {perColumn, columns, cellW, cellH, shown: Math.min(rows, perColumn * columns)};
  slots.set(k, of);
  return of;
}
function slotOf(k, index) {
  const of = slotsOf(k), at = Math.min(index, of.shown - 1);
  return {x: view.block.x + Math.floor(at / of.perColumn) * of.cellW, y: view.block.y + at % of.perColumn * of.cellH,
          w: Math.max(of.cellW - Math.min(2, of.cellW * 0.2), 1), h: Math.max(of.cellH - Math.min(2, of.cellH * 0.2), 1)};
}

// --- drawing --------------------------------------------------------------------------------------------------------
function circles(context, list, radius) {
  context.beginPath();
  for (const i of list) {
    const x = nodeX(i), y = nodeY(i);
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 6.2832);
  }
}
function captions(context) {
  const size = Math.min(13, view.unit * 0.95);
  if (size < 7) return;
  context.font = size + 'px system-ui, sans-serif';
  context.fillStyle = paint.quiet;
  context.textAlign = 'center';
  context.direction = 'ltr';
  for (const [name, text, x, y, w, h] of data.inputs) {
    const room = Math.max(w, 3) * view.unit + view.unit * 1.6;
    let shown = text === '' ? name : text;
    if (context.measureText(shown).width > room) {
      let end = Math.max(1, Math.floor(shown.length * room / context.measureText(shown).width) - 1);
      shown = Array.from(shown.slice(0, end)).join('') + '…';
      if (end < 4) shown = name.replace('input ', '');
    }
    context.fillText(isolated(shown), view.x + (x + w / 2) * view.unit, view.y + (y + h - 0.45) * view.unit);
  }
}
function drawStep(context, s, isDone) {
  context.globalAlpha = isDone ? 1 : 0.42;
  context.fillStyle = steps[s].colour;
  circles(context, ownOf[s], view.radius);
  context.fill();
  if (ownOf[s].length < nodesOf[s].length) {
    context.strokeStyle = steps[s].colour;
    context.lineWidth = Math.max(1, view.radius * 0.35);
    circles(context, mergedOf[s], view.radius * 0.8);
    context.stroke();
  }
  context.globalAlpha = 1;
}
/// Everything but the nodes of the step that runs. While it plays, only what the next step changes is drawn again.
function drawLayer(k) {
  const done = position >= last ? last : k + 1;  // so many steps are in full colour
  if (layer && layerDone === done) return;
  if (layer && layerDone >= 0 && done === layerDone + 1) {
    layerDone = done;
    drawStep(layer.getContext('2d'), done - 1, true);
    return;
  }
  layerDone = done;
  if (!layer) layer = document.createElement('canvas');
  layer.width = canvas.width;
  layer.height = canvas.height;
  const context = layer.getContext('2d');
  context.scale(view.density, view.density);
  context.beginPath();
  context.rect(view.trees.x, view.trees.y, view.trees.w, view.trees.h);
  context.clip();
  context.strokeStyle = paint.pale;
  context.lineWidth = Math.min(Math.max(view.unit * 0.06, 0.6), 1.6);
  for (const fan of [true, false]) {  // lines to what needs very many nodes would hide all others
    context.globalAlpha = fan ? 0.16 : 1;
    context.beginPath();
    for (let e = 0; e < data.edges.length; e += 2) {
      if (needs[data.edges[e + 1]].length > 6 !== fan) continue;
      context.moveTo(nodeX(data.edges[e]), nodeY(data.edges[e]));
      context.lineTo(nodeX(data.edges[e + 1]), nodeY(data.edges[e + 1]));
    }
    context.stroke();
  }
  captions(context);
  for (let s = 0; s < last; ++s) if (nodesOf[s].length > 0) drawStep(context, s, s < done);
}
const ease = t => t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) * (1 - t);
function drawBlock(context, k, out, alpha) {
  const of = slotsOf(k), colour = steps[k].colour, labels = of.cellH >= 11 && of.cellW >= 110 && out >= 1;
  const list = nodesOf[k];
  context.globalAlpha = alpha;
  // Rows of nodes that are not drawn.
  const drawn = new Set();
  for (const i of list) if (!data.merged[i]) for (let r = 0; r < rowsOf(i); ++r) drawn.add(data.row[i] + r);
  if (out >= 1 && drawn.size < of.shown) {
    context.fillStyle = colour;
    context.globalAlpha = alpha * 0.55;
    for (let r = 0; r < of.shown; ++r) {
      if (drawn.has(r)) continue;
      const to = slotOf(k, r);
      context.fillRect(to.x, to.y, to.w, to.h);
    }
    context.globalAlpha = alpha;
  }
  if (out >= 1 && list.length <= 48 && view.wide) {  // where the rows come from
    context.strokeStyle = colour;
    context.globalAlpha = alpha * 0.55;
    context.lineWidth = 1;
    for (const i of list) {
      if (data.merged[i]) continue;
      const to = slotOf(k, data.row[i]), x = nodeX(i) + view.radius, y = nodeY(i), target = to.y + to.h / 2;
      const middle = (x + to.x) / 2;
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(middle, y, middle, target, to.x - 2, target);
      context.stroke();
    }
    context.globalAlpha = alpha;
  }
  context.fillStyle = colour;
  const radius = view.radius;
  context.beginPath();
  for (const i of ownOf[k]) {
    const to = slotOf(k, data.row[i]);
    const x = nodeX(i) - radius + (to.x - nodeX(i) + radius) * out, y = nodeY(i) - radius + (to.y - nodeY(i) + radius) * out;
    const w = 2 * radius + (to.w - 2 * radius) * out, h = 2 * radius + (to.h - 2 * radius) * out;
    if (list.length > 150 && h < 6) context.rect(x, y, w, h);  // nobody sees the corners, and many cost time
    else context.roundRect(x, y, w, h, Math.min(w, h) / 2 * (1 - out) + Math.min(2, h / 2) * out);
    for (let r = 1; out >= 1 && r < rowsOf(i) && data.row[i] + r < of.shown; ++r) {
      const more = slotOf(k, data.row[i] + r);
      context.rect(more.x, more.y, more.w, more.h);
    }
  }
  context.fill();
  if (labels) {
    context.fillStyle = '#10151a';
    context.font = Math.min(12, of.cellH * 0.74) + 'px system-ui, sans-serif';
    context.textAlign = 'left';
    context.direction = 'ltr';
    for (const i of list) {
      if (data.merged[i]) continue;
      const to = slotOf(k, data.row[i]);
      context.fillText('row ' + (data.row[i] + 1) + ' · ' + data.inputs[data.input[i]][0] + ' · node ' + data.id[i],
                       to.x + 7, to.y + to.h / 2 + Math.min(4, of.cellH * 0.26), to.w - 12);
    }
  }
  if (out >= 1) {  // the kernel sees it as one
    context.strokeStyle = paint.ink;
    context.lineWidth = 1.5;
    const columns = Math.ceil(of.shown / of.perColumn);
    context.strokeRect(view.block.x - 4, view.block.y - 4, columns * of.cellW + 6, Math.min(of.perColumn, of.shown) * of.cellH + 6);
  }
  context.globalAlpha = 1;
}
function ring(context, list, width) {
  context.strokeStyle = paint.ink;
  context.lineWidth = width;
  circles(context, list, view.radius + width / 2);
  context.stroke();
}
/// The nodes of the step that runs, in their places.
function drawRings(k) {
  if (rings && ringsOf === k) return;
  ringsOf = k;
  if (!rings) rings = document.createElement('canvas');
  rings.width = canvas.width;
  rings.height = canvas.height;
  const context = rings.getContext('2d');
  context.scale(view.density, view.density);
  context.fillStyle = steps[k].colour;
  circles(context, ownOf[k], Math.max(view.radius * 1.25, 2.6));
  context.fill();
  context.strokeStyle = paint.ink;
  context.lineWidth = Math.min(1.6, Math.max(0.8, view.radius * 0.3));
  context.stroke();
}
function draw() {
  paint = colours();
  const k = shownStep(), context = canvas.getContext('2d');
  drawLayer(k);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(layer, 0, 0);
  context.scale(view.density, view.density);
  const isOver = position >= last && marked() < 0;
  const phase = marked() >= 0 && !playing || still.matches ? GATHERED : phaseAt();
  const out = phase < 0.42 ? ease(phase / 0.42) : 1, alpha = phase > 0.82 ? 1 - (phase - 0.82) / 0.18 : 1;
  if (!isOver) {
    context.save();
    context.beginPath();
    context.rect(view.trees.x, view.trees.y, view.trees.w, view.trees.h);
    context.clip();
    drawRings(k);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(rings, 0, 0);
    context.setTransform(view.density, 0, 0, view.density, 0, 0);
    if (marked() >= 0) {
      const i = marked();
      context.strokeStyle = paint.ink;
      context.lineWidth = Math.max(1.6, view.unit * 0.12);
      context.beginPath();
      for (const from of needs[i]) {
        context.moveTo(nodeX(i), nodeY(i));
        context.lineTo(nodeX(from), nodeY(from));
      }
      context.stroke();
      ring(context, needs[i], 2);
      context.fillStyle = steps[data.step[i]].colour;
      circles(context, [i], view.radius + 1.5);
      context.fill();
      ring(context, [i], Math.max(2.5, view.radius * 0.5));
    }
    context.restore();
    drawBlock(context, k, out, alpha);
    if (marked() >= 0 && out >= 1) {
      const to = slotOf(k, data.row[marked()]);
      context.strokeStyle = paint.ink;
      context.lineWidth = 2.5;
      context.strokeRect(to.x, to.y, to.w, to.h);
    }
  }
  drawStrip(k);
  tell(k, isOver);
}
function drawStrip(k) {
  const key = [k, position >= last].join();
  if (key === stripOf) return;
  stripOf = key;
  const context = strip.getContext('2d'), height = strip.clientHeight, wide = view.width / last;
  context.setTransform(view.density, 0, 0, view.density, 0, 0);
  context.clearRect(0, 0, view.width, height);
  for (let s = 0; s < last; ++s) {
    const tall = Math.max(3, Math.log1p(steps[s].rows) / Math.log1p(mostRows) * (height - 16));
    context.globalAlpha = s === k ? 1 : s < k || position >= last ? 0.85 : 0.42;
    context.fillStyle = steps[s].colour;
    context.fillRect(s * wide, height - 9 - tall, Math.max(wide - (wide > 4 ? 1.5 : 0), 0.6), tall);
  }
  context.globalAlpha = 1;
  const middle = (k + 0.5) * wide;
  context.fillStyle = paint.ink;
  context.beginPath();
  context.moveTo(middle, height - 7);
  context.lineTo(middle - 5, height);
  context.lineTo(middle + 5, height);
  context.fill();
  context.strokeStyle = paint.ink;
  const tall = Math.max(3, Math.log1p(steps[k].rows) / Math.log1p(mostRows) * (height - 16));
  context.strokeRect(k * wide + 0.5, height - 9 - tall, Math.max(wide - 2, 1), tall);
}

// --- words ----------------------------------------------------------------------------------------------------------
let told = '';
function sentence(k) {
  const step = steps[k];
  return 'Step ' + number(step.n) + ' of ' + number(data.allSteps) + ': ' + step.op + ', ' + plural(step.nodes, 'node') + ' of ' + plural(step.inputs, 'input');
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
    const weights = step.shared.map(isolated).join(', ');
    byId('panel-why').textContent = isOver ? '' :
      (step.nodes === 1 ? '' : 'Why together: the same operation' + (weights ? ' with the same weights (' + weights + ')' : '') + ', and none needs another. ') +
      isolated(step.type) + ' each · ' + isolated(step.where) + (step.time ? ' · ' + step.time : '') + (step.copied ? ' · ' + step.copied + ' copied' : '');
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
  if (!view.wide) return;
  const below = panel.offsetTop + panel.offsetHeight + 8;
  if (below === before) return;
  view.block.y = below;
  view.block.h = view.height - below - 4;
  slots.clear();
  ask();
}
function say(text) { if (said.textContent !== text) said.textContent = text; }
function words(i) {
  const k = data.step[i], [name, text] = data.inputs[data.input[i]];
  const lines = ['node ' + data.id[i] + ': ' + isolated(steps[k].op), name + (text ? ': ' + isolated(text) : ''),
                 'step ' + number(steps[k].n) + (rowsOf(i) > 1 ? ', rows ' + number(data.row[i] + 1) + ' to ' + number(data.row[i] + rowsOf(i)) : ', row ' + number(data.row[i] + 1)) + ' of ' + number(steps[k].rows)];
  if (data.merged[i]) lines.push('equal to the node of that row: computed once for both');
  lines.push(needs[i].length ? 'needs ' + (needs[i].length === 1 ? 'node ' : 'nodes ') + needs[i].slice(0, 12).map(n => data.id[n]).join(', ') + (needs[i].length > 12 ? ' …' : '') : 'needs no other circle');
  lines.push(isolated(data.lines[data.line[i]]));
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
strip.addEventListener('click', event => {
  const box = strip.getBoundingClientRect();
  select(Math.floor((event.clientX - box.left) / box.width * last), true);
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
  /// Draws a moment of the animation at once.
  drawAt: moment => { position = moment; draw(); return canvas.getContext('2d').getImageData(0, 0, 1, 1).data[0]; },
  data, select, zoomBy,
};
})();
)JS";

}  // namespace espalier::show
