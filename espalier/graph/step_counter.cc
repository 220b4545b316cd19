#include "espalier/graph/step_counter.h"

namespace espalier {

StepCounter& StepCounter::global() {
  static StepCounter counter;
  return counter;
}

}  // namespace espalier
