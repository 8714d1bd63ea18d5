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
