#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "espalier/base/at.h"
#include "espalier/report/numbers.h"
#include "espalier/show/colour.h"
#include "espalier/show/json_text.h"
#include "espalier/show/page_parts.h"

namespace espalier::show {
namespace {

/// `"name":[a,b,...],`
template <class List, class TextOf>
void add_list(std::string& json, std::string_view name, const List& list, const TextOf& text_of) {
  json += fmt::format("\"{}\":[", name);
  bool first = true;
  for (const auto& item : list) {
    if (!first) json += ',';
    first = false;
    json += text_of(item);
  }
  json += "],";
}

std::string step_json(const PageFacts& facts, std::int32_t number) {
  const BatchedStep& step = facts.batches.steps[at(number)];
  std::string json = fmt::format(
      "{{\"n\":{},\"op\":{},\"group\":{},\"colour\":\"{}\",\"nodes\":{},\"rows\":{},\"inputs\":{},\"where\":{},"
      "\"type\":{},",
      number + 1, json_text(facts.op(step)), step.group, colour_of_step(number, facts.steps()), step.nodes, step.rows,
      step.instances, json_text(facts.where(step)), json_text(facts.graph.type(step.first).to_string()));
  if (step.copied > 0)
    json += fmt::format("\"copied\":{},", json_text(report::short_bytes(static_cast<double>(step.copied))));
  if (facts.times.known)
    json +=
        fmt::format("\"time\":{},",
                    json_text(report::short_time(facts.times.forward[at(number)] + facts.times.backward[at(number)])));
  add_list(json, "shared", step.shared, [](const std::string& name) { return json_text(name); });
  json.back() = '}';
  return json;
}

}  // namespace

std::string page_data(const PageFacts& facts) {
  std::map<std::int32_t, std::int32_t> place;  // of a step in the list
  for (const std::int32_t step : facts.shown_steps) place.try_emplace(step, static_cast<std::int32_t>(place.size()));
  const Picture& picture = facts.picture;
  std::map<std::string, std::int32_t> lines;
  std::vector<std::int32_t> line_of;
  for (const PictureNode& node : picture.nodes)
    line_of.push_back(
        lines.try_emplace(facts.graph.source(node.node).to_string(), static_cast<std::int32_t>(lines.size()))
            .first->second);
  std::vector<std::string> line_names(lines.size());
  for (const auto& [name, number] : lines) line_names[at(number)] = name;

  const auto whole = [](std::int64_t number) { return fmt::format("{}", number); };
  std::string json = fmt::format("{{\"width\":{:.1f},\"height\":{:.1f},\"allSteps\":{},\"level\":{},", picture.width,
                                 picture.height, facts.steps(), kLevelHeight);
  add_list(json, "x", picture.nodes, [](const PictureNode& node) { return fmt::format("{:.4g}", node.x); });
  add_list(json, "y", picture.nodes, [](const PictureNode& node) { return fmt::format("{:.4g}", node.y); });
  add_list(json, "step", picture.nodes, [&](const PictureNode& node) { return whole(place.at(node.step)); });
  add_list(json, "row", picture.nodes, [&](const PictureNode& node) { return whole(node.row); });
  if (std::any_of(picture.nodes.begin(), picture.nodes.end(), [](const PictureNode& node) { return node.rows > 1; }))
    add_list(json, "rows", picture.nodes, [&](const PictureNode& node) { return whole(node.rows); });
  add_list(json, "input", picture.nodes, [&](const PictureNode& node) { return whole(node.instance); });
  add_list(json, "id", picture.nodes, [&](const PictureNode& node) { return whole(index_of(node.node)); });
  add_list(json, "merged", picture.nodes, [&](const PictureNode& node) { return whole(node.merged ? 1 : 0); });
  add_list(json, "line", line_of, whole);
  add_list(json, "lines", line_names, [](const std::string& name) { return json_text(name); });
  add_list(json, "edges", picture.edges,
           [](const PictureEdge& edge) { return fmt::format("{},{}", edge.from, edge.to); });
  add_list(json, "inputs", picture.instances, [](const PictureInstance& of) {
    return fmt::format("[{},{},{:.1f},{:.1f},{:.1f},{:.1f}]", json_text(of.name), json_text(of.text), of.x, of.y,
                       of.width, of.height);
  });
  add_list(json, "steps", facts.shown_steps, [&](std::int32_t step) { return step_json(facts, step); });
  json.back() = '}';
  return json;
}

}  // namespace espalier::show
