"""The documentation as a site: `scripts/site` builds it, `scripts/site --serve` shows it.

  pages        which file becomes which page, and what Zensical reads in its place
  markdown     the text of a page as Zensical understands it
  navigation   the order of pages, which is that of the tables in docs/README.md
  examples     the page that shows the example programs
  highlighting colours for CXL, alone and inside YAML
  generator    Zensical with these colours
  build        all of it laid out, built and mended
  assets       what browsers get besides: a style sheet, and workers for pages opened from disk

Pages are written for GitHub first: a site is made of them, and no page knows of it. A new page
needs a row in docs/README.md, nothing else. zensical.toml, at the root, says how the site looks.
"""
