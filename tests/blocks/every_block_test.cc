/// Every block that a header describes has a case, and gives in three ways what the case says.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/blocks/input_block_cases.h"
#include "tests/blocks/sequence_block_cases.h"
#include "tests/blocks/wiring_block_cases.h"

namespace espalier::blocks {
namespace {

using testing::BlockCase;
using testing::CaseNet;

using MakeCases = std::vector<BlockCase> (*)(CaseNet&);
constexpr MakeCases kAll[] = {testing::cases_of_inputs,         testing::cases_of_choices,
                              testing::cases_of_wiring,         testing::cases_of_tensors,
                              testing::cases_of_collecting,     testing::cases_of_sequences,
                              testing::cases_of_sequence_models};

/// The forms of all blocks, as headers describe them.
std::set<std::string> described_forms() {
  const std::regex entry(R"(/// ([A-Za-z_]+(\(.*\)| >> b)?) : .*)");
  std::set<std::string> forms;
  for (const auto& file : std::filesystem::directory_iterator(ESPALIER_SOURCE_DIR "/espalier/blocks")) {
    if (file.path().extension() != ".h") continue;
    std::ifstream header(file.path());
    std::smatch found;
    for (std::string line; std::getline(header, line);)
      if (std::regex_match(line, found, entry)) forms.insert(found[1]);
  }
  return forms;
}

TEST(EveryBlock, HasACase) {
  std::set<std::string> forms = described_forms();
  EXPECT_GT(forms.size(), 50U);
  // No blocks, but what runs them: every case does.
  for (const char* run :
       {"eval(block, input)", "stream(program, inputs, options)", "add_gradients(program, inputs, gradients, options)"})
    EXPECT_EQ(forms.erase(run), 1U) << run;
  std::set<std::string> tried;
  for (const MakeCases cases : kAll) {
    CaseNet net;
    for (const BlockCase& each : cases(net)) tried.insert(each.form);
  }
  for (const std::string& form : forms) EXPECT_TRUE(tried.contains(form)) << form << " has no case";
  for (const std::string& form : tried) EXPECT_TRUE(forms.contains(form)) << "no header describes " << form;
}

class BlockCases : public ::testing::TestWithParam<std::size_t> {};

/// Each case has parameters of its own, since it changes them.
TEST_P(BlockCases, GivesTheSameInThreeWays) {
  const MakeCases cases = kAll[GetParam()];
  CaseNet first;
  const std::size_t count = cases(first).size();
  for (std::size_t i = 0; i < count; ++i) {
    CaseNet net;
    const std::vector<BlockCase> all = cases(net);
    SCOPED_TRACE(all[i].form);
    testing::expect_case(net, all[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBlock, BlockCases, ::testing::Range(std::size_t{0}, std::size(kAll)));

}  // namespace
}  // namespace espalier::blocks
