"""Planted mistakes: (exercise, [(old text, new text), ...] in its solution, the causes that are true)."""

FMA = {  # the line of every sum: (exercise, as it stands, operands)
    "linear-forward": ("sum = fmaf(a->w[o * in + i], a->x[i * samples + s], sum)",
                       "a->w[o * in + i]", "a->x[i * samples + s]", "for (int64_t i = 0; i < in; ++i)", "i", "in"),
    "linear-backward-data": ("sum = fmaf(a->w[o * in + i], a->dy[o * samples + s], sum)",
                             "a->w[o * in + i]", "a->dy[o * samples + s]", "for (int64_t o = 0; o < out; ++o)", "o", "out"),
    "xxt": ("sum = fmaf(a->x[i * k + l], a->x[j * k + l], sum)",
            "a->x[i * k + l]", "a->x[j * k + l]", "for (int64_t l = 0; l < k; ++l)", "l", "k"),
}


def sums():
    """The mistakes that every exercise with a plain sum can have."""
    for name, (line, left, right, loop, index, size) in FMA.items():
        yield name, [(line, f"sum = sum + {left} * {right}")], {"no-fma"}
        yield name, [(loop, f"for (int64_t {index} = {size} - 1; {index} >= 0; --{index})")], {"descending"}
        yield name, [(loop, f"for (int64_t {index} = {size} - 1; {index} >= 0; --{index})"),
                     (line, f"sum = sum + {left} * {right}")], {"descending-no-fma"}
        yield name, [(loop, loop.replace(f"{index} = 0", f"{index} = 1"))], {"first-term"}
        yield name, [(loop, loop.replace(f"{index} < {size}", f"{index} + 1 < {size}"))], {"last-term"}
        yield name, [(loop, loop.replace(f"{index} < {size}", f"{index} <= {size}"))], {"out-of-bounds"}
        for width in (4, 8, 16):
            yield name, [(loop, loop.replace(f"{index} < {size}", f"{index} < {size} / {width} * {width}"))], {
                f"sum-remainder-{width}"}
        for lanes in (2, 4, 8):
            yield name, [("float sum = ", "float part[16] = {0}, sum = "),
                         (line, line.replace(", sum)", f", part[{index} % {lanes}])").replace(
                             "sum = ", f"part[{index} % {lanes}] = ")),
                         *LANES_END[name](lanes)], {f"lanes-{lanes}"}


LANES_END = {
    "linear-forward": lambda n: [("a->y[o * samples + s] = sum;", f"for (int q = 0; q < {n}; ++q) sum += part[q]; "
                                  "a->y[o * samples + s] = sum;")],
    "linear-backward-data": lambda n: [("a->dx[i * samples + s] = sum;", f"for (int q = 0; q < {n}; ++q) sum += part[q]; "
                                        "a->dx[i * samples + s] = sum;")],
    "xxt": lambda n: [("a->y[i * n + j] = sum;", f"for (int q = 0; q < {n}; ++q) sum += part[q]; a->y[i * n + j] = sum;")],
}

SINGLE = [
    # max
    ("max", [("p > q ? p : q", "p < q ? p : q")], {"minimum"}),
    ("max", [("p > q ? p : q", "(int32_t)((uint32_t)p - (uint32_t)q) > 0 ? p : q")], {"overflow"}),
    ("max", [("p > q ? p : q", "p")], {"only-a"}),
    ("max", [("p > q ? p : q", "q")], {"only-b"}),
    ("max", [("p > q ? p : q", "(int32_t)((uint32_t)p + (uint32_t)q)")], {"sum"}),
    ("max", [("p > q ? p : q", "p > q ? (p > 0 ? p : 0) : (q > 0 ? q : 0)")], {"zero-floor"}),
    ("max", [("i < n", "i < n - 1")], {"last-element"}),
    ("max", [("i = 0", "i = 1")], {"first-element"}),
    ("max", [("i < n", "i <= n")], {"out-of-bounds"}),
    ("max", [("i < n", "i < n / 8 * 8")], {"remainder"}),
    ("max", [("i < n", "i < n / 16 * 16")], {"remainder"}),
    ("max", [("a->c[i] = p > q ? p : q", "(void)p, (void)q")], {"unwritten-all"}),
    ("max", [("a->c[i] =", "((int32_t *)a->a)[i] =")], {"writes-input"}),
    ("max", [("a->rows * a->cols", "(a->rows - 1) * a->cols")], {"last-row"}),
    ("max", [("a->rows * a->cols", "a->rows * a->rows")], {"out-of-bounds", "transposed"}),
    # relu
    ("relu", [("x > 0 ? dy : 0", "x >= 0 ? dy : 0")], {"greater-equal"}),
    ("relu", [("x > 0 ? dy : 0", "dy > 0 ? dy : 0")], {"slope-at-gradient"}),
    ("relu", [("x > 0 ? dy : 0", "dy")], {"no-slope"}),
    ("relu", [("x > 0 ? dy : 0", "x > 0 ? 1 : 0")], {"slope-only"}),
    ("relu", [("x > 0 ? dy : 0", "(x > 0 ? x : 0) * dy")], {"times-value"}),
    ("relu", [("x > 0 ? x : 0", "x")], {"copy"}),
    ("relu", [("x > 0 ? x : 0", "x < 0 ? -x : x")], {"absolute"}),
    ("relu", [("x > 0 ? x : 0", "x > 0 ? x : 0.01f * x"), ("x > 0 ? dy : 0", "x > 0 ? dy : 0.01f * dy")], {"leaky"}),
    ("relu", [("x > 0 ? x : 0", "x < 0 ? x : 0"), ("x > 0 ? dy : 0", "x < 0 ? dy : 0")], {"sign-reversed"}),
    ("relu", [("i < a->n", "i < a->n / 4 * 4")], {"remainder"}),
    ("relu", [("i < a->n", "i < a->n - 1")], {"last-element"}),
    ("relu", [("a->y[i] =", "a->y[i] +=")], {"accumulates"}),
    # sigmoid
    ("sigmoid", [("fmaf(rest, inverse, first)", "a / b")], {"no-correction"}),
    ("sigmoid", [("contract_exp(", "expf(")], {"library-exp", None}),
    ("sigmoid", [("(y * (1 - y))", "y * (1 - y)")], {"gradient-order"}),
    ("sigmoid", [("(y * (1 - y))", "(y - y * y)")], {"gradient-expanded"}),
    ("sigmoid", [("(y * (1 - y))", "(x * (1 - x))")], {"slope-at-input"}),
    ("sigmoid", [("args->dy[i] * (y * (1 - y))", "y * (1 - y)")], {"no-gradient"}),
    ("sigmoid", [("const float x = args->x[i]", "const float x = -args->x[i]")], {"sign"}),
    ("sigmoid", [("= args->dy[i] *", "= -args->dy[i] *")], {"minus-gradient"}),
    ("sigmoid", [("i < args->n", "i < args->n / 16 * 16")], {"remainder"}),
    # batches
    ("batches", [("a->order[first + j]", "first + j")], {"no-order"}),
    ("batches", [("a->order[first + j]", "a->order[j]")], {"first-batch"}),
    ("batches", [("f * size + j]", "f * a->batch + j]")], {"out-of-bounds", "wide-rows"}),
    ("batches", [("if (size < 0) size = 0;", "if (size < a->batch) return;")], {"whole-batches"}),
    ("batches", [("f < a->features", "f < a->features - 1")], {"last-row"}),
    ("batches", [("a->samples - first < a->batch ? a->samples - first : a->batch", "a->batch")], {"out-of-bounds"}),
    # initial-weights
    ("initial-weights", [("(2 * u - 1) * a->bound", "u * a->bound")], {"positive-only"}),
    ("initial-weights", [("(c[i] >> 8)", "(c[i] & 0xFFFFFF)")], {"low-bits"}),
    ("initial-weights", [("(float)(c[i] >> 8)", "(float)(c[0] >> 8)")], {"same-in-block"}),
    ("initial-weights", [("(uint32_t)((uint64_t)a->seed >> 32)", "0")], {"seed-32"}),
    ("initial-weights", [("(float)(c[i] >> 8)", "(float)(c[3 - i] >> 8)")], {"reversed-words"}),
    ("initial-weights", [("(a->n + 3) / 4", "a->n / 4")], {"remainder"}),
    ("initial-weights", [(" && 4 * b + i < a->n", "")], {"out-of-bounds"}),
    # sgd
    ("sgd", [("fmaf(-a->lr, v", "fmaf(a->lr, v")], {"plus"}),
    ("sgd", [("fmaf(-a->lr, v,", "fmaf(-a->lr, a->g[i],")], {"gradient-only"}),
    ("sgd", [("a->v[i] = v;", "")], {"velocity-not-kept"}),
    ("sgd", [("fmaf(a->momentum, a->v[i], a->g[i])", "a->g[i]")], {"no-momentum"}),
    ("sgd", [("a->v[i], a->g[i])", "a->v[i], (1 - a->momentum) * a->g[i])")], {"damped"}),
    ("sgd", [("fmaf(-a->lr, v,", "fmaf(-a->lr, fmaf(a->momentum, v, a->g[i]),")], {"nesterov"}),
    ("sgd", [("fmaf(a->momentum, a->v[i], a->g[i])", "a->momentum * a->v[i] + a->g[i]"),
             ("fmaf(-a->lr, v, a->w[i])", "a->w[i] - a->lr * v")], {"no-fma"}),
    # adam
    ("adam", [("fmaf(-a->rate", "fmaf(a->rate")], {"plus"}),
    ("adam", [("sqrtf(v)", "v")], {"no-root"}),
    ("adam", [("fmaf(sqrtf(v), a->inv_root2, a->eps)", "sqrtf(v + a->eps) * a->inv_root2")], {"eps-inside"}),
    ("adam", [("fmaf(sqrtf(v), a->inv_root2, a->eps)", "(sqrtf(v) + a->eps)")], {"no-correction"}),
    ("adam", [("m / fmaf", "g / fmaf")], {"gradient-only"}),
    ("adam", [("(1 - a->beta2) * g, g,", "(1 - a->beta2), g,")], {"square-missing"}),
    ("adam", [("fmaf(1 - a->beta1, g, a->beta1 * a->m[i])", "fmaf(1 - a->beta2, g, a->beta2 * a->m[i])"),
              ("fmaf((1 - a->beta2) * g, g, a->beta2 * a->v[i])", "fmaf((1 - a->beta1) * g, g, a->beta1 * a->v[i])")],
     {"betas-exchanged"}),
    # barrier
    ("barrier", [("next[i] =", "now[i] =")], {"one-array", None}),
    ("barrier", [("step < a->steps", "step < a->steps - 1")], {"one-step-less"}),
    ("barrier", [("step < a->steps", "step <= a->steps")], {"one-step-more"}),
    ("barrier", [("fmaf(0.3f, left + right, 0.4f * now[i])", "0.3f * (left + right) + 0.4f * now[i]")], {"no-fma"}),
    ("barrier", [("a->y[i] = now[i]", "a->y[i] = (a->steps % 2 ? next : now)[i]")], {"wrong-array"}),
    ("barrier", [("i < n; ++i) a->y", "i < n - 1; ++i) a->y")], {"last-element"}),
    # max-pool
    ("max-pool", [("float best = a->x[((c * a->in_height + y0) * a->in_width + x0) * a->samples + s];", "float best = 0;")],
     {"from-zero"}),
    ("max-pool", [("tap > best", "tap < best")], {"minimum"}),
    ("max-pool", [("y0 = oy * a->stride, x0 = ox * a->stride", "y0 = oy, x0 = ox")], {"no-stride"}),
    ("max-pool", [("best = tap > best ? tap : best;", "best = tap;")], {"last-tap"}),
    ("max-pool", [("best = tap > best ? tap : best;", "(void)tap;")], {"first-tap"}),
    ("max-pool", [("c < a->channels", "c < a->channels - 1")], {"last-row"}),
    ("max-pool", [("s < a->samples", "s < a->samples - 1")], {"last-column"}),
    ("max-pool", [("s < a->samples", "s < a->samples / 8 * 8")], {"remainder"}),
    ("max-pool", [("y0 = oy * a->stride, x0 = ox * a->stride", "y0 = oy * a->window, x0 = ox * a->window")],
     {"out-of-bounds", "stride-is-window"}),
    # linear-forward
    ("linear-forward", [("a->b ? a->b[o] : 0", "0")], {"no-start"}),
    ("linear-forward", [("a->b ? a->b[o] : 0", "a->b[o]")], {"crash"}),
    ("linear-forward", [("= sum;", "= sum + (a->b ? a->b[o] : 0);")], {"start-twice"}),
    ("linear-forward", [("a->b ? a->b[o] : 0", "0"), ("= sum;", "= sum + (a->b ? a->b[o] : 0);")], {"start-last"}),
    ("linear-forward", [("a->w[o * in + i]", "a->w[i * out + o]")], {"weights-transposed"}),
    ("linear-forward", [("a->x[i * samples + s]", "a->x[s * in + i]")], {"inputs-transposed"}),
    ("linear-forward", [("a->y[o * samples + s]", "a->y[s * out + o]")], {"outputs-transposed"}),
    ("linear-forward", [("a->b[o]", "a->b[0]")], {"bias-of-first"}),
    ("linear-forward", [("= sum;", "= sum / in;")], {"mean"}),
    ("linear-forward", [("= sum;", "+= sum;")], {"accumulates"}),
    ("linear-forward", [("float sum = a->b ? a->b[o] : 0;", "double sum = a->b ? a->b[o] : 0;"),
                        ("sum = fmaf(a->w[o * in + i], a->x[i * samples + s], sum)",
                         "sum += (double)a->w[o * in + i] * a->x[i * samples + s]")], {"double"}),
    ("linear-forward", [("o < out", "o < out - 1")], {"last-row"}),
    ("linear-forward", [("s < samples", "s < samples - 1")], {"last-column"}),
    ("linear-forward", [("s < samples", "s < samples / 16 * 16")], {"remainder"}),
    # linear-backward-data
    ("linear-backward-data", [("a->w[o * in + i]", "a->w[i * out + o]")], {"weights-transposed"}),
    ("linear-backward-data", [("a->dy[o * samples + s]", "a->dy[s * out + o]")], {"gradient-transposed"}),
    ("linear-backward-data", [("a->dx[i * samples + s]", "a->dx[s * in + i]")], {"outputs-transposed"}),
    ("linear-backward-data", [("= sum;", "= sum / out;")], {"mean"}),
    ("linear-backward-data", [("i < in", "i < in - 1")], {"last-row"}),
    # linear-backward-weights
    ("linear-backward-weights", [("a->db[o] = bias;", "a->db[o] = bias / samples;")], {"bias-mean"}),
    ("linear-backward-weights", [("a->dw[o * in + i] = sum;", "a->dw[o * in + i] = sum / samples;")], {"weights-mean"}),
    ("linear-backward-weights", [("a->dw[o * in + i] = sum;", "a->dw[o * in + i] = sum / samples;"),
                                 ("a->db[o] = bias;", "a->db[o] = bias / samples;")], {"mean"}),
    ("linear-backward-weights", [("a->dw[o * in + i]", "a->dw[i * out + o]")], {"outputs-transposed"}),
    ("linear-backward-weights", [("a->db[o] = bias;", "a->db[o] = 0;")], {"no-bias-gradient"}),
    ("linear-backward-weights", [("= sum;", "= -sum;"), ("= bias;", "= -bias;")], {"minus"}),
    ("linear-backward-weights", [("= sum;", "+= sum;"), ("= bias;", "+= bias;")], {"accumulates"}),
    # binary-cross-entropy
    ("binary-cross-entropy", [("a->scale * (contract", "(contract")], {"no-scale"}),
    ("binary-cross-entropy", [("(contract_sigmoid(z) - t)", "(t - contract_sigmoid(z))")], {"sign"}),
    ("binary-cross-entropy", [("(contract_sigmoid(z) - t)", "(z - t)")], {"no-sigmoid"}),
    ("binary-cross-entropy", [("a->loss[s] = sum", "a->loss[s] = a->scale * sum")], {"scaled-loss"}),
    ("binary-cross-entropy", [("a->loss[s] = sum", "a->loss[s] = sum / outputs")], {"mean-of-outputs"}),
    ("binary-cross-entropy", [("int64_t k = 0; k < outputs; ++k", "int64_t k = outputs - 1; k >= 0; --k")], {"descending"}),
    ("binary-cross-entropy", [("fmaf(-z, t, positive)", "positive - z * t")], {"no-fma", None}),
    ("binary-cross-entropy", [("s < samples", "s < samples - 1")], {"last-column", None, "unwritten"}),
    # cost
    ("cost", [("total / (float)samples", "total")], {"sum"}),
    ("cost", [("total / (float)samples", "total / samples / out")], {"mean-of-outputs"}),
    ("cost", [("contract_sigmoid(sum)", "sum")], {"no-sigmoid"}),
    ("cost", [("total / (float)samples", "total * (1.0f / samples)")], {"inverse"}),
    ("cost", [("float total = 0", "double total = 0")], {"cost-in-double"}),
    ("cost", [("s < samples; ++s) total", "s < samples - 1; ++s) total")], {"last-sample"}),
    # conv2d-forward
    ("conv2d-forward", [("sum = fmaf(w, a->x", "sum = sum + w * (a->x"), ("* a->samples + s], sum);", "* a->samples + s]);")],
     {"no-fma"}),
    ("conv2d-forward", [("+ ky) * a->kernel_w + kx]", "+ a->kernel_h - 1 - ky) * a->kernel_w + a->kernel_w - 1 - kx]")],
     {"flipped"}),
    ("conv2d-forward", [("+ ky - a->pad", "+ ky"), ("+ kx - a->pad", "+ kx")], {"no-padding"}),
    ("conv2d-forward", [("oy * a->stride", "oy"), ("ox * a->stride", "ox")], {"no-stride"}),
    ("conv2d-forward", [("ic < a->in_channels", "ic < 1")], {"first-channel"}),
    ("conv2d-forward", [("a->b ? a->b[oc] : 0", "0")], {"no-start"}),
    ("conv2d-forward", [("= sum;", "+= sum;")], {"accumulates"}),
    ("conv2d-forward", [("iy < 0 || ", "")], {"out-of-bounds"}),
    ("conv2d-forward", [("s < a->samples", "s < a->samples / 8 * 8")], {"remainder"}),
    ("conv2d-forward", [("s < a->samples", "s < a->samples - 1")], {"last-column"}),
    ("conv2d-forward", [("oc < a->out_channels", "oc < a->out_channels - 1")], {"last-row"}),
    ("conv2d-forward", [("if (iy < 0 || iy >= a->in_height || ix < 0 || ix >= a->in_width) continue;", "")], {"out-of-bounds"}),
    # xxt
    ("xxt", [("a->y[j * n + i] = sum;", "")], {"half-unwritten"}),
    ("xxt", [("a->y[i * n + j] = sum;", "")], {"upper-unwritten"}),
    ("xxt", [("j <= i", "j < i")], {"no-diagonal"}),
    ("xxt", [("a->y[j * n + i] = sum;", "a->y[j * n + i] = i == j ? 2 * sum : sum;")], {"diagonal-twice"}),
    ("xxt", [("a->y[j * n + i] = sum;", "if (i != j) a->y[j * n + i] = 0;")], {"half-zero"}),
    ("xxt", [("= sum;", "+= sum;")], {None, "accumulates"}),
    # product
    ("product", [("p->c[i * n + j] = fmaf(p->a[i * k + l], p->b[l * n + j], p->c[i * n + j])",
                  "p->c[i * n + j] += p->a[i * k + l] * p->b[l * n + j]")], {"no-fma"}),
    ("product", [("for (int64_t l = 0; l < k; ++l)", "for (int64_t l = k - 1; l >= 0; --l)")], {"descending"}),
    ("product", [("p->b[l * n + j]", "p->b[j * k + l]")], {"b-transposed"}),
    ("product", [("for (int64_t j = 0; j < n; ++j) p->c[i * n + j] = 0;", "")], {"accumulates"}),
    ("product", [("i < m", "i < m - 1")], {"last-row"}),
    ("product", [("j < n; ++j) p->c[i * n + j] = fmaf", "j < n - 1; ++j) p->c[i * n + j] = fmaf")], {None}),
    ("product", [("l < k", "l < k / 16 * 16")], {"sum-remainder-16"}),
    ("product", [("l = 0", "l = 1")], {"first-term"}),
    ("product", [("l < k", "l < k - 1")], {"last-term"}),
]

MUTATIONS = [*sums(), *SINGLE]
