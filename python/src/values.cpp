#include "python/src/values.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "lockstep/core/error.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

std::int64_t integer_of(nb::handle object, const std::string& origin) {
  const nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) throw Error(ErrorCode::usage, fmt::format("{}: {} is too large", origin, nb::str(object).c_str()));
  return value;
}

ValueArray array_of(nb::handle list, const std::string& origin) {
  ValueArray values;
  for (const nb::handle item : list) values.push_back(value_of(item, origin));
  return values;
}

ValueTable table_of(nb::handle dict, const std::string& origin) {
  ValueTable table;
  for (const auto& [key, value] : nb::cast<nb::dict>(dict))
    if (!value.is_none()) table.push_back({nb::cast<std::string>(key), value_of(value, origin)});
  return table;
}

}  // namespace

Value value_of(nb::handle object, const std::string& origin) {
  if (nb::isinstance<nb::bool_>(object)) return Value(nb::cast<bool>(object), origin);
  if (nb::isinstance<nb::str>(object)) return Value(nb::cast<std::string>(object), origin);
  if (PyFloat_Check(object.ptr())) return Value(nb::cast<double>(object), origin);
  if (nb::isinstance<nb::dict>(object)) return Value(table_of(object, origin), origin);
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object))
    return Value(array_of(object, origin), origin);
  if (PyIndex_Check(object.ptr())) return Value(integer_of(object, origin), origin);
  if (PyNumber_Check(object.ptr())) {
    const nb::object number = nb::steal(PyNumber_Float(object.ptr()));
    if (number.is_valid()) return Value(nb::cast<double>(number), origin);
    PyErr_Clear();
  }
  throw Error(ErrorCode::usage,
              fmt::format("{}: a number, a text, a list or a dict was expected, not {}; layers, losses and optimisers "
                          "written in Python are not supported, `lockstep.layers()` lists what there is",
                          origin, nb::inst_name(object).c_str()));
}

}  // namespace lockstep::python
