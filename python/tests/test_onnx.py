"""The export of ONNX files."""

import pytest

import espalier as esp


@pytest.fixture
def net():
    model = esp.Model(seed=1)
    return (esp.nn.Embedding(model / "words", 5, 4), esp.nn.BinaryTreeLstm(model / "cell", 4, 3),
            esp.nn.Linear(model / "out", 3, 2))  # fmt: skip


def test_a_network_over_trees_becomes_one_file(net, tmp_path):
    words, cell, out = net
    with esp.Graph(training=False) as g:
        samples = []
        for left, right in ((0, 1), (2, 3)):
            g.begin_instance()
            samples.append(out(cell(cell.leaf(words(left)), cell.leaf(words(right))).h))
        path = tmp_path / "model.onnx"
        esp.export_onnx(path, ["scores"], samples)
    content = path.read_bytes()
    assert b"scores" in content and b"Loop" in content and b"cell.U" in content


def test_what_cannot_be_exported_is_refused(net, tmp_path):
    with pytest.raises(esp.UsageError):
        esp.export_onnx(tmp_path / "model.onnx", ["scores"], [])
    with esp.Graph(training=False) as g, pytest.raises(esp.UsageError, match="a sample is an Expr"):
        esp.export_onnx(tmp_path / "model.onnx", ["scores"], [[3], g.input([1.0])])
    assert not (tmp_path / "model.onnx").exists()
