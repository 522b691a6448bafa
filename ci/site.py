#!/usr/bin/python3
"""Makes a web site of README, docs/ and the man pages: site.py FOLDER BUILD

mkdocs with its theme "material" makes the pages. The Markdown files keep their places, so a link
that works in the repository works on the site. Each link of each page is checked: a missing page,
picture or anchor fails. The pages work from a web server and from files, search included.
"""

import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The navigation. A page of docs/ that is missing here fails.
NAVIGATION = [
    ("Heddle", "README.md"),
    ("Learn", ["docs/tutorial.md", "docs/tutorial-research.md", "docs/tutorial-libraries.md",
               "docs/exercises.md", "docs/worked-case.md", "docs/glossary.md"]),
    ("Simulate", ["docs/scenarios.md", "docs/topologies.md", "docs/routing.md",
                  "docs/multicast.md", "docs/jobs.md", "docs/verbs.md", "docs/sweeps.md",
                  "docs/report.md", "docs/database.md", "docs/serve.md"]),
    ("QoS", ["docs/qos.md", "docs/congestion.md", "docs/queueing-models.md"]),
    ("Live fabrics", ["docs/live.md", "docs/wire.md"]),
    ("Trust", ["docs/validation.md", "docs/oracle.md", "docs/papers.md", "docs/performance.md"]),
    ("Reference", ["docs/commands.md", "docs/timing-rules.md", "docs/transport.md",
                   "docs/library.md", "man/index.md"]),
    ("Develop", ["docs/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
                 "CODE_OF_CONDUCT.md"]),
]

# Folders that pages link to. They are on the site as files.
LINKED = ["examples", "share/wireshark"]

SETTINGS = {
    "site_name": "Heddle",
    "site_description": "An InfiniBand fabric in software",
    "use_directory_urls": False,
    "strict": True,
    "extra_css": ["site/site.css"],
    "theme": {
        "name": "material",
        "font": False,
        "icon": {"logo": "material/grid"},
        "features": ["navigation.tabs", "navigation.top", "search.highlight"],
        "palette": [
            {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo",
             "toggle": {"icon": "material/weather-night", "name": "Dark colours"}},
            {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo",
             "toggle": {"icon": "material/weather-sunny", "name": "Light colours"}},
        ],
    },
    "markdown_extensions": ["attr_list", "sane_lists", "tables", "fenced_code",
                            {"toc": {"permalink": True}}],
}


def fail(text):
    sys.exit("site: " + text)


def man_pages(build, folder):
    """Man pages as HTML within Markdown, and a list of them; returns their paths."""
    sources = {}
    for place in os.path.join(build, "man"), os.path.join(ROOT, "man"):
        for name in os.listdir(place):
            if re.search(r"\.[1-8]$", name):
                sources[name] = os.path.join(place, name)
    if not sources:
        fail("no man pages in %s" % build)
    order = sorted(sources, key=lambda name: (name[-1], name[:-2]))
    lines = ["# Man pages", ""]
    for name in order:
        made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", sources[name]],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        body = made[made.index('<div class="manual-text">'):made.rindex("<table")]
        title = "%s(%s)" % (name[:-2], name[-1])
        purpose = re.search(r'<p class="Pp">\S+ +- +(.*?)</p>', body, re.S)
        # Headings of the page are below its title; sections of other pages become links.
        body = re.sub(r"(</?)h1", r"\1h2", body)
        body = re.sub(r"<b>([a-z-]+)</b>\(([1-8])\)",
                      lambda m: '<a href="%s.%s.html">%s</a>' % (m[1], m[2], m[0])
                      if m[1] + "." + m[2] in sources else m[0], body)
        with open(os.path.join(folder, name + ".md"), "w") as file:
            file.write("# %s\n\n%s\n" % (title, body))
        text = re.sub(r"<[^>]*>|\s+", " ", purpose[1]).strip() if purpose else ""
        lines.append("- [%s](%s.md): %s" % (title, name, text))
    with open(os.path.join(folder, "index.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    return ["man/%s.md" % name for name in order]


def assemble(build, folder):
    """The sources of the site in one folder, and the settings of mkdocs."""
    docs = os.path.join(folder, "pages")
    shutil.copytree(os.path.join(ROOT, "docs"), os.path.join(docs, "docs"))
    for name in os.listdir(ROOT):
        if name.endswith(".md") or name == "LICENSE":
            shutil.copy(os.path.join(ROOT, name), docs)
    for name in LINKED:
        shutil.copytree(os.path.join(ROOT, name), os.path.join(docs, name))
    shutil.copytree(os.path.join(ROOT, "packaging", "site"), os.path.join(docs, "site"))
    os.mkdir(os.path.join(docs, "man"))
    manual = man_pages(build, os.path.join(docs, "man"))

    named = [page for _, pages in NAVIGATION for page in
             ([pages] if isinstance(pages, str) else pages)]
    for page in named:
        if not os.path.exists(os.path.join(docs, page)):
            fail("no page %s" % page)
    for page in sorted(os.listdir(os.path.join(docs, "docs"))):
        if page.endswith(".md") and "docs/" + page not in named:
            fail("docs/%s is not in the navigation of ci/site.py" % page)
    navigation = []
    for name, pages in NAVIGATION:
        if name == "Reference":
            pages = pages[:-1] + [{"Man pages": pages[-1:] + manual}]
        navigation.append({name: pages})
    settings = dict(SETTINGS, nav=navigation, docs_dir=docs)
    with open(os.path.join(folder, "mkdocs.yml"), "w") as file:
        yaml.safe_dump(settings, file)


class Page(html.parser.HTMLParser):
    """Anchors and links of one page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.text = {""}, [], ""
        with open(path) as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.append(value)


def check_links(out):
    """Every link to the site's own files leads somewhere."""
    pages, bad, count = {}, [], 0
    for folder, _, names in os.walk(out):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = Page(path)
    for path, page in sorted(pages.items()):
        # mkdocs' page of missing pages has absolute links.
        if os.path.basename(path) == "404.html":
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = os.path.normpath(os.path.join(os.path.dirname(path),
                                                   urllib.parse.unquote(parts.path)))
            if parts.path in ("", "."):
                target = path if not parts.path else os.path.join(os.path.dirname(path),
                                                                  "index.html")
            anchor = urllib.parse.unquote(parts.fragment)
            if not os.path.exists(target):
                bad.append("%s: no %s" % (os.path.relpath(path, out), link))
            elif target in pages and anchor not in pages[target].anchors:
                bad.append("%s: no anchor %s" % (os.path.relpath(path, out), link))
    if bad:
        fail("dead links:\n" + "\n".join(sorted(set(bad))))
    return len(pages), count


def search_in_files(out):
    """Pages that are opened as files read the search index as a script (search.js)."""
    search = os.path.join(out, "search")
    shutil.move(os.path.join(out, "site", "search.js"), search)
    with open(os.path.join(search, "search_index.json")) as file:
        index = file.read()
    with open(os.path.join(search, "search_index.js"), "w") as file:
        file.write("var __search = { index: Promise.resolve(%s) };\n" % index)
    for folder, _, names in os.walk(out):
        for path in (os.path.join(folder, name) for name in names if name.endswith(".html")):
            with open(path) as file:
                text = file.read()
            text, n = re.subn(r'(<script src="([^"]*)assets/javascripts/bundle)',
                              r'<script src="\2search/search.js"></script>\1', text)
            if n != 1 and 'class="md-' in text:
                fail("%s: no script of the theme" % path)
            with open(path, "w") as file:
                file.write(text)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: site.py FOLDER BUILD")
    out, build = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="heddle-site.") as folder:
        assemble(build, folder)
        done = subprocess.run(["mkdocs", "build", "--clean", "--site-dir", out,
                               "--config-file", os.path.join(folder, "mkdocs.yml")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            fail("mkdocs failed:\n" + done.stdout)
    search_in_files(out)
    pages, links = check_links(out)
    print("site: %d pages, %d links, in %s" % (pages, links, out))


main()
