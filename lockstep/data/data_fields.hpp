#pragma once
// The keys of the section [data] (core/fields.hpp): what each means stands here, and from here in the documentation.

#include "lockstep/data/samples.hpp"
#include "lockstep/data/source.hpp"

namespace lockstep {

/// What becomes a step of a sequence.
inline const std::vector<std::string>& sequence_axis_names() {
  static const std::vector<std::string> names = {"rows", "columns"};
  return names;
}

/// What a token of a text is.
inline const std::vector<std::string>& vocabulary_names() {
  static const std::vector<std::string> names = {"bytes", "characters"};
  return names;
}

/// How the pixels of an image stand in a file: channels first or last.
inline const std::vector<std::string>& layout_names() {
  static const std::vector<std::string> names = {"nchw", "nhwc"};
  return names;
}

/// What separates the fields of a table.
inline const std::vector<std::string>& delimiter_names() {
  static const std::vector<std::string> names = {",", ";", "tab", "bar"};
  return names;
}
/// What stands between the whole and the fraction of a number in a table.
inline const std::vector<std::string>& decimal_names() {
  static const std::vector<std::string> names = {"point", "comma"};
  return names;
}
/// What is done about missing fields of a table (table.hpp).
inline const std::vector<std::string>& missing_names() {
  static const std::vector<std::string> names = {"error", "mean", "median", "drop"};
  return names;
}

inline constexpr auto data_fields() {
  using D = DataConfig;
  constexpr IntRange count{0, 1'000'000'000}, some{1, 1'000'000};
  return std::tuple{
      field("source", &D::source,
            "`\"fashion-mnist\"`, `\"mnist\"`; `\"quadrants\"`, `\"moons\"`, `\"circles\"`, `\"blobs\"`, `\"adding\"`, "
            "`\"copy\"`; or a path, see [sources](#sources)")
          .needs("for example \"fashion-mnist\", \"moons\" or a file"),
      field("limit", &D::limit, IntRange{0}, "only the first N training samples of the source; default: all").quiet(),
      field("test_limit", &D::test_limit, IntRange{0}, "only the first N test samples; default: all").quiet(),
      field("test", &D::test, "a second file or folder of the same kind: the test set").quiet(),
      field("labels", &D::labels,
            "label file (`.npy`, IDX, `.csv` of one column) beside `.npy` and IDX; `\"none\"`: no targets; default for "
            "IDX: the name with labels-idx1 for images-idx3")
          .quiet(),
      field("test_labels", &D::test_labels, "the same for the test set").quiet(),
      field("x_key", &D::x_key, "name of the samples' array; default: `X` in `.mat`, `x_train`, `x` or `X` in `.npz`")
          .quiet(),
      field("y_key", &D::y_key,
            "name of the targets' array; default: `y` in `.mat`, `y_train` or `y` in `.npz`; `\"none\"`: no targets")
          .quiet(),
      field("test_x_key", &D::test_x_key, "the same for a test set in the same file; default in `.npz`: `x_test`")
          .quiet(),
      field("test_y_key", &D::test_y_key, "the same for a test set in the same file; default in `.npz`: `y_test`")
          .quiet(),
      field("header", &D::header,
            "CSV: the first line names the columns; default: where words stand above numbers, or words only"),
      field("delimiter", &D::delimiter, OneOf{delimiter_names},
            "CSV: what separates fields; default: what cuts the first lines into equal numbers of fields")
          .quiet(),
      field("decimal", &D::decimal, OneOf{decimal_names},
            "CSV: `1.5` or `1,5`; default: a comma where all such fields of a table without commas are so")
          .quiet(),
      field("label_column", &D::label_column, TextOrIndex{{0, 65536}},
            "CSV: the column of the label by name, index from 0, `\"last\"` or `\"none\"`; default: see "
            "[labels](#labels)")
          .quiet(),
      field("weights", &D::weights, TextOrIndex{{0, 65536}},
            "how much each training sample counts: a column of a CSV (name or index from 0), an array of `.npz` and "
            "`.mat`, a file as for `labels` beside `.npy` and IDX; see [weights](#weights)")
          .quiet(),
      field("columns", &D::columns, TextOrIndex{{0, 65536}},
            "CSV: the columns to take, by name or index; default: all but the label and `drop`")
          .quiet(),
      field("drop", &D::drop, TextOrIndex{{0, 65536}}, "CSV: columns to leave out, by name or index").quiet(),
      field("categorical", &D::categorical, TextOrIndex{{0, 65536}},
            "CSV: columns whose numbers are categories; columns of words are categories anyway, see [tables](#tables)")
          .quiet(),
      field("missing", &D::missing, OneOf{missing_names},
            "CSV: what to do about missing fields, see [tables](#tables); default: `mean`, said aloud")
          .quiet(),
      field("label_rule", &D::label_rule, OneOf{label_rule_names},
            "how labels become classes 0, 1, ...: `from-one`: label - 1; `digits`: label mod 10; default: see "
            "[labels](#labels)")
          .quiet(),
      field("regression", &D::regression, "targets are real numbers, not labels").quiet(),
      field("stream", &D::stream,
            "read plain IDX, `.npy`, `.npz` (not compressed) and folders of pictures by slices, the next batch in a "
            "thread: for data larger than memory")
          .quiet(),
      field("shape", &D::shape, "reshape every sample, for example `[1, 20, 20]`; default: as stored"),
      field("layout", &D::layout, OneOf{layout_names},
            "`nhwc`: images stand as height, width, channels, and are turned; default: `nchw`")
          .quiet(),
      field("transpose", &D::transpose, "swap height and width (MATLAB stores columns first)").quiet(),
      field("resize", &D::resize, "`20`, or `{size = 20, method = \"bicubic\"}` (antialiased); default: none").quiet(),
      field("as_sequence", &D::as_sequence, OneOf{sequence_axis_names},
            "the `rows` of an image `[channels, height, width]` become steps: `[channels * width, height]`; or its "
            "`columns`: `[channels * height, width]`; default: it stays an image")
          .quiet(),
      field(
          "steps", &D::steps, IntRange{0, 1 << 24},
          "sequences get this many steps: those behind the end of a shorter one change nothing; default: those of the "
          "longest one. adding, copy: steps; default: 50")
          .quiet(),
      field(
          "vocabulary", &D::vocabulary, OneOf{vocabulary_names},
          "text: what a token is, `\"characters\"` or `\"bytes\"`; default for `.txt`: characters. Windows of `steps` "
          "tokens, 64 by default")
          .quiet(),
      field("characters", &D::characters, "text: the characters of the vocabulary; default: those of the source")
          .quiet(),
      field("scale", &D::scale, kPositive, "divide by this; default: 255 for bytes, else 1").quiet(),
      field("standardise", &D::standardise, "(x - mean) / deviation per feature, both of the training set").quiet(),
      field("one_hot", &D::one_hot, "labels become vectors of 0 and 1").quiet(),
      field("augment", &D::augment, "pictures changed at random while training, see [augmentation](#augmentation)")
          .quiet(),
      field("shuffle", &D::shuffle,
            "shuffle before the split, keyed by `data.seed`; default: where a file or folder is split"),
      field(
          "stratify", &D::stratify,
          "every part of the split has its share of every class; default: where a labelled file or folder is split and "
          "shuffled"),
      field("split", &D::split,
            "`{train = 0.8, validation = 0.1, test = 0.1}`: fractions, or counts of samples; fractions that add up to "
            "1 use every sample")
          .quiet(),
      field("count", &D::count, IntRange{1, count.max}, "generators: samples; default: 1000").quiet(),
      field("test_count", &D::test_count, count, "generators: test samples").quiet(),
      field("noise", &D::noise, kNotNegative,
            "generators: deviation of the added noise; default: 0.1 moons, 0.05 circles, 1 blobs, 0 quadrants, adding "
            "and copy")
          .quiet(),
      field("factor", &D::factor, kProperFraction, "circles: inner radius / outer radius").quiet(),
      field("classes", &D::classes, some,
            "blobs: centres; default: 3. copy: symbols; default: 8. Files: the number of classes; default: largest "
            "label + 1")
          .quiet(),
      field("features", &D::features, some, "blobs: dimensions; default: 2").quiet(),
      field("seed", &D::seed, IntRange{0}, "shuffles and generators"),
      field("from", &D::from_rank0, TwoWords{"each", "rank0"},
            "who reads the data under a launcher: every rank, or rank 0, which sends all samples to the others before "
            "training ([cluster.md](cluster.md))")
          .quiet()};
}

/// The preparation: the keys that decide what a network sees of a sample and of its target. A model file carries them
/// all, and eval, predict and Predictor apply them. Keys that say which samples there are (source, limit, split, ...)
/// are no part of it. Calls visit("scale", &DataConfig::scale) for every such key. A new key of the preparation is one
/// line here.
template <class Visit>
void for_each_preparation_key(const Visit& visit) {
  visit("x_key", &DataConfig::x_key);
  visit("y_key", &DataConfig::y_key);
  visit("header", &DataConfig::header);
  visit("delimiter", &DataConfig::delimiter);
  visit("decimal", &DataConfig::decimal);
  visit("label_column", &DataConfig::label_column);
  visit("weights", &DataConfig::weights);
  visit("missing", &DataConfig::missing);
  visit("label_rule", &DataConfig::label_rule);
  visit("regression", &DataConfig::regression);
  visit("shape", &DataConfig::shape);
  visit("layout", &DataConfig::layout);
  visit("transpose", &DataConfig::transpose);
  visit("resize", &DataConfig::resize);
  visit("as_sequence", &DataConfig::as_sequence);
  visit("steps", &DataConfig::steps);
  visit("vocabulary", &DataConfig::vocabulary);
  visit("characters", &DataConfig::characters);
  visit("scale", &DataConfig::scale);
  visit("standardise", &DataConfig::standardise);
  visit("one_hot", &DataConfig::one_hot);
  visit("classes", &DataConfig::classes);
}

}  // namespace lockstep
