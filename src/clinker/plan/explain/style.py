"""What pictures look like, by day and by night; what is shown beside them uses their colours."""

from __future__ import annotations

PICTURE = """
.clinker {
  --paper: #ffffff; --sheet: #f6f7f9; --ink: #1b2230; --faint: #566072; --rule: #dfe3ea;
  --accent: #1f5fbf; --good: #1c6b3c; --careful: #8a4b00; --bad: #b3261e; --mark: #fdecc8;
  --source: #2f6fd0; --output: #2c8a55; --works: #7a8496; --gathers: #8a56c2; --parts: #c07a16;
  background: var(--paper); color-scheme: light;
}
@media screen and (prefers-color-scheme: dark) {
  .clinker {
    --paper: #14181f; --sheet: #1c222c; --ink: #e7eaf0; --faint: #a3adbd; --rule: #323b49;
    --accent: #8ab4ff; --good: #7fd6a2; --careful: #f2bd6b; --bad: #ff9b92; --mark: #57461a;
    --source: #6ea3ff; --output: #5cc98b; --works: #8c97aa; --gathers: #bb93ee; --parts: #e3a548;
    color-scheme: dark;
  }
}
.clinker .picture, .clinker.picture {
  display: block; max-width: 100%; height: auto; color: var(--ink);
  font: 13px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
.picture .box { fill: var(--paper); stroke: var(--rule); }
.picture .node rect:not(.box) { fill: var(--works); }
.picture .node.source rect:not(.box) { fill: var(--source); }
.picture .node.output rect:not(.box) { fill: var(--output); }
.picture .node.aggregate rect:not(.box), .picture .node.state rect:not(.box) {
  fill: var(--gathers);
}
.picture .node.route rect:not(.box), .picture .node.merge rect:not(.box),
.picture .node.combine rect:not(.box) { fill: var(--parts); }
.picture text { fill: var(--ink); }
.picture .kind { fill: var(--faint); font-size: 11px; }
.picture .name { font-weight: 600; }
.picture .fate { fill: var(--faint); font-size: 11px; }
.picture .fate .rejected { fill: var(--bad); font-weight: 600; }
.picture .link path { fill: none; stroke: var(--works); stroke-width: 1.5; }
.picture .link.held path:not(.arrow) { stroke-dasharray: 5 4; }
.picture .link .arrow { fill: var(--works); stroke: none; }
.picture .way, .picture .records {
  text-anchor: middle; font-size: 11px; paint-order: stroke; stroke: var(--paper);
  stroke-width: 5px; stroke-linejoin: round;
}
.picture .way { fill: var(--faint); }
.picture .records { font-variant-numeric: tabular-nums; font-weight: 600; }
"""
