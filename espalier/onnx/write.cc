#include <fmt/format.h>

#include <limits>
#include <set>
#include <unordered_map>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/onnx/emissions.h"
#include "espalier/onnx/format.h"
#include "espalier/onnx/lower.h"
#include "espalier/onnx/onnx.h"
#include "espalier/onnx/write_graph.h"

namespace espalier::onnx {
namespace {

/// The signatures of the samples, in the order in which they were met, each with its body.
class SampleSignatures {
 public:
  KnownSignature find(const Body& body) {
    SignatureFormat format = format_of(body);
    const auto [place, is_new] = by_key_.try_emplace(format.key, static_cast<std::int32_t>(bodies.size()));
    if (is_new) {
      const std::string plain = format.name;
      for (int k = 2; !names_.insert(format.name).second; ++k) format.name = fmt::format("{} #{}", plain, k);
      formats.push_back(std::move(format));
      bodies.push_back(body);
    }
    return {place->second, static_cast<std::int32_t>(body.results.size())};
  }

  std::vector<SignatureFormat> formats;
  std::vector<Body> bodies;

 private:
  std::unordered_map<std::string, std::int32_t> by_key_;
  std::set<std::string> names_;
};

/// Other names in the file that have no point.
const std::set<std::string_view> kTaken{"lengths", "schedule", "numbers", "begins", "ends", "step", "more"};

void require_names(const std::vector<std::string>& outputs) {
  if (outputs.empty()) throw UsageError("onnx: a file needs at least one output");
  std::set<std::string> names;
  for (const std::string& name : outputs) {
    if (name.empty() || name.find('.') != std::string::npos || kTaken.count(name) != 0)
      throw UsageError(fmt::format("onnx: an output cannot be called \"{}\"", name));
    if (!names.insert(name).second) throw UsageError(fmt::format("onnx: two outputs are called \"{}\"", name));
  }
}

/// Of the first sample; refuses others that differ.
std::vector<OutputFormat> output_formats(const std::vector<std::string>& names, std::span<const Instance> samples) {
  std::vector<OutputFormat> formats;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].size() != names.size())
      throw UsageError(
          fmt::format("onnx: sample {} has {} outputs, and there are {} names", i, samples[i].size(), names.size()));
    for (std::size_t k = 0; k < names.size(); ++k) {
      const Shape& shape = samples[i][k].shape();
      if (i == 0) formats.push_back({names[k], shape});
      if (formats[k].shape != shape)
        throw UsageError(fmt::format("onnx: output \"{}\" has shape {} in sample 0 and {} in sample {}", names[k],
                                     formats[k].shape.to_string(), shape.to_string(), i));
    }
  }
  return formats;
}

/// The rows that recursions may need, whether or not a sample needed them.
void add_missing_children(const Graph& graph, std::span<const Instance> samples, SampleSignatures& signatures) {
  if (samples.empty()) return;
  for (std::int32_t n = 0; n < graph.size(); ++n) {
    const NodeId node{n};
    if (!RecursionView::is_recursion(graph, node)) continue;
    const RecursionView view(graph, node);
    for (std::size_t p = 0; p < view.parts(); ++p) signatures.find(row_body(view.state(p)));
  }
}

Format format_of(const SampleSignatures& signatures, std::vector<OutputFormat> outputs) {
  Format format;
  format.signatures = signatures.formats;
  format.outputs = std::move(outputs);
  std::set<std::int64_t> widths;
  std::set<std::int64_t> rows;
  for (const SignatureFormat& signature : format.signatures) {
    widths.insert(signature.operands.begin(), signature.operands.end());
    widths.insert(signature.results.begin(), signature.results.end());
    if (signature.field == Field::kRow) rows.insert(signature.results[0]);
    format.has_numbers = format.has_numbers || signature.field == Field::kNumber;
  }
  format.widths.assign(widths.begin(), widths.end());
  format.row_widths.assign(rows.begin(), rows.end());
  return format;
}

}  // namespace

void write(const std::filesystem::path& path, const std::vector<std::string>& outputs,
           std::span<const Instance> samples, const WriteOptions& options) {
  require_names(outputs);
  if (samples.empty()) throw UsageError("onnx: a file is written from sample instances, and there are none");
  std::vector<OutputFormat> formats = output_formats(outputs, samples);
  SampleSignatures signatures;
  lower(
      samples, outputs.size(), std::numeric_limits<std::int64_t>::max(),
      [&](const Body& body) { return signatures.find(body); }, [](NodeList&&, std::int64_t, std::int64_t) {});
  Graph& graph = samples[0][0].graph();
  add_missing_children(graph, samples, signatures);
  const Format format = format_of(signatures, std::move(formats));
  GraphWriter writer(graph, format, signatures.bodies, options.also);
  writer.write(path, options);
}

}  // namespace espalier::onnx
