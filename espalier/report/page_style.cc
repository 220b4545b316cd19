#include "espalier/report/page_style.h"

namespace espalier::report {

// Colours of lines: Okabe and Ito (2008), which most people can tell apart; lighter ones of the same set on dark.
// Texts have a contrast of 4.5 or more on their backgrounds.
const std::string_view kPageStyle = R"(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1b1f24; --quiet: #57606a; --line: #d8dee4; --grid: #e7ebef;
  --link: #0550ae; --good: 0, 114, 178; --wrong: 213, 94, 0;
  --c0: #0072b2; --c1: #d55e00; --c2: #007a5a; --c3: #a3487a;
  --t0: #0072b2; --t1: #56b4e9; --t2: #e69f00; --t3: #009e73; --t4: #cc79a7; --t5: #6e7781;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1216; --card: #171b21; --text: #e4e8ed; --quiet: #9aa4af; --line: #303740; --grid: #262c34;
    --link: #79b8ff; --good: 86, 180, 233; --wrong: 230, 159, 0;
    --c0: #56b4e9; --c1: #f0a030; --c2: #2fc79c; --c3: #e39ac4;
    --t0: #3d9fd8; --t1: #9ad2f2; --t2: #e69f00; --t3: #2fb48d; --t4: #cc79a7; --t5: #8b949e;
  }
}
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --card: #ffffff; --text: #000000; --quiet: #444444; --line: #bbbbbb; --grid: #e2e2e2;
    --link: #000000; --good: 0, 114, 178; --wrong: 213, 94, 0;
    --c0: #0072b2; --c1: #d55e00; --c2: #007a5a; --c3: #a3487a;
    --t0: #0072b2; --t1: #56b4e9; --t2: #e69f00; --t3: #009e73; --t4: #cc79a7; --t5: #6e7781;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 1240px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 36px 0 12px; }
h3 { font-size: 15px; margin: 0 0 8px; }
p { margin: 0 0 10px; max-width: 76ch; }
a { color: var(--link); }
nav { margin: 14px 0 0; display: flex; flex-wrap: wrap; gap: 4px 18px; }
.outcome { color: var(--quiet); overflow-wrap: anywhere; }
.outcome b { color: var(--text); }
.note, .quiet { color: var(--quiet); font-size: 13px; }
.notes { padding: 10px 14px; border-left: 4px solid var(--c1); background: var(--card); margin: 14px 0; }
.notes p:last-child { margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0 0; }
.tile, figure, .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.tile { padding: 12px 14px; margin: 0; }
.tile dt { color: var(--quiet); font-size: 13px; }
.tile dd { margin: 0; }
.tile dd.value { font-size: 24px; line-height: 1.3; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 360px), 1fr)); gap: 14px;
  align-items: start; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 14px;
  align-items: start; }
figure, .card { margin: 0; padding: 14px; min-width: 0; }
.card + .card, .card + .pair { margin-top: 14px; }
.pair .card { margin: 0; }
figcaption, caption { font-weight: 600; text-align: left; }
caption { padding-bottom: 6px; }
.chart { display: block; width: 100%; height: auto; overflow: visible; font-size: 12px; font-family: inherit; }
.chart:focus-visible, summary:focus-visible, .wide:focus-visible, a:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 2px 0 4px; font-size: 13px; color: var(--quiet); }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
.key { width: 26px; height: 12px; }
.grid { stroke: var(--grid); }
.rim { stroke: var(--line); }
.tick { fill: var(--quiet); }
.marked { stroke: var(--quiet); stroke-dasharray: 4 3; }
.line { stroke-width: 2; stroke-linejoin: round; stroke: var(--c); }
.line.faint { stroke-width: 1; opacity: .45; }
.mark { fill: var(--card); stroke: var(--c); stroke-width: 1.6; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.dot circle { fill: var(--c0); fill-opacity: .5; }
.dot:hover circle { fill-opacity: 1; stroke: var(--text); }
.hit { fill: transparent; }
.readout { visibility: hidden; pointer-events: none; }
.at:hover .readout, .at.on .readout { visibility: visible; }
.readable.keys .at:hover:not(.on) .readout { visibility: hidden; }
.rule { stroke: var(--quiet); }
.paper { fill: var(--card); stroke: var(--line); }
.readout-title { fill: var(--quiet); font-size: 12px; }
.readout-text { fill: var(--text); font-size: 12px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; }
thead th { vertical-align: bottom; color: var(--quiet); }
tbody th, th.text, td.text { text-align: left; }
td.text, tbody th { overflow-wrap: anywhere; }
.facts { width: 100%; }
.facts tbody th { font-weight: 400; color: var(--quiet); width: 40%; }
.facts td { text-align: left; overflow-wrap: anywhere; }
.facts td.quiet { width: 45%; }
.numbers td { text-align: right; white-space: nowrap; }
details { margin-top: 8px; }
summary { cursor: pointer; color: var(--link); font-size: 13px; }
details > .wide { margin-top: 8px; max-height: 420px; overflow: auto; }
.confusion td, .confusion th { padding: 4px 5px; white-space: nowrap; }
.confusion td, .confusion thead th { min-width: 36px; text-align: center; }
.confusion td { border: 1px solid var(--card); }
.confusion td.good { background: rgba(var(--good), var(--p)); }
.confusion td.wrong { background: rgba(var(--wrong), var(--p)); }
.confusion td.sum, .confusion th.sum { color: var(--quiet); }
.confusion thead .long { writing-mode: vertical-rl; transform: rotate(180deg); margin: auto; min-width: 0; }
.mistakes { width: 100%; }
.mistakes td.input { width: 60%; min-width: 220px; text-align: left; overflow-wrap: anywhere; }
.mistakes td.answer { max-width: 220px; min-width: 70px; }
.full { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 320px; overflow: auto; margin: 6px 0 0; }
.shares { display: flex; height: 26px; border-radius: 5px; overflow: hidden; margin: 4px 0 12px; }
.shares span { min-width: 1px; border-right: 1px solid var(--card); }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 8px; }
.t0 { background: var(--t0); } .t1 { background: var(--t1); } .t2 { background: var(--t2); }
.t3 { background: var(--t3); } .t4 { background: var(--t4); } .t5 { background: var(--t5); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
footer { color: var(--quiet); font-size: 13px; padding-top: 32px; padding-bottom: 32px; }
@media (max-width: 560px) {
  header, main, footer { padding-left: 12px; padding-right: 12px; }
  .tiles { grid-template-columns: repeat(2, 1fr); }
  .tile dd.value { font-size: 20px; }
  th, td { padding: 4px 6px; }
  .mistakes, .mistakes tbody, .mistakes tr, .mistakes td, .mistakes th { display: block; text-align: left; }
  .mistakes thead { display: none; }
  .mistakes tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  .mistakes th, .mistakes td, .mistakes td.input, .mistakes td.answer { border: 0; padding: 1px 0; width: auto;
    max-width: none; }
  .mistakes [data-name]::before { content: attr(data-name) " "; color: var(--quiet); }
  .facts td.quiet { display: none; }
}
@media print {
  body { font-size: 11px; }
  header, main, footer { max-width: none; padding: 0; }
  nav, figure details, .unseen { display: none; }
  figure, .tile, tr { break-inside: avoid; }
  h2, h3, section > p { break-after: avoid; }
  .confusion { font-size: 8px; }
  .confusion td, .confusion th, .confusion thead th { padding: 2px 1px; min-width: 0; }
  .charts, .pair { grid-template-columns: 1fr 1fr; }
  .wide, .full { overflow: visible; max-height: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
)";

const std::string_view kPageScript = R"(
document.querySelectorAll('.readable').forEach(function (chart) {
  var places = chart.querySelectorAll('.at');
  var said = document.getElementById('said');
  var at = -1;
  function show(next) {
    if (places[at]) places[at].classList.remove('on');
    at = next;
    chart.classList.toggle('keys', at !== -1);
    if (at === -1) return;
    places[at].classList.add('on');
    said.textContent = Array.from(places[at].querySelectorAll('text')).map(function (t) {
      return t.textContent;
    }).join(', ');
  }
  chart.addEventListener('keydown', function (event) {
    var last = places.length - 1;
    var next = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last,
      Escape: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    show(next);
  });
  chart.addEventListener('blur', function () { show(-1); });
  chart.addEventListener('pointermove', function () { if (at !== -1) show(-1); });
});
)";

}  // namespace espalier::report
