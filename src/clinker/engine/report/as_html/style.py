"""What a page looks like: on phones, on wide screens and on paper, by day and by night."""

from __future__ import annotations

from clinker.plan.explain.style import PICTURE

_PAGE = """
.page {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  -webkit-text-size-adjust: 100%;
}
.page > * { box-sizing: border-box; max-width: 1160px; margin-inline: auto; padding-inline: 20px; }
.page code, .page pre {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875em;
  color: inherit; background: none;
}
.page code { overflow-wrap: anywhere; }
.page a { color: var(--accent); }
.page :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.page .skip {
  position: absolute; left: 8px; top: -80px; padding: 8px 16px; z-index: 1;
  background: var(--paper); border: 1px solid var(--accent); border-radius: 6px;
}
.page .skip:focus { top: 8px; }
.page main:focus { outline: none; }

.masthead { padding-block: 40px 12px; }
.masthead .eyebrow { margin: 0; color: var(--faint); font-size: 0.875rem; }
.masthead h1 { margin: 2px 0 14px; font-size: 2rem; line-height: 1.2; letter-spacing: -0.01em; }
.masthead .when { margin: 14px 0 0; color: var(--faint); font-size: 0.9375rem; }
.verdict {
  display: inline-flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline; margin: 0;
  padding: 8px 16px; background: var(--sheet); border-radius: 8px; border-left: 5px solid;
}
.verdict.good { border-color: var(--good); } .verdict.good strong { color: var(--good); }
.verdict.careful { border-color: var(--careful); }
.verdict.careful strong { color: var(--careful); }
.verdict.bad { border-color: var(--bad); } .verdict.bad strong { color: var(--bad); }

.page nav ul {
  display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 8px 0 0; padding: 10px 0; list-style: none;
  border-bottom: 1px solid var(--rule); font-size: 0.9375rem;
}
.page nav a { display: inline-block; padding: 4px 0; text-decoration: none; }
.page nav a:hover { text-decoration: underline; }

.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px;
  margin: 24px 0 0;
}
.tiles div {
  display: flex; flex-direction: column-reverse; padding: 12px 16px; background: var(--sheet);
  border-radius: 10px;
}
.page .tiles dt { color: var(--faint); font-size: 0.875rem; }
.page .tiles dd {
  margin: 0; font-size: 1.5rem; font-weight: 600; line-height: 1.3;
  font-variant-numeric: tabular-nums;
}
.page .tiles .careful dd { color: var(--careful); }
.page .tiles .unknown { font-size: 1rem; }

.page section { margin-top: 44px; }
.page h2 { margin: 0 0 14px; font-size: 1.3125rem; line-height: 1.3; }
.page .hint { color: var(--faint); font-size: 0.875rem; }
.page .unknown { color: var(--faint); font-weight: 400; }
.page .bad { color: var(--bad); }

.scrolling { overflow-x: auto; max-width: 100%; margin-bottom: 20px; }
.canvas {
  margin-bottom: 8px; padding: 14px; box-sizing: border-box; border: 1px solid var(--rule);
  border-radius: 10px;
}
.canvas .picture { margin-inline: auto; }
.canvas .for-wide { display: none; }
@media (min-width: 1000px) {
  .canvas .for-wide { display: block; }
  .canvas .for-narrow { display: none; }
}

.page table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
.page.page table tbody tr:nth-child(n) { background: none; } /* notebooks stripe them */
.page caption { padding: 0 0 6px; color: var(--faint); font-size: 0.875rem; text-align: left; }
.page th, .page td {
  padding: 7px 14px 7px 0; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top;
}
.page th:last-child, .page td:last-child { padding-right: 0; }
.page thead th { color: var(--faint); font-size: 0.8125rem; font-weight: 600; white-space: nowrap; }
.page tbody th { font-weight: 600; }
.page .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.page td code, .page th code { overflow-wrap: break-word; }
.page .path { display: inline-block; min-width: 14em; }
.page td.why { min-width: 12em; }

.page details { margin-bottom: 12px; border: 1px solid var(--rule); border-radius: 10px; }
.page summary { padding: 11px 16px; cursor: pointer; }
.page details[open] > summary { border-bottom: 1px solid var(--rule); }
.reason > .source-line, .reason > .scrolling { margin: 14px 16px; max-width: none; }
.reason td:first-child, .reason tbody th { white-space: nowrap; font-weight: 400; }
.source-line { margin: 12px 0; }
.source-line figcaption { color: var(--faint); font-size: 0.875rem; }
.source-line pre {
  margin: 4px 0 0; padding: 9px 13px; background: var(--sheet); border-radius: 6px;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.page mark { background: var(--mark); color: inherit; border-radius: 3px; }
.page .value {
  padding: 1px 5px; background: var(--sheet); border-radius: 4px; white-space: pre-wrap;
}

.finding, .error > .message {
  margin: 0 0 14px; padding: 12px 16px; border-left: 4px solid var(--careful);
  background: var(--sheet); border-radius: 6px;
}
.finding.error, .error > .message { border-color: var(--bad); }
.finding .source-line pre { background: var(--paper); }
.finding p { margin: 0; }
.finding .help { margin-top: 8px; }
.notes { padding-left: 22px; }
.page .plan-text {
  margin: 0; padding: 14px 16px; max-height: 70vh; overflow: auto; font-size: 0.8125rem;
}

.facts {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 12px 28px;
  margin: 0;
}
.page .facts dt { color: var(--faint); font-size: 0.8125rem; }
.page .facts dd { margin: 0; }
.share { display: flex; gap: 10px; align-items: center; min-width: 110px; }
.bar { flex: 1; height: 8px; max-width: 420px; background: var(--sheet); border-radius: 4px; }
.bar span { display: block; height: 100%; background: var(--accent); border-radius: 4px; }
.page footer {
  margin-top: 56px; padding-block: 14px 32px; color: var(--faint); font-size: 0.875rem;
}

@media (max-width: 480px) {
  .page { font-size: 15px; }
  .page > * { padding-inline: 16px; }
  .masthead { padding-top: 24px; }
  .masthead h1 { font-size: 1.625rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
}
@media print {
  .page { font-size: 10.5pt; }
  .page > * { max-width: none; padding-inline: 0; }
  .page nav, .page .skip, .page .plan { display: none; }
  .canvas .for-wide { display: none; }
  .canvas .for-narrow { display: block; }
  .scrolling { overflow: visible; }
  .canvas .picture { min-width: 0 !important; max-height: 230mm; }
  .page table, .page details, .finding, .tiles div { break-inside: avoid; }
  .page h2 { break-after: avoid; }
  .reason::details-content { content-visibility: visible; }
  .bar, .bar span, .page mark, .node rect { print-color-adjust: exact; }
}
"""

STYLE = PICTURE + _PAGE
