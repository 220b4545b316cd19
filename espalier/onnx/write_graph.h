/// GraphWriter: the ONNX graph of a format: a Loop over steps, with one operation per signature in its body.
///
/// Thread safety: one thread at a time.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "espalier/onnx/body.h"
#include "espalier/onnx/emissions.h"
#include "espalier/onnx/emitter.h"
#include "espalier/onnx/format.h"
#include "espalier/onnx/onnx.h"

namespace espalier::onnx {

class GraphWriter {
 public:
  /// Computes tensors that are made from parameters alone, in `graph`.
  GraphWriter(Graph& graph, const Format& format, std::span<const Body> bodies, std::span<const Parameter* const> also);

  void write(const std::filesystem::path& path, const WriteOptions& options);

 private:
  /// A weight of the file.
  struct Weight {
    const Parameter* parameter = nullptr;  // or null
    Tensor computed;
    const Tensor& value() const { return parameter != nullptr ? parameter->value() : computed; }
  };

  void add_weight(const Shared& shared);
  void add_parameter(const Parameter& parameter);
  std::string loop_body();
  Names take_pieces(Emitter& to);
  /// The rows of a signature: one tensor per result, [n, width].
  Names emit_signature(Emitter& to, std::size_t number, std::span<const std::string> pieces, const Names& states);
  Names emit_code(Emitter& to, std::size_t number, std::span<const std::string> pieces, const Names& states);
  std::string weight_name(const Shared& shared) const;
  std::string graph_message(const std::vector<std::string>& tensors);

  Graph& graph_;
  const Format& format_;
  std::span<const Body> bodies_;
  std::map<std::string, Weight> weights_;  // by name
  Constants constants_;
  Emitter outer_{constants_, "out."};
};

}  // namespace espalier::onnx
