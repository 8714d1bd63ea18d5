#include "python/src/records.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <type_traits>

#include "lockstep/config/reader.hpp"
#include "lockstep/config/section_fields.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/core/error.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace lockstep::python {

namespace {

/// The type of a field as Python writes it, and its default as a Python object. A field of another type does not
/// compile.
struct PythonValue {
  const char* type;
  nb::object value;
};
PythonValue python_value(bool value) { return {"bool", nb::bool_(value)}; }
template <std::integral Int>
PythonValue python_value(Int value) {
  return {"int", nb::int_(value)};
}
PythonValue python_value(double value) { return {"float", nb::float_(value)}; }
template <class Enum>
requires std::is_enum_v<Enum> PythonValue python_value(Enum value) { return {"str", nb::str(name_of(value).c_str())}; }
PythonValue python_value(const Extent& extent) {
  if (extent.height == extent.width) return {"int | tuple[int, int]", nb::int_(extent.height)};
  return {"int | tuple[int, int]", nb::make_tuple(extent.height, extent.width)};
}
PythonValue python_value(const std::optional<Extent>&) { return {"int | tuple[int, int] | None", nb::none()}; }
PythonValue python_value(const std::optional<Init>&) { return {"Init | str | None", nb::none()}; }
PythonValue python_value(const std::vector<LayerSpec>&) { return {"Sequence[Layer]", nb::make_tuple()}; }
PythonValue python_value(const OptimizerSpec& optimizer) {
  return {"Optimizer | str", nb::str(std::visit([](const auto& o) { return o.kName; }, optimizer))};
}
PythonValue python_value(const Schedule& schedule) {
  return {"Schedule | str", nb::str(name_of(schedule.kind).c_str())};
}

PythonValue python_value(const std::string& value) { return {"str", nb::str(value.c_str())}; }
PythonValue python_value(const std::vector<std::string>&) { return {"Sequence[str]", nb::make_tuple()}; }
PythonValue python_value(const std::vector<Metric>&) { return {"Sequence[str]", nb::make_tuple()}; }
PythonValue python_value(const std::optional<EarlyStopping>&) { return {"int | Mapping[str, Any] | None", nb::none()}; }
PythonValue python_value(const Averaging& average) {
  return {"str | Mapping[str, Any]", nb::str(name_of(average.kind).c_str())};
}
PythonValue python_value(const ClassWeights&) { return {"str | Sequence[float] | None", nb::none()}; }

template <class Range>
std::string words_of(const Range& range) {
  if constexpr (std::is_same_v<Range, IntRange> || std::is_same_v<Range, NumberRange>)
    return in_words(range);
  else
    return {};
}

template <class Record, class Fields>
nb::list describe_fields(const Record& record, const Fields& fields) {
  nb::list list;
  for_each_in(fields, [&](const auto& each) {
    if (!each.belongs_to(record)) return;
    const PythonValue usual = python_value(each.of(record));
    nb::dict field;
    field["name"] = each.name;
    field["type"] = usual.type;
    field["default"] = usual.value;
    field["required"] = each.hint != nullptr;
    field["range"] = words_of(each.range);
    field["help"] = each.help;
    if (each.zero_word != nullptr) {
      field["type"] = "int | str";
      if (nb::cast<double>(usual.value) == 0) field["default"] = each.zero_word;
    }
    list.append(field);
  });
  return list;
}

nb::dict entry(const char* name, const char* help, nb::list fields) {
  nb::dict record;
  record["name"] = name;
  record["help"] = help;
  record["fields"] = std::move(fields);
  return record;
}

/// The records of a variant.
template <class... Record>
nb::list describe_list(std::type_identity<std::variant<Record...>>) {
  nb::list list;
  (list.append(entry(Record::kName, Record::kHelp, describe_fields(Record{}, Record::fields()))), ...);
  return list;
}

/// A record for each value of its `kind`.
template <class Record>
nb::list describe_kinds() {
  using Kind = decltype(Record::kind);
  nb::list list;
  for (int i = 0; describe(static_cast<Kind>(i)).name != nullptr; ++i) {
    Record record;
    record.kind = static_cast<Kind>(i);
    const Described kind = describe(record.kind);
    list.append(entry(kind.name, kind.help, describe_fields(record, Record::fields())));
  }
  return list;
}

nb::dict describe_records() {
  nb::dict all;
  all["layers"] = describe_list(std::type_identity<LayerKind>{});
  all["optimizers"] = describe_list(std::type_identity<OptimizerSpec>{});
  all["schedules"] = describe_kinds<Schedule>();
  all["inits"] = describe_kinds<Init>();
  nb::list losses;
  for (int i = 0; describe(static_cast<Loss>(i)).name != nullptr; ++i) {
    const Described loss = describe(static_cast<Loss>(i));
    losses.append(entry(loss.name, loss.help, nb::list()));
  }
  all["losses"] = std::move(losses);
  all["train"] = describe_fields(RunConfig{}, train_fields());
  return all;
}

/// Runs `check`; its message then names options as Python does: `prefix` ("train.optimizer.") is left out.
template <class Check>
void check_named(const std::string& prefix, const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    std::string message = error.what();
    if (const auto at = message.find(prefix); at != std::string::npos) message.erase(at, prefix.size());
    throw Error(error.code(), message);
  }
}

/// Error where the options of a layer, {"conv2d": {...}}, are wrong. Classes of Python call it when an object is made.
void check_layer(nb::dict layer, const std::string& origin) {
  const auto kind = nb::cast<std::string>(layer.keys()[0]);
  check_named("layer." + kind + ".", [&] { read_layer(value_of(layer, origin), "layer"); });
}

/// The same for what stands under a key of [train]: an optimiser or a schedule.
void check_train(const std::string& key, nb::handle value, const std::string& origin) {
  nb::dict section;
  section[key.c_str()] = value;
  RunConfig config;
  check_named("train." + key + ".", [&] { read_train(value_of(section, origin), config); });
}

}  // namespace

void bind_records(nb::module_& module) {
  module.def("describe_records", &describe_records);
  module.def("check_layer", &check_layer);
  module.def("check_train", &check_train);
}

}  // namespace lockstep::python
