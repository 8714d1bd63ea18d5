"""jax_peer.py WORKLOAD VARIANT THREADS [quick]: JAX as a contender, as torch_peer.py. Variants: jit (one call per
step), scan (one call per epoch, lax.scan over the steps). Its batch normalisation keeps no running statistics: the test
samples are normalised by their own."""
import os
import sys
import time

threads = int(sys.argv[3])
os.environ["XLA_FLAGS"] = (f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'} "
                           f"intra_op_parallelism_threads={threads}")
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # XLA sizes its thread pool by this

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

import workloads  # noqa: E402

jax.config.update("jax_enable_x64", True)


def convolve(x, w, pad, stride=1):
    layout = ("NCHW", "OIHW", "NCHW")
    return lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=layout)


def forward(workload, p, x):
    """The logits: a final sigmoid belongs to the loss."""
    layers = workload.layers[:-1] if workload.loss != "cross-entropy" else workload.layers
    return through(layers, workload.input, p, x)


def recurrence(kind, p, name, x):
    """The last state of an LSTM or GRU over [samples, features, steps]: the input products of all steps are one."""
    w, b = p[f"{name}.weight_hh_l0"], p[f"{name}.bias_hh_l0"]
    inputs = jnp.moveaxis(x, 2, 0) @ p[f"{name}.weight_ih_l0"].T + p[f"{name}.bias_ih_l0"]
    zeros = jnp.zeros((len(x), w.shape[1]), x.dtype)

    def lstm(state, z):
        h, c = state
        i, f, g, o = jnp.split(z + h @ w.T + b, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    def gru(state, z):
        h, _ = state
        (ri, zi, ni), (rh, zh, nh) = jnp.split(z, 3, axis=1), jnp.split(h @ w.T + b, 3, axis=1)
        keep = jax.nn.sigmoid(zi + zh)
        n = jnp.tanh(ni + jax.nn.sigmoid(ri + rh) * nh)
        return ((1 - keep) * n + keep * h, h), None

    return lax.scan({"lstm": lstm, "gru": gru}[kind], (zeros, zeros), inputs)[0][0]


def through(layers, shape, p, x, prefix=""):
    for name, kind, n, before, _ in workloads.walk(layers, shape, prefix):
        weight, bias = p.get(f"{name}.weight"), p.get(f"{name}.bias")
        if kind == "linear":
            x = x.reshape(len(x), -1) @ weight.T + bias
        elif kind in workloads.GATES:
            x = recurrence(kind, p, name, x)
        elif kind == "conv2d":
            x = convolve(x, weight, *n[2:]) + bias[None, :, None, None]
        elif kind == "relu":
            x = jnp.maximum(x, 0)
        elif kind == "sigmoid":
            x = jax.nn.sigmoid(x)
        elif kind == "tanh":
            x = jnp.tanh(x)
        elif kind == "max_pool2d":
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, n[0], n[0]), (1, 1, n[0], n[0]), "VALID")
        elif kind == "avg_pool2d":
            x = lax.reduce_window(x, 0.0, lax.add, (1, 1, n[0], n[0]), (1, 1, n[0], n[0]), "VALID") / n[0] ** 2
        elif kind == "batch_norm":
            mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
            x = (x - mean) * lax.rsqrt(var + 1e-5) * weight[None, :, None, None] + bias[None, :, None, None]
        elif kind == "residual":
            x = through(n[0], before, p, x, f"{name}.body.") + through(n[1], before, p, x, f"{name}.shortcut.")
    return x


def loss_of(workload, p, x, t):
    z = forward(workload, p, x)
    if workload.loss == "cross-entropy":
        return -jnp.take_along_axis(jax.nn.log_softmax(z), t[:, None], 1).mean()
    return (jnp.maximum(z, 0) - z * t + jnp.log1p(jnp.exp(-jnp.abs(z)))).sum() / len(x)


def optimizer_of(workload):
    kind, lr, *momentum = workload.optimizer
    if kind == "sgd":
        def step(p, state, g):
            v = jax.tree.map(lambda v, g: momentum[0] * v + g, state, g)
            return jax.tree.map(lambda p, v: p - lr * v, p, v), v
        return step, lambda p: jax.tree.map(jnp.zeros_like, p)

    def step(p, state, g):
        m, v, t = state
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        rate, root = lr / (1 - 0.9 ** t), jnp.sqrt(1 - 0.999 ** t)
        update = lambda p, m, v: (p - rate * m / (jnp.sqrt(v) / root + 1e-8)).astype(p.dtype)  # noqa: E731
        return jax.tree.map(update, p, m, v), (m, v, t)
    zeros = lambda p: jax.tree.map(jnp.zeros_like, p)  # noqa: E731
    return step, lambda p: (zeros(p), zeros(p), jnp.zeros((), workload.dtype))


def image(workload):
    picture, kernels = workload.arrays()
    x, w = jnp.asarray(picture[None, None]), jnp.asarray(kernels[:, None])
    call = jax.jit(lambda x: convolve(x, w, 0))
    call(x).block_until_ready()
    first_step = workloads.seconds_since_start()

    def run():
        start = time.perf_counter()
        call(x).block_until_ready()
        return {"seconds": time.perf_counter() - start}

    def outputs():
        return {"outputs": workload.probe(jnp.ravel(call(x)[0]))}
    return first_step, {"run": run, "outputs": outputs}


def training(workload, variant):
    x, labels = workloads.load(workload)
    test_x, test_labels = workloads.load(workload, "test")
    test_x = jnp.asarray(test_x.reshape(-1, *workload.input))
    whole = len(x) // workload.batch  # lax.scan needs equal batches: a remainder is a step of its own
    batches = jnp.asarray(x[:whole * workload.batch].reshape(whole, workload.batch, *workload.input))
    rest = jnp.asarray(x[whole * workload.batch:].reshape(-1, *workload.input))
    targets = (jnp.asarray(labels) if workload.loss == "cross-entropy"
               else jax.nn.one_hot(labels, 10, dtype=workload.dtype))
    batch_targets = targets[:whole * workload.batch].reshape(whole, workload.batch, *targets.shape[1:])
    rest_targets = targets[whole * workload.batch:]
    start_weights = {k: jnp.asarray(v) for k, v in workloads.initial_weights(workload).items() if "running" not in k}
    update, begin = optimizer_of(workload)

    def step(carry, batch):
        loss, g = jax.value_and_grad(lambda p: loss_of(workload, p, *batch))(carry[0])
        return update(*carry, g), loss
    one = jax.jit(step)
    split = [(batches[b], batch_targets[b]) for b in range(whole)]  # cut before the clock runs

    def epoch(carry, _=None):
        return lax.scan(step, carry, (batches, batch_targets))
    one_epoch = jax.jit(epoch)
    all_epochs = jax.jit(lambda carry: lax.scan(epoch, carry, None, length=workload.epochs))

    def run_epoch(carry):
        losses = []
        if variant == "scan":
            carry, all_losses = one_epoch(carry)
            losses.append(all_losses.sum())
        else:
            for batch in split:
                carry, loss = one(carry, batch)
                losses.append(loss)
        if len(rest):
            carry, loss = one(carry, (rest, rest_targets))
            losses.append(loss)
        return carry, losses

    def losses(count):
        carry, result = (start_weights, begin(start_weights)), []
        for b in range(count):
            carry, loss = one(carry, split[b % whole])
            result.append(float(loss))
        return {"losses": result}

    def run_all(carry):
        """All epochs: the carry, and the losses of the last one."""
        if variant == "scan" and not len(rest):  # in one call
            carry, losses = all_epochs(carry)
            return carry, [losses[-1].sum()]
        for _ in range(workload.epochs):
            carry, losses = run_epoch(carry)
        return carry, losses

    def run(trained=lambda weights: None):
        carry = (start_weights, begin(start_weights))
        start = time.perf_counter()
        carry, parts = run_all(carry)
        total = float(sum(parts))
        seconds, memory = time.perf_counter() - start, workloads.peak_memory()
        trained(carry[0])
        accuracy = float((forward(workload, carry[0], test_x).argmax(1) == test_labels).mean())
        return {"seconds": seconds, "loss": total / -(-len(x) // workload.batch), "accuracy": accuracy,
                "memory": memory}

    def save_weights(folder):
        def save(name, weights):
            workloads.save_weights(folder, name, {k: np.asarray(v) for k, v in weights.items()})
        save("initial", start_weights)
        return run(lambda weights: save("trained", weights))
    if variant == "scan":  # the first call is a whole epoch; compile
        run_all((start_weights, begin(start_weights)))
        first_step = workloads.seconds_since_start()
    else:
        losses(1)
        first_step = workloads.seconds_since_start()
        if not workload.wide:
            run_all((start_weights, begin(start_weights)))
    return first_step, {"run": run, "losses": losses, "weights": save_weights}


def main():
    workload = workloads.by_name(sys.argv[1], "quick" in sys.argv[4:])
    first_step, commands = image(workload) if sys.argv[1] == "image" else training(workload, sys.argv[2])
    commands["exact_losses"] = lambda count: training(workloads.exact(workload), "jit")[1]["losses"](count)
    workloads.serve(f"jax {jax.__version__}", first_step, commands)


main()
