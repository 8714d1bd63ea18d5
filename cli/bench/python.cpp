#include "cli/bench/python.hpp"

#include <fmt/format.h>

#include "cli/process/captured.hpp"
#include "cli/process/tools.hpp"

namespace lockstep::cli {

namespace {

// Prints a line of JSON per way to compute it. The number of rows is chosen so that a call of the loops takes a
// fraction of a second; their time is scaled by what share of the rows that is.
constexpr const char* kScript = R"(
import json, platform, random, sys, time

primitive, n, k, quick = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "quick"
try:
    import numpy
except ImportError:
    numpy = None
try:
    import numba
except ImportError:
    numba = None
ROUNDS, CALLS, BUDGET = 3, 3 if quick else 20, 0.3 if quick else 2.0
random.seed(1)


def say(name, kind, call, part=1.0):
    call()
    start = time.perf_counter()
    call()
    calls = max(1, min(CALLS, int(BUDGET / ROUNDS / max(time.perf_counter() - start, 1e-9))))
    samples = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        samples.append((time.perf_counter() - start) / calls / part)
    print(json.dumps({"name": name, "kind": kind, "samples": samples, "calls": calls, "part": part}), flush=True)


def check(right):
    if not right:
        sys.exit("a result is wrong")


def loops_max(a, b, c, rows, cols):
    for i in range(rows):
        for j in range(cols):
            c[i][j] = max(a[i][j], b[i][j])


def loops_max_numpy(a, b, c, rows, cols):
    for i in range(rows):
        for j in range(cols):
            c[i, j] = max(a[i, j], b[i, j])


def loops_xxt(x, y, rows, n, k):
    for i in range(rows):
        for j in range(n):
            total = 0.0
            for t in range(k):
                total += x[i][t] * x[j][t]
            y[i][j] = total


def loops_xxt_numpy(x, y, rows, n, k):
    for i in range(rows):
        for j in range(n):
            total = numpy.float32(0)
            for t in range(k):
                total += x[i, t] * x[j, t]
            y[i, j] = total


def run_max():
    a, b = ([[random.randrange(256) for _ in range(n)] for _ in range(n)] for _ in range(2))
    c = [[0] * n for _ in range(n)]
    rows = n if not quick else max(1, n // 10)
    say("Python loops", "python", lambda: loops_max(a, b, c, rows, n), rows / n)
    check(c[:rows] == [list(map(max, p, q)) for p, q in zip(a[:rows], b[:rows])])
    if numpy is None:
        return
    a, b = numpy.array(a, numpy.int32), numpy.array(b, numpy.int32)
    c, right, few = numpy.zeros_like(a), numpy.maximum(a, b), max(1, n // 20)
    say("Python loops over numpy arrays", "python", lambda: loops_max_numpy(a, b, c, few, n), few / n)
    check((c[:few] == right[:few]).all())
    say("numpy.maximum", "python library", lambda: numpy.maximum(a, b, out=c))
    check((c == right).all())
    if numba is not None:
        compiled = numba.njit(loops_max_numpy)
        say("numba, the same loops", "python library", lambda: compiled(a, b, c, n, n))
        check((c == right).all())


def run_xxt():
    x = [[random.uniform(-1, 1) for _ in range(k)] for _ in range(n)]
    y = [[0.0] * n for _ in range(n)]
    rows = max(1, min(n, (200_000 if quick else 1_000_000) // (n * k)))
    say("Python loops", "python", lambda: loops_xxt(x, y, rows, n, k), rows / n)
    check(all(abs(sum(p * q for p, q in zip(x[i], x[j])) - y[i][j]) < 1e-9 for i in range(rows) for j in range(n)))
    if numpy is None:
        return
    x = numpy.array(x, numpy.float32)
    y, right = numpy.zeros((n, n), numpy.float32), x.astype(float) @ x.astype(float).T
    cut = max(1, min(n, 200_000 // k))
    say("Python loops over numpy arrays", "python", lambda: loops_xxt_numpy(x, y, 1, cut, k), cut / n / n)
    check(abs(y[0, :cut] - right[0, :cut]).max() < 1e-3)
    say("numpy, x @ x.T", "python library", lambda: numpy.matmul(x, x.T, out=y))
    check(abs(y - right).max() < 1e-3)
    if numba is not None:
        compiled = numba.njit(loops_xxt_numpy)
        say("numba, the same loops", "python library", lambda: compiled(x, y, n, n, k))
        check(abs(y - right).max() < 1e-3)


print(json.dumps({"version": platform.python_version(),
                  "missing": [name for name, module in (("numpy", numpy), ("numba", numba)) if module is None]}), flush=True)
run_max() if primitive == "max" else run_xxt()
)";

/// The most capable one that there is.
std::optional<std::string> best_python() {
  for (const std::vector<std::string>& modules :
       {std::vector<std::string>{"numpy", "numba"}, std::vector<std::string>{"numpy"}, std::vector<std::string>{}})
    if (const auto found = find_python(modules)) return found;
  return std::nullopt;
}

void read_line(const Json& line, PythonTimes& times) {
  if (line.contains("version")) {
    times.version = line.at("version").get<std::string>();
    const auto missing = line.at("missing").get<std::vector<std::string>>();
    if (!missing.empty()) times.missing = fmt::format("{}: not installed for this Python", fmt::join(missing, ", "));
    return;
  }
  PrimitiveResult result{.samples = line.at("samples").get<std::vector<double>>(),
                         .calls = line.at("calls").get<std::int64_t>(),
                         .part = line.at("part").get<double>(),
                         .result = "right"};
  result.subject.kind =
      line.at("kind").get<std::string>() == "python" ? PrimitiveKind::python : PrimitiveKind::python_library;
  result.subject.name = line.at("name").get<std::string>();
  result.subject.kernel = "python " + times.version;
  times.results.push_back(std::move(result));
}

}  // namespace

PythonTimes measure_python(const std::string& primitive, std::int64_t n, std::int64_t k, bool quick) {
  const auto python = best_python();
  if (!python) return {.missing = "Python: no python3 on PATH"};
  // One thread, as the loops have: numpy's product would take all processors.
  const Captured said = run_captured(
      {*python, "-c", kScript, primitive, std::to_string(n), std::to_string(k), quick ? "quick" : "whole"},
      {.patience = std::chrono::minutes(3),
       .environment = {{"OPENBLAS_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}}});
  PythonTimes times;
  try {
    for (std::size_t start = 0; start < said.out.size();) {
      const std::size_t end = std::min(said.out.find('\n', start), said.out.size());
      read_line(Json::parse(said.out.substr(start, end - start)), times);
      start = end + 1;
    }
  } catch (const Json::exception&) {
    times.missing = "Python: it said something that is no result";
  }
  if (!said.ok()) times.missing = "Python: " + said.reason();
  return times;
}

}  // namespace lockstep::cli
