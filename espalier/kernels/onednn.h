/// What all calls of oneDNN share: one thread, and refusals as exceptions.
#pragma once

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <string>
#include <string_view>

#include "espalier/base/error.h"

namespace espalier::kernels {

/// oneDNN runs in the calling thread only while this lives: the threads are ours. The number belongs to the calling
/// thread.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneOpenMpThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

inline void require_success(dnnl_status_t status, std::string_view what) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) throw ResourceError("there is not enough memory for " + std::string(what));
  throw InternalError("oneDNN refused " + std::string(what) + " with status " + std::to_string(status));
}

}  // namespace espalier::kernels
