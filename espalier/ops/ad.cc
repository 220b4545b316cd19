#include "espalier/ops/ad.h"

namespace espalier::ad {

Tape& Tape::local() {
  thread_local Tape tape;
  return tape;
}

}  // namespace espalier::ad
