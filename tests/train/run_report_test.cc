/// The report at the end of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/files.h"
#include "espalier/train/long_curve.h"
#include "espalier/train/report_answers.h"
#include "espalier/train/report_observer.h"
#include "tests/report/page_parts.h"
#include "tests/support/well_formed.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// A task without a model, for its answers alone.
class AnswerTask : public Task {
 public:
  AnswerTask(Answers answers, std::vector<std::string> classes) : answers_(answers), classes_(std::move(classes)) {}
  std::int64_t size(Split) const override { return 4; }
  Expr record(Graph&, Split, std::int64_t, std::vector<Expr>&) const override { return {}; }
  Answers answers() const override { return answers_; }
  std::vector<std::string> classes() const override { return classes_; }
  std::string text(Split, std::int64_t instance) const override { return "input " + std::to_string(instance); }

 private:
  Answers answers_;
  std::vector<std::string> classes_;
};

Prediction prediction(std::int64_t instance, double loss, std::vector<double> expected, std::vector<double> predicted) {
  return {.instance = instance,
          .loss = loss,
          .expected = std::move(expected),
          .predicted = std::move(predicted),
          .scores = {}};
}

TEST(ReportAnswers, CountConfusionsOfEveryQuestion) {
  Evaluation evaluation;
  evaluation.predictions = {prediction(0, 0.5, {0, 1}, {0, 1}), prediction(1, 2.5, {1, 1, kNotKnown}, {1, 2, 0}),
                            prediction(2, 3.5, {2}, {0}), prediction(3, 0.1, {kNotKnown}, {0})};
  report::RunReport report;
  add_answers(AnswerTask(Answers::kClasses, {"a", "b"}), Split::kHeldOut, evaluation, report);
  ASSERT_TRUE(report.confusion);
  EXPECT_THAT(report.confusion->classes, ElementsAre("a", "b", "2"));
  EXPECT_THAT(report.confusion->counts, ElementsAre(ElementsAre(1, 0, 0), ElementsAre(0, 2, 1), ElementsAre(1, 0, 0)));
  EXPECT_FALSE(report.residuals);
  EXPECT_EQ(report.mistakes_in_all, 2);
  ASSERT_EQ(report.mistakes.size(), 2U);
  EXPECT_EQ(report.mistakes[0].instance, 2);
  EXPECT_EQ(report.mistakes[0].input, "input 2");
  EXPECT_EQ(report.mistakes[1].expected, "b b ?");
  EXPECT_EQ(report.mistakes[1].predicted, "b 2 a");
}

TEST(ReportAnswers, OfNumbersAreResidualsWithTheWorstFirst) {
  Evaluation evaluation;
  for (std::int64_t i = 0; i < 30; ++i)
    evaluation.predictions.push_back(prediction(i, i == 7 ? kNotKnown : static_cast<double>(i), {1.5}, {2.25}));
  report::RunReport report;
  add_answers(AnswerTask(Answers::kNumbers, {}), Split::kHeldOut, evaluation, report);
  EXPECT_FALSE(report.confusion);
  ASSERT_EQ(report.residuals->points.size(), 30U);
  EXPECT_EQ(report.residuals->points[4].name, "instance 4");
  EXPECT_EQ(report.mistakes_in_all, 30);
  ASSERT_EQ(report.mistakes.size(), 20U);
  EXPECT_EQ(report.mistakes[0].instance, 7);  // whose loss is no number
  EXPECT_EQ(report.mistakes[1].instance, 29);
  EXPECT_EQ(report.mistakes[1].predicted, "2.250");
}

TEST(ReportAnswers, OfAModelWithNothingButALossAreNone) {
  Evaluation evaluation;
  evaluation.predictions = {prediction(0, 1, {}, {})};
  report::RunReport report;
  add_answers(AnswerTask(Answers::kNone, {}), Split::kHeldOut, evaluation, report);
  EXPECT_FALSE(report.confusion || report.residuals);
  EXPECT_TRUE(report.mistakes.empty());
}

TEST(LongCurve, KeepsMeansOfEquallyManyNeighbours) {
  LongCurve curve;
  for (int i = 0; i < 8000; ++i) curve.add({1.0 * i, i % 2 == 0 ? 0.0 : 1.0});
  // 4000 points became 2000 means of 2, which became 4000 again, then 2000 means of 4.
  ASSERT_EQ(curve.points().size(), 2000U);
  EXPECT_EQ(curve.points()[0].x, 1.5);
  EXPECT_EQ(curve.points()[1999].x, 7997.5);
  EXPECT_EQ(curve.points()[7].y, 0.5);
}

class RunReportPage : public ::testing::Test {
 protected:
  RunReportPage() { fs::create_directories(folder_); }
  ~RunReportPage() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void run(std::vector<Observer*> observers, std::int32_t epochs) const {
    const std::vector<Sentence> training = sentences(40, 1);
    const std::vector<Sentence> held_out = sentences(20, 2);
    SmallNet net;
    const TaskOf<Sentence> task(small_parts(net, training, held_out));
    Trainer trainer(net.model, task,
                    {.folder = folder_ / "run",
                     .epochs = epochs,
                     .batch = 10,
                     .optimizer = "adam(learning_rate=0.01, clip_norm=1)",
                     .schedule = "cosine",
                     .measure_training = true,
                     .allow_changes = true,
                     .observers = std::move(observers)});
    trainer.run();
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / ("run_report_" + std::to_string(::getpid()) + "_" +
                                                       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(RunReportPage, ShowsARealRun) {
  ReportObserver observer({.path = folder_ / "report.html", .title = "small", .footer = "a test"});
  run({&observer}, 3);
  const report::RunReport& report = observer.report();
  EXPECT_EQ(report.outcome, "finished");
  std::vector<std::string> titles;
  for (const report::LineChart& chart : report.curves) titles.push_back(chart.title);
  EXPECT_THAT(titles, ElementsAre("loss", "accuracy", "learning rate", "gradient norm before clipping"));
  EXPECT_EQ(report.curves[0].series[0].points.size(), 12U);  // 4 updates in each of 3 epochs
  EXPECT_EQ(report.curves[0].series[0].points[0].x, 0.25);
  EXPECT_EQ(report.curves[0].series[1].points.size(), 3U);
  EXPECT_EQ(report.curves[0].series[2].points.size(), 3U);
  ASSERT_TRUE(report.confusion);
  std::int64_t answers = 0;
  for (const auto& row : report.confusion->counts) answers += row[0] + row[1];
  EXPECT_EQ(answers, 20);
  ASSERT_EQ(report.data.size(), 2U);
  EXPECT_EQ(report.data[0].instances, 40);
  EXPECT_EQ(report.data[1].name, "held out");
  EXPECT_EQ(report.data[0].most_nodes, 7);
  EXPECT_GT(report.statistics.steps, 0);

  const std::string page = read_file(folder_ / "report.html");
  EXPECT_EQ(testing::xml_problem(testing::as_xml(page)), "");
  EXPECT_EQ(page, report::run_page(report));
}

TEST_F(RunReportPage, SaysWhereAResumedRunBegins) {
  run({}, 1);
  ReportObserver observer({.path = folder_ / "report.html", .title = "small", .footer = ""});
  EXPECT_NO_THROW(run({&observer}, 3));
  const report::RunReport& report = observer.report();
  EXPECT_EQ(report.statistics_of, "since the run was resumed after update 4");
  EXPECT_THAT(report.notes.back(), StartsWith("The run was resumed after update 4."));
  EXPECT_EQ(report.curves[0].series[0].points.size(), 8U);
  EXPECT_EQ(report.curves[0].series[1].points.size(), 3U);
}

}  // namespace
}  // namespace espalier::train
