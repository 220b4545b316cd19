/// The safetensors package of Python reads what is written here, and the reverse, where it is installed.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "espalier/nn/safetensors.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

class SafetensorsInterop : public ::testing::Test {
 protected:
  SafetensorsInterop() {
    std::string pattern = (fs::path(::testing::TempDir()) / "espalier_interop_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SafetensorsInterop() override { fs::remove_all(folder_); }

  void SetUp() override {
    if (python("import numpy, safetensors.numpy\n") != 0)
      GTEST_SKIP() << "python3 with the packages numpy and safetensors is not installed";
  }

  /// The exit code of a program that finds the folder in sys.argv[1].
  int python(const std::string& program) const {
    const std::string script = (folder_ / "script.py").string();
    std::ofstream(script) << "import sys\nfolder = sys.argv[1]\n" << program;
    return std::system(
        ("python3 '" + script + "' '" + folder_.string() + "' 2>'" + folder_.string() + "/errors'").c_str());
  }
  std::string errors() const {
    std::ifstream file(folder_ / "errors");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(SafetensorsInterop, PythonReadsWhatWeWrite) {
  NamedTensors tensors;
  tensors.emplace("cell.W", Tensor(Shape{2, 3}, {1, 2, 3, 4, 5, 6.5F}));
  tensors.emplace("double", Tensor::filled({2}, 0.1, DType::kFloat64));
  tensors.emplace("int", Tensor::filled({1, 2}, -7, DType::kInt32));
  tensors.emplace("scalar", Tensor::filled({}, 4));
  tensors.emplace("none", Tensor(Shape{0, 5}));
  write_safetensors(folder_ / "ours.safetensors", tensors, {{"note", "text"}});
  EXPECT_EQ(python(R"(
import numpy, safetensors, safetensors.numpy
path = folder + '/ours.safetensors'
t = safetensors.numpy.load_file(path)
assert sorted(t) == ['cell.W', 'double', 'int', 'none', 'scalar'], t.keys()
assert t['cell.W'].dtype == numpy.float32 and t['cell.W'].tolist() == [[1, 2, 3], [4, 5, 6.5]]
assert t['double'].dtype == numpy.float64 and t['double'].tolist() == [0.1, 0.1]
assert t['int'].dtype == numpy.int32 and t['int'].tolist() == [[-7, -7]]
assert t['scalar'].shape == () and t['scalar'] == 4
assert t['none'].shape == (0, 5)
with safetensors.safe_open(path, framework='numpy') as f:
    assert f.metadata() == {'note': 'text'}
)"),
            0)
      << errors();
}

TEST_F(SafetensorsInterop, WeReadWhatPythonWrites) {
  ASSERT_EQ(python(R"(
import numpy, safetensors.numpy
safetensors.numpy.save_file({
    'W': numpy.arange(6, dtype=numpy.float32).reshape(2, 3),
    'half': numpy.array([1, -0.5, 65504], dtype=numpy.float16),
    'double': numpy.array([0.1], dtype=numpy.float64),
    'int': numpy.array([[-7]], dtype=numpy.int32),
    'long': numpy.array([1], dtype=numpy.int64),
    'byte': numpy.array([1, 2, 3], dtype=numpy.uint8),
    'scalar': numpy.array(4, dtype=numpy.float32),
    'none': numpy.zeros((0, 5), dtype=numpy.float32),
}, folder + '/theirs.safetensors', metadata={'note': 'text'})
)"),
            0)
      << errors();
  const SafetensorsReader reader(folder_ / "theirs.safetensors");
  EXPECT_EQ(reader.names().size(), 8U);
  EXPECT_EQ(reader.read("W"), Tensor(Shape{2, 3}, {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(reader.read("half"), Tensor(Shape{3}, {1, -0.5F, 65504}));
  EXPECT_EQ(reader.read("double"), Tensor::filled({1}, 0.1, DType::kFloat64));
  EXPECT_EQ(reader.read("int"), Tensor::filled({1, 1}, -7, DType::kInt32));
  EXPECT_EQ(reader.read("scalar"), Tensor::filled({}, 4));
  EXPECT_EQ(reader.read("none").shape(), (Shape{0, 5}));
  EXPECT_EQ(reader.metadata().at("note"), "text");
}

}  // namespace
}  // namespace espalier
