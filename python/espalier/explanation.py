"""What Graph.explain() gives: a text that is a page in a notebook."""

import html


class Explanation(str):
    """The steps of a graph as text; a notebook shows the page of Graph.page() in a frame."""

    def __new__(cls, text, graph):
        made = super().__new__(cls, text)
        made._graph = graph
        return made

    def _repr_html_(self):
        page = html.escape(self._graph.page(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 600px; border: 0"></iframe>'
