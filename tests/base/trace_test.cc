#include "espalier/base/trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {
namespace {

TEST(Trace, IsOneAtATimeAndDropsWhatIsTooMuch) {
  Trace trace(3);
  EXPECT_THROW(Trace(1), UsageError);
  for (int i = 0; i < 5; ++i) Trace::add({.doing = Doing::kUpdate, .begin = Trace::now(), .end = Trace::now()}, "x");
  EXPECT_EQ(trace.spans().size(), 3U);
  EXPECT_EQ(trace.dropped(), 2);
  EXPECT_EQ(trace.names(), std::vector<std::string>{"x"});
  trace.stop();
  EXPECT_FALSE(Trace::is_on());
}

}  // namespace
}  // namespace espalier
