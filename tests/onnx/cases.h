/// Cases for ONNX Runtime: models with inputs and the outputs that are expected, in a folder that run_cases.py reads.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "espalier/onnx/onnx.h"
#include "espalier/tensor/tensor.h"
#include "tests/support/refusal.h"

namespace espalier::testing {

/// A folder that is removed at the end.
class OnnxFolder {
 public:
  OnnxFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "espalier_onnx_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~OnnxFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OnnxFolder(const OnnxFolder&) = delete;
  OnnxFolder& operator=(const OnnxFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Writes an array in NumPy's format, version 1.
inline void write_npy(const std::filesystem::path& path, const std::string& type,
                      const std::vector<std::int64_t>& shape, const void* data, std::size_t bytes) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += std::to_string(size) + ",";
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  constexpr std::size_t kBefore = 10;
  header.append(63 - (kBefore + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(header.size() % 256)
       << static_cast<char>(header.size() / 256) << header;
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

inline void write_feeds(const std::filesystem::path& folder, const std::vector<onnx::Feed>& feeds) {
  std::filesystem::create_directories(folder);
  for (const onnx::Feed& feed : feeds) {
    const std::filesystem::path path = folder / ("feed." + feed.name + ".npy");
    if (feed.is_float)
      write_npy(path, "<f4", feed.shape, feed.numbers.data(), feed.numbers.size() * sizeof(float));
    else
      write_npy(path, "<i8", feed.shape, feed.integers.data(), feed.integers.size() * sizeof(std::int64_t));
  }
}

/// The rows of some values of one shape, one after the other.
inline void write_expected(const std::filesystem::path& folder, const std::string& name,
                           const std::vector<Expr>& exprs) {
  std::vector<float> numbers;
  std::int64_t rows = 0;
  for (const Expr& expr : exprs) {
    const Tensor value = expr.value();
    numbers.insert(numbers.end(), value.as<float>().begin(), value.as<float>().end());
    rows += expr.row_count();
  }
  std::vector<std::int64_t> shape{rows};
  for (std::int32_t a = 0; a < exprs[0].shape().rank(); ++a) shape.push_back(exprs[0].shape()[a]);
  write_npy(folder / ("expect." + name + ".npy"), "<f4", shape, numbers.data(), numbers.size() * sizeof(float));
}

/// A case: a model written from `samples`, run with `instances`. One folder per call.
inline void write_case(const std::filesystem::path& folder, const std::vector<std::string>& outputs,
                       const std::vector<onnx::Instance>& samples, const std::vector<onnx::Instance>& instances,
                       const onnx::WriteOptions& options = {}) {
  std::filesystem::create_directories(folder);
  onnx::write(folder / "model.onnx", outputs, samples, options);
  const onnx::Weaver weaver(folder / "model.onnx");
  for (const onnx::Call& call : weaver.weave(instances)) {
    const std::filesystem::path of_call = folder / ("call" + std::to_string(call.first));
    weaver.check(call.feeds);
    write_feeds(of_call, call.feeds);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      std::vector<Expr> exprs;
      for (std::int64_t i = call.first; i < call.first + call.count; ++i)
        exprs.push_back(instances[static_cast<std::size_t>(i)][k]);
      write_expected(of_call, outputs[k], exprs);
    }
  }
}

/// What a command printed, and whether it succeeded.
struct Answer {
  std::string text;
  int status = -1;
};
inline Answer run(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
  if (pipe == nullptr) return {};
  Answer answer;
  std::array<char, 4096> buffer;
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0)
    answer.text.append(buffer.data(), count);
  answer.status = std::ferror(pipe.get()) != 0 ? -1 : 0;
  return answer;
}

/// A Python that can import these modules: that of ESPALIER_ONNX_PYTHON, that which .ci/run installs, or the system's.
/// Empty if there is none.
inline std::string python_with(const std::string& modules) {
  std::vector<std::string> candidates;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests set no variables
  if (const char* chosen = std::getenv("ESPALIER_ONNX_PYTHON")) candidates.emplace_back(chosen);
  candidates.emplace_back(std::string(ESPALIER_SOURCE_DIR) + "/build/onnx_python/bin/python");
  candidates.emplace_back("python3");
  for (const std::string& python : candidates)
    if (run("\"" + python + "\" -c 'import " + modules + "; print(\"yes\")'").text == "yes\n") return python;
  return {};
}

/// The first line of what an action is refused with.
template <class Action>
std::string refusal(Action&& action) {
  const std::string text = refusal_of(action);
  return text.substr(0, text.find('\n'));
}

inline constexpr const char* kNoRuntime =
    "Python has no onnxruntime: ESPALIER_ONNX_PYTHON can name another interpreter; .ci/run installs one";

/// Runs all cases of a folder by ONNX Runtime; expects that every output is within 1e-5 of its largest magnitude.
inline void expect_runtime_agrees(const OnnxFolder& folder, int cases) {
  const std::string python = python_with("onnxruntime, numpy");
  if (python.empty()) GTEST_SKIP() << kNoRuntime;
  const Answer answer =
      run("\"" + python + "\" \"" ESPALIER_SOURCE_DIR "/tests/onnx/run_cases.py\" \"" + folder.path().string() + "\"");
  EXPECT_EQ(answer.text, std::to_string(cases) + " cases agree\n");
}

}  // namespace espalier::testing
