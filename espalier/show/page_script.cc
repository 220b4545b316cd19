/// The first half of the script of a page: reads the JSON of page_data.cc, and draws the picture. The second half
/// (page_acting_script.cc) says it in words, plays it, and answers pointer and keys.
#include "espalier/show/page_parts.h"

namespace espalier::show {

const std::string_view kDrawingScript = R"JS(
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
// Nodes of an input follow each other: they have numbers in it, from 1.
const firstOf = [];
data.input.forEach((input, i) => { firstOf[input] ??= i; });
const placeIn = i => i - firstOf[data.input[i]] + 1;
const nameOf = i => 'node ' + number(placeIn(i)) + (data.inputs[data.input[i]][0].startsWith('input ') ? ' of ' : ', ') + data.inputs[data.input[i]][0];
/// The last step that computed something for a node; -1 if none did.
const readyAfter = i => needs[i].reduce((most, from) => Math.max(most, data.step[from]), -1);
const mostRows = steps.reduce((most, step) => Math.max(most, step.rows), 1);

// --- state ----------------------------------------------------------------------------------------------------------
let position = 0;        // the step, and how far it is: 3.5 is the middle of the fourth
let playing = false, touched = false, printing = false;
let hovered = -1, pinned = -1, row = -1;
let zoom = 1, panX = 0, panY = 0;
let view = {}, layer = null, layerDone = -1, rings = null, ringsOf = -1, stripOf = '', slots = new Map(), frames = [], lastFrame = 0, asked = false;
const FADED = 0.34;      // what has not run yet
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
  const wide = innerWidth >= 960 && !printing;
  const density = printing ? 2 : Math.min(devicePixelRatio || 1, 2);
  const trees = wide ? {x: 0, y: 0, w: width * 0.62, h: height} : {x: 0, y: 0, w: width, h: panel.offsetTop - 8};
  const below = panel.offsetTop + panel.offsetHeight + 8;
  const block = wide ? {x: width * 0.64 + 18, y: below, w: width * 0.36 - 22, h: height - below - 6}
                     : {x: 5, y: below, w: width - 8, h: height - below - 6};
  for (const [element, h] of [[canvas, height], [strip, strip.clientHeight]]) {
    const w = Math.round(width * density), tall = Math.round(h * density);
    if (element.width !== w || element.height !== tall) { element.width = w; element.height = tall; }
  }
  const fit = count === 0 ? 1 : Math.min(trees.w / data.width, (trees.h - 20) / data.height, 48);
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
  let columns = 1;  // first such that rows have room for words, then at least for themselves
  while (h / Math.ceil(rows / columns) < 15 && w / (columns + 1) >= 150) ++columns;
  while (h / Math.ceil(rows / columns) < 9 && w / (columns + 1) >= 12) ++columns;
  while (h / Math.ceil(rows / columns) < 3 && w / (columns + 1) >= 4) ++columns;
  const perColumn = Math.max(1, Math.min(Math.ceil(rows / columns), Math.floor(h / 2)));
  const cellH = Math.min(h / perColumn, 24), cellW = Math.min(w / columns, w / columns < 150 ? 90 : w);
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
/// As much of a text as there is room for; nothing if that is less than `least` characters.
function cut(context, text, room, least) {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  for (let end = letters.length - 1; end >= least;) {
    const part = letters.slice(0, end).join('') + '…', width = context.measureText(part).width;
    if (width <= room) return part;
    end = Math.min(end - 1, Math.floor(end * room / width));
  }
  return null;
}
function captions(context) {
  if (view.unit < 2.1) return;
  const size = Math.min(13, Math.max(8.5, view.unit * 0.95));
  context.font = size + 'px system-ui, sans-serif';
  context.fillStyle = paint.quiet;
  context.textAlign = 'center';
  context.direction = 'ltr';
  const t = view.trees;
  for (const [name, text, x, y, w, h] of data.inputs) {
    const isInput = name.startsWith('input '), short = isInput ? name.slice(6) : name, room = (w + 1.2) * view.unit;
    const whole = view.unit < 9 || text === '' ? short : short + ': ' + text;
    const shown = whole === short && isInput ? short : cut(context, whole, room, isInput ? short.length + 6 : 4) ?? (isInput ? short : '…');
    const half = context.measureText(shown).width / 2;
    let middle = view.x + (x + w / 2) * view.unit;
    if (zoom === 1) middle = Math.max(t.x + half, Math.min(t.x + t.w - half, middle));
    const lowest = view.y + (y + h - 2.1) * view.unit + view.radius;
    context.fillText(isolated(shown), middle, Math.max(lowest + size + 1, view.y + (y + h - 0.45) * view.unit));
  }
}
function drawStep(context, s, isDone) {
  context.globalAlpha = isDone ? 1 : FADED;
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
    for (const i of list) {
      if (data.merged[i]) continue;
      context.globalAlpha = alpha * (i === marked() ? 1 : list.length > 12 ? 0.38 : 0.6);
      context.lineWidth = i === marked() ? 2.5 : 1;
      const to = slotOf(k, data.row[i]), x = nodeX(i) + view.radius, y = nodeY(i), target = to.y + to.h / 2;
      const middle = (x + view.block.x) / 2;
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(middle, y, middle, target, view.block.x - 4, target);
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
    context.font = Math.min(12.5, of.cellH * 0.8) + 'px system-ui, sans-serif';
    context.textAlign = 'left';
    context.direction = 'ltr';
    for (const i of list) {
      if (data.merged[i]) continue;
      const to = slotOf(k, data.row[i]);
      context.fillText('row ' + number(data.row[i] + 1) + ': ' + nameOf(i), to.x + 7, to.y + to.h / 2 + Math.min(4.5, of.cellH * 0.28), to.w - 12);
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
/// The nodes of the step that runs, in their places, and the lines to what they need.
function drawRings(k) {
  if (rings && ringsOf === k) return;
  ringsOf = k;
  if (!rings) rings = document.createElement('canvas');
  rings.width = canvas.width;
  rings.height = canvas.height;
  const context = rings.getContext('2d');
  context.scale(view.density, view.density);
  context.strokeStyle = paint.ink;
  context.lineWidth = Math.min(Math.max(view.unit * 0.07, 0.8), 1.6);
  context.globalAlpha = 0.7;
  context.beginPath();
  for (const i of ownOf[k]) {
    if (needs[i].length > 6) continue;
    for (const from of needs[i]) {
      context.moveTo(nodeX(i), nodeY(i));
      context.lineTo(nodeX(from), nodeY(from));
    }
  }
  context.stroke();
  context.globalAlpha = 1;
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
const BELOW = 22;  // the pixels under the bars
/// The height of so many rows.
const tallOf = rows => Math.max(3, Math.log1p(rows) / Math.log1p(mostRows) * (strip.clientHeight - BELOW - 10));
function drawStrip(k) {
  const key = [k, position >= last].join();
  if (key === stripOf) return;
  stripOf = key;
  const context = strip.getContext('2d'), height = strip.clientHeight, base = height - BELOW;
  const left = stripLeft(), wide = (view.width - left) / last;
  context.setTransform(view.density, 0, 0, view.density, 0, 0);
  context.clearRect(0, 0, view.width, height);
  context.font = '11px system-ui, sans-serif';
  context.fillStyle = paint.quiet;
  context.strokeStyle = paint.line;
  context.lineWidth = 1;
  context.textAlign = 'right';
  for (let rows = 1; rows <= mostRows; rows *= 10) {
    const y = Math.round(base - tallOf(rows)) + 0.5;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(view.width, y);
    context.stroke();
    if (y > 8) context.fillText(number(rows) + (rows === 1 ? ' row' : ''), left - 5, y + 4);
  }
  for (let s = 0; s < last; ++s) {
    const tall = tallOf(steps[s].rows);
    context.globalAlpha = s === k ? 1 : s < k || position >= last ? 0.85 : FADED;
    context.fillStyle = steps[s].colour;
    context.fillRect(left + s * wide, base - tall, Math.max(wide - (wide > 4 ? 1.5 : 0), 0.6), tall);
  }
  context.globalAlpha = 1;
  const middle = left + (k + 0.5) * wide, tall = tallOf(steps[k].rows);
  context.strokeStyle = context.fillStyle = paint.ink;
  context.lineWidth = 1.5;
  context.strokeRect(left + k * wide + 0.5, base - tall, Math.max(wide - 2, 1), tall);
  context.beginPath();
  context.moveTo(middle, base + 2);
  context.lineTo(middle - 5, base + 8);
  context.lineTo(middle + 5, base + 8);
  context.fill();
  // The numbers of as many steps as there is room for, that of the step shown among them.
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(n => n * wide >= 30) ?? 2000;
  context.textAlign = 'center';
  for (let s = 0; s < last; ++s) {
    if (s !== k && ((s + 1) % every !== 0 || Math.abs(s - k) * wide < 26)) continue;
    context.fillStyle = s === k ? paint.ink : paint.quiet;
    context.font = (s === k ? 'bold ' : '') + '11px system-ui, sans-serif';
    context.fillText(number(steps[s].n), Math.min(Math.max(left + (s + 0.5) * wide, 8), view.width - 10), height - 2);
  }
}
const stripLeft = () => view.wide ? 38 : 34;
)JS";

}  // namespace espalier::show
