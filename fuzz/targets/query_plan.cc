/// Query plans of PostgreSQL.
#include "espalier/data/query_plan.h"

#include "fuzz/reader.h"

namespace espalier::fuzz {

void query_plan(std::string_view input) {
  for (const data::QueryPlan& plan : read_text<data::QueryPlanReader>(input)) {
    std::vector<Value> waiting{plan.root};
    while (!waiting.empty()) {
      const Value node = waiting.back();
      waiting.pop_back();
      node.at("Node Type").as_string();
      const Value* children = node.find("Plans");
      if (children != nullptr) waiting.insert(waiting.end(), children->items().begin(), children->items().end());
    }
  }
}

}  // namespace espalier::fuzz
