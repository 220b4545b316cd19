#!/usr/bin/env python3
"""The page of `espalier explain`, in a real browser. usage: check_page.py ESPALIER

Skips itself (77), and says so, without Chromium and its driver.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

import browser

ESPALIER = sys.argv.pop(1) if len(sys.argv) > 1 else "build/release/espalier"
WORDS = "the a film story cast plot is was not never very quite good bad dull funny long new and but of with".split()
HOSTILE = ["</script><script>alert(1)</script>", "\"quoted\"'", "<b>bold</b>", "&amp;", "x" * 10000, "\u202etfel\u202c",
           "\u05d0\u05d1\u05d2", "\u2028", "${x}`", "<!--", "]]>", "\\"]


def tree(draw, depth, words):
    if depth == 0 or draw.random() < 0.25:
        return f"({draw.randrange(5)} {draw.choice(words)})"
    return f"({draw.randrange(5)} {tree(draw, depth - 1, words)} {tree(draw, depth - 1, words)})"


def write_trees(path, count, words=WORDS, depth=6):
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(f"(2 {tree(draw, depth, words)} {tree(draw, depth, words)})\n")


def explain(*arguments):
    return subprocess.run([ESPALIER, "explain", *arguments], check=True, capture_output=True, text=True,
                          env={**os.environ, "ESPALIER_THREADS": "1"}).stdout


def number(text):
    return int(text.replace(",", ""))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        trees = os.path.join(cls.folder.name, "trees.txt")
        write_trees(trees, 24)
        cls.page = os.path.join(cls.folder.name, "page.html")
        cls.text = explain("sentiment", trees, "--records", "24", "--training", "-o", cls.page, "--text")
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.emulate(1280, 1000)
        self.browser.open(self.page)
        self.browser.wait("return window.espalierPage !== undefined")

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])

    def state(self):
        # What a pointer or key changed is drawn with the next frame.
        return self.browser.run("return espalierPage.state()")

    def settled(self):
        return self.browser._send("POST", self.browser.session + "/execute/async", {
            "script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame("
                      "() => done(espalierPage.state())))", "args": []})

    def node_of_step(self, least_inputs):
        """A node that needs others, whose step is not the one that is shown."""
        return self.browser.run("""
            const d = espalierPage.data, shown = espalierPage.state().step;
            for (let i = 0; i < d.x.length; ++i) {
              let needs = 0;
              for (let e = 1; e < d.edges.length; e += 2) needs += d.edges[e] === i ? 1 : 0;
              if (needs >= arguments[0] && d.step[i] !== shown && !d.merged[i]) return i;
            }
            return -1;""", least_inputs)

    def show_stage(self):
        self.browser.run("document.getElementById('stage').scrollIntoView({block: 'start', behavior: 'instant'})")

    def test_numbers_are_those_of_the_library(self):
        first = re.search(r"run 1: (\d+) nodes of (\d+) instances in (\d+) steps \(bound (\d+)", self.text)
        tiles = self.browser.run("return [...document.querySelectorAll('.tile .value')].map(e => e.textContent)")
        self.assertEqual([number(tiles[0]), number(tiles[1])], [int(first[1]), int(first[3])])
        self.assertIn(f"fewer than {int(first[4]):,}", self.browser.run("return document.querySelectorAll('.tile')[1].textContent"))
        listed = {}
        for line in re.finditer(r"^(none|depth|agenda|frontier) +(\d+) +(\d+) ", self.text, re.M):
            listed[line[1]] = [int(line[2]), int(line[3])]
        self.assertEqual(set(listed), {"none", "depth", "agenda", "frontier"})
        for name, counts in listed.items():
            cells = self.browser.run("""const row = document.querySelector(`tr[data-strategy="${arguments[0]}"]`);
                return [row.querySelector('.s-steps').textContent, row.querySelector('.s-bound').textContent]""", name)
            self.assertEqual([number(cell) for cell in cells], counts)
        self.assertEqual(listed["frontier"][0], int(first[3]))
        self.assertEqual(listed["none"][0], int(first[1]))
        # What the script draws adds up to the same.
        self.assertEqual(self.browser.run("return espalierPage.data.steps.reduce((all, s) => all + s.nodes, 0)"), int(first[1]))
        drawn = self.browser.run("""const d = espalierPage.data, rows = d.steps.map(() => new Set());
            d.step.forEach((s, i) => { for (let r = 0; r < (d.rows ? d.rows[i] : 1); ++r) rows[s].add(d.row[i] + r); });
            return rows.map(r => r.size)""")
        self.assertEqual(drawn, self.browser.run("return espalierPage.data.steps.map(s => s.rows)"))

    def test_hovering_shows_step_inputs_and_row(self):
        self.show_stage()
        node = self.node_of_step(2)
        x, y = self.browser.run("return espalierPage.placeOf(arguments[0])", node)
        self.browser.hover(x, y)
        state = self.settled()
        of = self.browser.run("const d = espalierPage.data; return {step: d.step[arguments[0]], row: d.row[arguments[0]], id: d.id[arguments[0]]}", node)
        self.assertEqual([state["hovered"], state["step"]], [node, of["step"]])
        self.assertIn(f"as node {of['id']:,} of the whole graph", state["tip"])
        self.assertRegex(state["tip"], r"^node \d+ of input \d+: ")
        self.assertIn(f"row {of['row'] + 1} of", state["tip"])
        self.assertRegex(state["tip"], r"needs nodes \d+, \d+")
        self.assertRegex(state["tip"], r"\w+\.(cc|h):\d+")
        # The cell of the block is the same node.
        x, y = self.browser.run("return espalierPage.placeOfRow(arguments[0], arguments[1])", of["step"], of["row"])
        self.browser.click(*self.browser.run("return espalierPage.placeOf(arguments[0])", node))
        self.browser.hover(x, y)
        self.assertEqual(self.settled()["hovered"], node)

    def test_clicking_a_step_shows_its_nodes(self):
        self.show_stage()
        self.browser.run("document.querySelector('.steps').closest('details').open = true")
        self.browser.run("document.querySelector('.to-step[data-step=\"2\"]').click()")
        state = self.settled()
        self.assertEqual(state["step"], 2)
        self.assertIn("Step 3 of", state["panel"])
        self.assertEqual(self.browser.run("return document.querySelector('tr.current').dataset.step"), "2")
        self.browser.run("document.getElementById('strip').scrollIntoView({block: 'center', behavior: 'instant'})")
        self.browser.click(*self.browser.run("return espalierPage.placeOfBar(4)"))
        self.assertEqual(self.settled()["step"], 4)

    def test_the_panel_says_why_exactly_these(self):
        d = self.browser.run("const d = espalierPage.data; return {step: d.step, merged: d.merged, edges: d.edges, steps: d.steps}")
        needs = [set() for _ in d["step"]]
        for source, user in zip(d["edges"][::2], d["edges"][1::2]):
            needs[user].add(d["step"][source])
        said = 0
        for k, step in enumerate(d["steps"]):
            self.browser.run("espalierPage.select(arguments[0], true)", k)
            panel = self.settled()["panel"]
            nodes = [i for i, s in enumerate(d["step"]) if s == k and not d["merged"][i]]
            earlier = sorted(set().union(*(needs[i] for i in nodes)))
            if step["nodes"] > 1:
                self.assertIn("They do the same operation", panel)
                self.assertIn(f"{step['nodes']:,} nodes", panel)
            if earlier and len(nodes) == step["nodes"]:
                self.assertIn("ready: step", panel)
                self.assertIn(f"{earlier[-1] + 1} computed it", panel)
                self.assertLess(earlier[-1], k)
            left = re.search(r"The ([\d,]+) other nodes of this kind that are left cannot run yet", panel)
            if left:
                later = [i for i, s in enumerate(d["step"])
                         if s > k and not d["merged"][i] and d["steps"][s]["group"] == step["group"]]
                self.assertEqual(number(left[1]), len(later))
                self.assertTrue(all(max(needs[i]) >= k for i in later))
                said += 1
        self.assertGreater(said, 2)

    def test_hovering_a_bar_names_its_step(self):
        self.browser.run("document.getElementById('strip').scrollIntoView({block: 'center', behavior: 'instant'})")
        self.browser.hover(*self.browser.run("return espalierPage.placeOfBar(2)"))
        step = self.browser.run("return espalierPage.data.steps[2]")
        tip = self.browser.run("const tip = document.getElementById('strip-tip'); return tip.hidden ? '' : tip.textContent")
        self.assertIn("Step 3 of", tip)
        self.assertIn(step["op"], tip)
        self.assertIn("measured", tip)
        self.assertEqual(number(re.search(r"([\d,]+) rows?", tip)[1]), step["rows"])
        self.browser.hover(5, 5)
        self.assertTrue(self.browser.run("return document.getElementById('strip-tip').hidden"))

    def test_the_animation_plays_and_stops(self):
        self.browser.run("document.getElementById('speed').value = '8'; document.getElementById('play').click()")
        self.assertTrue(self.state()["playing"])
        self.browser.wait("return espalierPage.state().position > 1.5")
        self.browser.run("document.getElementById('play').click()")
        state = self.settled()
        self.assertFalse(state["playing"])
        self.assertEqual(self.settled()["position"], state["position"])
        self.browser.run("document.getElementById('play').click()")
        self.browser.wait("return !espalierPage.state().playing")
        state = self.settled()
        self.assertEqual(state["position"], state["steps"])
        self.assertIn("are done", state["panel"])

    def test_keys_do_what_the_pointer_does(self):
        self.browser.run("document.getElementById('trees').focus(); espalierPage.select(0, true)")
        self.browser.press("\ue014")  # right
        self.assertEqual(self.settled()["step"], 1)
        self.browser.press("\ue012")  # left
        self.assertEqual(self.settled()["step"], 0)
        self.browser.press("\ue010")  # end
        self.assertEqual(self.settled()["step"], self.state()["steps"] - 1)
        self.browser.press("\ue011")  # home
        self.browser.press("\ue015")  # down: the first row of the step
        state = self.settled()
        self.assertEqual(self.browser.run("return [espalierPage.data.step[arguments[0]], espalierPage.data.row[arguments[0]]]", state["pinned"]), [0, 0])
        self.assertIn("row 1 of", self.browser.run("return document.getElementById('said').textContent"))
        self.browser.press("\ue00c")  # escape
        self.assertEqual(self.settled()["pinned"], -1)
        self.browser.press("+")
        self.assertGreater(self.settled()["zoom"], 1)
        self.browser.press("0")
        self.assertEqual(self.settled()["zoom"], 1)
        self.browser.press(" ")
        self.assertTrue(self.settled()["playing"])
        self.browser.press(" ")
        self.assertFalse(self.settled()["playing"])

    def test_a_screen_reader_has_words_for_everything(self):
        unnamed = self.browser.run("""return [...document.querySelectorAll('button, input, select, canvas:not([aria-hidden]), svg')]
            .filter(e => !e.getAttribute('aria-label') && !e.textContent.trim() && !e.closest('label')).map(e => e.outerHTML)""")
        self.assertEqual(unnamed, [])
        self.assertEqual(self.browser.run("return document.querySelectorAll('th:not([scope])').length"), 0)
        self.assertEqual(self.browser.run("return document.documentElement.lang"), "en")
        self.assertIn("Step", self.browser.run("return document.getElementById('scrub').getAttribute('aria-valuetext')"))

    def test_nothing_overflows_and_nothing_is_loaded(self):
        for width in (390, 800, 1440):
            self.browser.emulate(width, 900)
            self.settled()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').map(e => e.name)"), [])

    def test_dark_and_reduced_motion(self):
        light = self.browser.run("return getComputedStyle(document.body).backgroundColor")
        self.browser.emulate(1280, 1000, dark=True, reduced_motion=True)
        self.assertNotEqual(self.browser.run("return getComputedStyle(document.body).backgroundColor"), light)
        self.settled()

    def test_it_prints_with_all_of_its_tables(self):
        self.browser.command("Page.printToPDF")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('details')].filter(d => !d.open).length"), 0)


class Hostile(unittest.TestCase):
    def test_hostile_words_do_no_harm(self):
        with tempfile.TemporaryDirectory() as folder, browser.Browser() as chromium:
            trees = os.path.join(folder, "trees.txt")
            words = [word.replace("(", "").replace(")", "") for word in HOSTILE] + WORDS
            write_trees(trees, 12, words, depth=3)
            page = os.path.join(folder, "page.html")
            explain("sentiment", trees, "-o", page)
            chromium.open(page)
            chromium.wait("return window.espalierPage !== undefined")
            chromium.emulate(390, 900)
            self.assertEqual(chromium.run("return document.querySelectorAll('script').length"), 2)
            self.assertEqual(chromium.run("return document.querySelectorAll('main b, main bdi b').length > 20"), False)
            self.assertLessEqual(chromium.run("return document.documentElement.scrollWidth"), 390)
            texts = chromium.run("return espalierPage.data.inputs.map(input => input[1]).join(' ')")
            self.assertIn("</script><script>alert", texts)
            self.assertNotIn("x" * 200, texts)
            self.assertEqual(chromium.console(), [])


class Large(unittest.TestCase):
    def test_only_as_many_inputs_are_drawn_as_can_be_seen(self):
        with tempfile.TemporaryDirectory() as folder, browser.Browser() as chromium:
            trees = os.path.join(folder, "trees.txt")
            write_trees(trees, 2000)
            page = os.path.join(folder, "page.html")
            explain("sentiment", trees, "--records", "2000", "-o", page)
            chromium.open(page)
            chromium.wait("return window.espalierPage !== undefined")
            self.assertLessEqual(chromium.run("return espalierPage.state().nodes"), 6000)
            self.assertIn("nodes are drawn", chromium.run("return document.body.textContent"))
            self.assertEqual(chromium.console(), [])


if __name__ == "__main__":
    if browser.missing():
        print(f"skipped: there is no {browser.missing()} here (Debian: chromium, chromium-driver)")
        sys.exit(77)
    unittest.main(verbosity=2)
