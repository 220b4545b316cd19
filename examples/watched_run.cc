/// A training run that can be watched: a page at its end, a table, and events for TensorBoard. Then the same run is
/// made longer: it goes on where it was, and its files with it.
/// usage: watched_run [FOLDER]        (default: a folder that is removed at the end)
#include <espalier/espalier.h>
#include <espalier/train/progress_bars.h>
#include <espalier/train/report_observer.h>
#include <espalier/train/run_logs.h>
#include <espalier/train/task_of.h>
#include <espalier/train/trainer.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace esp = espalier;
namespace fs = std::filesystem;

/// Whether the opening brackets of a text are more than the closing ones.
struct Brackets {
  std::string text;
  std::int64_t label;
};

std::vector<Brackets> brackets(std::int64_t count, std::uint64_t seed) {
  esp::Random random(seed);
  std::vector<Brackets> all;
  for (std::int64_t i = 0; i < count; ++i) {
    std::string text;
    std::int64_t open = 0;
    for (std::int64_t length = 1 + 2 * random.below(5); length > 0; --length) {
      text += random.below(2) == 0 ? '(' : ')';
      open += text.back() == '(' ? 1 : -1;
    }
    all.push_back({text, open > 0 ? 1 : 0});
  }
  return all;
}

struct Net {
  esp::Expr scores(esp::Graph& g, const Brackets& one) const {
    std::vector<esp::Expr> letters;
    for (const char c : one.text) letters.push_back(letter(g, c == '(' ? 1 : 0));
    return classify(tanh(esp::mean(letters)));
  }

  esp::Model model{1};
  esp::nn::Embedding letter{model / "letter", 2, 8};
  esp::nn::Linear classify{model / "classify", 8, 2};
};

/// Trains up to this many epochs in all.
void train(const fs::path& folder, std::int32_t epochs) {
  const std::vector<Brackets> training = brackets(2000, 1);
  const std::vector<Brackets> held_out = brackets(200, 2);
  Net net;
  const esp::train::TaskOf<Brackets> task({.train = training,
                                           .held_out = held_out,
                                           .output = [&](esp::Graph& g, const Brackets& b) { return net.scores(g, b); },
                                           .label = [](const Brackets& b) { return b.label; },
                                           .nodes = [](const Brackets& b) { return std::ssize(b.text); },
                                           .text = [](const Brackets& b) { return b.text; },
                                           .classes = {"more closed", "more open"}});

  esp::train::ProgressBars bars;
  esp::train::CsvLog table(folder / "log.csv");
  esp::train::TensorBoardLog events(folder);
  esp::train::ReportObserver report({.path = folder / "report.html", .title = "brackets", .footer = ""});
  esp::train::Trainer trainer(net.model, task,
                              {.folder = folder,
                               .epochs = epochs,
                               .optimizer = "adam(learning_rate=0.01)",
                               .allow_changes = true,
                               .observers = {&bars, &table, &events, &report}});
  trainer.run();
}

int main(int argc, char** argv) {
  const fs::path folder = argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path() / "espalier_watched_run";
  if (argc == 1) fs::remove_all(folder);
  train(folder, 2);
  train(folder, 4);

  std::ifstream table(folder / "log.csv");
  int rows = -1;  // without the header
  for (std::string line; std::getline(table, line); ++rows) std::printf("%s\n", line.c_str());
  const bool has_page = fs::file_size(folder / "report.html") > 10'000;
  table.close();
  if (argc == 1) fs::remove_all(folder);
  return rows == 4 && has_page ? 0 : 1;
}
