"""jax_peer.py WORKLOAD VARIANT THREADS: JAX as a contender, as torch_peer.py. Variants: jit (one call per step), scan
(one call per epoch, lax.scan over the steps)."""
import json
import os
import sys
import time

threads = int(sys.argv[3])
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'} intra_op_parallelism_threads={threads}"
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # XLA sizes its thread pool by this

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import workloads  # noqa: E402

jax.config.update("jax_enable_x64", True)


def convolve(x, w, pad):
    return lax.conv_general_dilated(x, w, (1, 1), [(pad, pad)] * 2, dimension_numbers=("NCHW", "OIHW", "NCHW"))


def forward(workload, p, x):
    """The logits: a final sigmoid belongs to the loss."""
    layers = workload.layers[:-1] if workload.loss != "cross-entropy" else workload.layers
    for i, (kind, *n) in enumerate(layers):
        if kind == "linear":
            x = x.reshape(len(x), -1) @ p[f"{i}.weight"].T + p[f"{i}.bias"]
        elif kind == "conv2d":
            x = convolve(x, p[f"{i}.weight"], n[2]) + p[f"{i}.bias"][None, :, None, None]
        elif kind == "relu":
            x = jnp.maximum(x, 0)
        elif kind == "sigmoid":
            x = jax.nn.sigmoid(x)
        elif kind == "max_pool2d":
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, n[0], n[0]), (1, 1, n[0], n[0]), "VALID")
        elif kind == "batch_norm":
            mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
            x = (x - mean) * lax.rsqrt(var + 1e-5) * p[f"{i}.weight"][None, :, None, None] + p[f"{i}.bias"][None, :, None, None]
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
    return step, lambda p: (zeros(p), zeros(p), jnp.zeros((), jnp.float32))


def image():
    x, w = jnp.ones((1, 1, 720, 1280), jnp.float32), jnp.ones((128, 1, 11, 11), jnp.float32)
    call = jax.jit(lambda x: convolve(x, w, 0))
    call(x).block_until_ready()

    def run():
        start = time.perf_counter()
        call(x).block_until_ready()
        return {"seconds": time.perf_counter() - start}
    return run, None


def training(workload, variant):
    x, labels = workloads.load(workload)
    whole = len(x) // workload.batch  # lax.scan needs equal batches: a remainder is a step of its own
    batches = jnp.asarray(x[:whole * workload.batch].reshape(whole, workload.batch, *workload.input))
    rest = jnp.asarray(x[whole * workload.batch:].reshape(-1, *workload.input))
    targets = jnp.asarray(labels) if workload.loss == "cross-entropy" else jax.nn.one_hot(labels, 10, dtype=workload.dtype)
    batch_targets = targets[:whole * workload.batch].reshape(whole, workload.batch, *targets.shape[1:])
    rest_targets = targets[whole * workload.batch:]
    start_weights = {k: jnp.asarray(v) for k, v in workloads.initial_weights(workload).items() if "running" not in k}
    update, begin = optimizer_of(workload)

    def step(carry, batch):
        loss, g = jax.value_and_grad(lambda p: loss_of(workload, p, *batch))(carry[0])
        return update(*carry, g), loss
    one = jax.jit(step)
    epoch = jax.jit(lambda carry: lax.scan(step, carry, (batches, batch_targets)))

    def run_epoch(carry):
        if variant == "scan":
            carry, losses = epoch(carry)
            losses = [losses.sum()]
        else:
            losses = []
            for b in range(whole):
                carry, loss = one(carry, (batches[b], batch_targets[b]))
                losses.append(loss)
        if len(rest):
            carry, loss = one(carry, (rest, rest_targets))
            losses.append(loss)
        return carry, losses

    def losses(count):
        carry, result = (start_weights, begin(start_weights)), []
        for b in range(count):
            carry, loss = one(carry, (batches[b % whole], batch_targets[b % whole]))
            result.append(float(loss))
        return {"losses": result}

    def run():
        carry = (start_weights, begin(start_weights))
        start = time.perf_counter()
        for _ in range(workload.epochs):
            carry, parts = run_epoch(carry)
        total = float(sum(parts))
        seconds = time.perf_counter() - start
        sample = jnp.asarray(x[:2000].reshape(-1, *workload.input))
        accuracy = float((forward(workload, carry[0], sample).argmax(1) == labels[:2000]).mean())
        return {"seconds": seconds, "loss": total / -(-len(x) // workload.batch), "accuracy": accuracy}
    run_epoch((start_weights, begin(start_weights)))
    return run, losses


def main():
    run, losses = image() if sys.argv[1] == "image" else training(workloads.by_name(sys.argv[1]), sys.argv[2])
    print(json.dumps({"ready": f"jax {jax.__version__}"}), flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        print(json.dumps(run() if command == "run" else losses(int(arguments[0]))), flush=True)


main()
