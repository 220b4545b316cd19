/// The look of the parts that only this page has; the rest is that of all pages (report/page_style.cc).
#include "espalier/show/page_parts.h"

namespace espalier::show {

const std::string_view kBatchesStyle = R"(
:root { --pale: #c4ccd4; --ink: #1b1f24; --shade: rgba(30, 40, 50, .07); }
@media (prefers-color-scheme: dark) { :root { --pale: #49525c; --ink: #f2f5f8; --shade: rgba(255, 255, 255, .06); } }
@media print { :root { --pale: #c4ccd4; --ink: #000000; --shade: rgba(0, 0, 0, .05); } }
section { margin-bottom: 8px; }
.intro { margin: 14px 0 0; padding: 12px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.intro p { margin: 8px 0 0; max-width: 92ch; }
.stage-card { padding: 14px; }
.stage { position: relative; width: 100%; height: 730px; }
#trees, .strip { display: block; width: 100%; touch-action: pan-y; border-radius: 6px; }
#trees { height: 100%; cursor: default; }
#trees:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.panel { position: absolute; top: 0; right: 0; width: 36%; padding: 2px 4px 6px 18px; border-left: 1px solid var(--line); min-height: 128px; }
.panel p { margin: 0 0 5px; max-width: none; }
.panel ul { margin: 0 0 6px; padding-left: 18px; font-size: 14px; line-height: 1.4; }
#panel-head { font-weight: 600; font-size: 14px; margin: 0; }
.notes { border-left-color: var(--line); font-size: 14px; }
.notes p { max-width: 110ch; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(136px, 1fr)); }
.signs { list-style: none; margin: 10px 0 0; padding: 8px 0 0; border-top: 1px solid var(--line); display: flex; flex-wrap: wrap;
  gap: 3px 20px; color: var(--quiet); font-size: 13px; }
.signs li { display: inline-flex; align-items: center; gap: 7px; }
.dot { width: 12px; height: 12px; border-radius: 50%; background: #00a5a0; flex: none; }
.dot.ringed { box-shadow: 0 0 0 2px var(--ink); margin: 0 2px; }
.dot.faded { opacity: .34; }
.dot.hollow { background: none; border: 3px solid #00a5a0; }
.stroke { height: 14px; border-left: 2px solid var(--quiet); transform: rotate(25deg); margin: 0 5px; flex: none; }
.strip-frame { position: relative; }
#strip-tip { bottom: 100%; max-width: 90%; width: max-content; }
.panel-step { font-size: 18px; line-height: 1.3; display: flex; align-items: center; gap: 9px; }
.panel-swatch { width: 17px; height: 17px; border-radius: 50%; flex: none; }
.tip { position: absolute; z-index: 2; max-width: min(340px, 90%); padding: 7px 10px; background: var(--card); color: var(--text);
  border: 1px solid var(--quiet); border-radius: 6px; font-size: 12.5px; line-height: 1.4; pointer-events: none;
  box-shadow: 0 3px 12px rgba(0, 0, 0, .22); overflow-wrap: anywhere; white-space: pre-line; }
.strip { height: 104px; cursor: pointer; }
.strip-label { margin: 8px 0 2px; max-width: none; }
#scrub { width: 100%; margin: 2px 0 8px; display: block; accent-color: var(--c0); }
.controls { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
button, select { font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--line); border-radius: 6px;
  padding: 5px 12px; cursor: pointer; min-height: 34px; }
button:hover { border-color: var(--quiet); }
button:focus-visible, select:focus-visible, #scrub:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
#play { min-width: 96px; font-weight: 600; }
.zooms { margin-left: auto; display: inline-flex; gap: 6px; align-items: center; }
.keys { margin: 10px 0 0; max-width: none; }
.bars { width: 180px; min-width: 70px; }
.bar { display: block; height: 12px; margin-top: 4px; border-radius: 3px; background: var(--shade); overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--c0); border-radius: 3px; min-width: 1px; }
.strategies, .advice, .apart, .steps { width: 100%; }
.numbers td.text { text-align: left; white-space: normal; }
.strategies .used { background: var(--shade); }
.strategies th.text { font-weight: 600; }
.strategies .note, .advice .note { font-weight: 400; }
.advice td:first-child { white-space: nowrap; font-weight: 600; }
.to-step { padding: 1px 8px; min-height: 26px; display: inline-flex; align-items: center; white-space: nowrap; }
tr.current { background: var(--shade); }
details > .card { margin-top: 10px; }
.steps { white-space: nowrap; }
.steps td.text { white-space: normal; min-width: 110px; }
.timeline rect { stroke: var(--card); stroke-width: .4; }
.timeline rect:hover { stroke: var(--text); stroke-width: 1; }
.span-name { font-size: 11px; fill: #10151a; pointer-events: none; }
.p0 { fill: #9ad2f2; } .p1 { fill: #c9d1d9; } .p2 { fill: #e3b7d3; } .p3 { fill: #e69f00; } .p4 { fill: #f0c860; }
.p5 { fill: #d55e00; } .p6 { fill: #8fcdb5; } .p7 { fill: #b9a7e0; } .p8 { fill: #6fb6dd; }
.needed-area { fill: var(--c0); opacity: .16; }
.dash { display: inline-block; width: 22px; height: 0; border-top: 3px solid; }
.d0 { border-color: var(--c0); } .d1 { border-color: var(--c1); }
@media (max-width: 959px) {
  .stage { height: 1130px; }
  .panel { top: 560px; left: 0; width: 100%; padding: 8px 0 0; border-left: 0; border-top: 1px solid var(--line); min-height: 0; }
}
@media (max-width: 759px) {
  .stage { height: 1040px; }
  .panel { top: 380px; }
  .zooms { margin-left: 0; }
  .bars { width: 70px; }
}
@media print {
  .controls, #scrub, .keys, .strip-label { display: none; }
  .stage-card, .card { break-inside: avoid; }
  .stage { height: 900px; }
  .panel { top: 430px; left: 0; width: 100%; padding: 8px 0 0; border-left: 0; border-top: 1px solid var(--line); min-height: 0; }
  .steps { font-size: 10px; }
  .steps th, .steps td { padding-left: 3px; padding-right: 3px; }
  .steps td.text { min-width: 0; }
  .steps td:last-child { overflow-wrap: anywhere; }
}
)";

}  // namespace espalier::show
