/// RefusedData: a DataError that knows which object was refused, so that its place in the data can be found.
#pragma once

#include <string>

#include "espalier/base/error.h"

namespace espalier::blocks {

class RefusedData : public DataError {
 public:
  RefusedData(const std::string& sentence, const void* object) : DataError(sentence), object_(object) {}
  const void* object() const { return object_; }

 private:
  const void* object_;
};

}  // namespace espalier::blocks
