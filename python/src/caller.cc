#include "caller.h"

#include <Python.h>
#include <frameobject.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#if PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

namespace espalier::python {

namespace {

// What is known of one instruction of a code object. The code is held, so that no other takes its address.
struct KnownLine {
  PyCodeObject* code = nullptr;
  int instruction = -1;
  bool own = false;  // of the package itself
  const char* file = "";
  std::int32_t line = 0;
};

std::string& package_folder() {
  static std::string folder;
  return folder;
}

// Names of files, which graphs remember by their address.
const char* kept_name(PyObject* name) {
  static std::unordered_set<std::string> names;
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return "";
  }
  return names.emplace(text, static_cast<std::size_t>(size)).first->c_str();
}

const KnownLine& line_of(PyCodeObject* code, int instruction) {
  static std::array<KnownLine, 4096> known;
  const auto key = reinterpret_cast<std::uintptr_t>(code) / 16 + static_cast<std::uintptr_t>(instruction) / 2;
  KnownLine& entry = known[(key ^ key >> 12) % known.size()];
  if (entry.code == code && entry.instruction == instruction) return entry;
  Py_INCREF(code);
  PyObject* const before = reinterpret_cast<PyObject*>(entry.code);
  const char* const file = kept_name(code->co_filename);
  const std::string_view folder = package_folder();
  entry = {code, instruction, !folder.empty() && std::string_view(file).starts_with(folder), file,
           PyCode_Addr2Line(code, instruction)};
  Py_XDECREF(before);  // last: it may run code
  return entry;
}

}  // namespace

void set_package_folder(const char* folder) { package_folder() = folder; }

#if PY_VERSION_HEX < 0x030C0000

// Reads the interpreter's own frames: asking for a frame object would make one for each call of a function.
SourceLine caller() {
  SourceLine outermost;
  for (const _PyInterpreterFrame* frame = PyThreadState_Get()->cframe->current_frame; frame != nullptr;
       frame = frame->previous) {
    const auto instruction = static_cast<int>(frame->prev_instr - _PyCode_CODE(frame->f_code));
    const KnownLine& known = line_of(frame->f_code, instruction * static_cast<int>(sizeof(_Py_CODEUNIT)));
    outermost = {known.file, known.line};
    if (!known.own) break;
  }
  return outermost;
}

#else

SourceLine caller() {
  SourceLine outermost;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    PyCodeObject* const code = PyFrame_GetCode(frame);
    const KnownLine known = line_of(code, PyFrame_GetLasti(frame));
    Py_DECREF(code);
    outermost = {known.file, known.line};
    PyFrameObject* const back = known.own ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = back;
  }
  return outermost;
}

#endif

}  // namespace espalier::python
