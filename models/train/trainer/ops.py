"""Differentiable operations over kernels.c, and the build of that file."""

import ctypes
import hashlib
import os
import subprocess
import tempfile

import torch


def build():
    """Compiles kernels.c for this machine into the temporary folder, once per source text."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.c")
    with open(source, "rb") as f:
        tag = hashlib.sha256(f.read()).hexdigest()[:16]
    library = os.path.join(tempfile.gettempdir(), f"svc-tiny-kernels-{os.getuid()}-{tag}.so")
    if not os.path.exists(library):
        part = f"{library}.{os.getpid()}"
        flags = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-shared", "-fPIC"]
        subprocess.run(["gcc", *flags, "-o", part, source, "-lm"], check=True)
        os.replace(part, library)
    return ctypes.CDLL(library)


def half_type():
    """bfloat16 where the CPU multiplies it (1.3 times the speed, measured); elsewhere it is emulated, and slow."""
    try:
        with open("/proc/cpuinfo") as f:
            return torch.bfloat16 if "avx512_bf16" in f.read() else torch.float32
    except FileNotFoundError:
        return torch.float32


HALF = half_type()
KERNELS = build()
KERNELS.cross_entropy.restype = ctypes.c_double


def _at(tensor):
    assert tensor.is_contiguous()
    return ctypes.c_void_p(tensor.data_ptr())


def _n(*sizes):
    return [ctypes.c_long(size) for size in sizes]


class AddNorm(torch.autograd.Function):
    """(x, y or None, gain) -> (x + y, its RMS norm). The gain's gradient goes to `d_gain`."""

    @staticmethod
    def forward(ctx, x, y, gain, d_gain):
        total, h = torch.empty_like(x), torch.empty_like(x)
        inv = torch.empty(x.shape[0])
        y_at = None if y is None else _at(y)
        out = [_at(total), _at(h), _at(inv)]
        KERNELS.add_norm_forward(_at(x), y_at, _at(gain), *out, *_n(*x.shape))
        ctx.save_for_backward(total, gain, inv)
        ctx.d_gain, ctx.has_y = d_gain, y is not None
        return total, h

    @staticmethod
    def backward(ctx, d_total, d_h):
        total, gain, inv = ctx.saved_tensors
        d = torch.zeros_like(total) if d_total is None else d_total.contiguous()
        args = [_at(d), _at(d_h.contiguous()), _at(total), _at(gain), _at(inv), _at(ctx.d_gain)]
        KERNELS.add_norm_backward(*args, *_n(*total.shape))
        return d, d if ctx.has_y else None, None, None


class Linear(torch.autograd.Function):
    """x @ weight.T, multiplied in `kind`; the weight's gradient is summed into the buffer `d_weight`."""

    @staticmethod
    def forward(ctx, x, weight, d_weight, kind):
        x, weight = x.to(kind), weight.to(kind)
        ctx.save_for_backward(x, weight)
        ctx.d_weight = d_weight
        return (x @ weight.t()).float()

    @staticmethod
    def backward(ctx, d_out):
        x, weight = ctx.saved_tensors
        d_out = d_out.to(x.dtype)
        ctx.d_weight.add_(d_out.t() @ x)
        return (d_out @ weight).float(), None, None, None


class Attention(torch.autograd.Function):
    """
    qkv [batch * t, 3 * heads * d], lengths of the prompts [batch] -> [batch * t, heads * d]. A position sees those
    before it and itself; a position of a prompt sees the whole prompt.
    """

    @staticmethod
    def forward(ctx, qkv, turn, prompts, heads):
        rows, batch = qkv.shape[0], len(prompts)
        t, d = rows // batch, turn.shape[1]
        assert t % 16 == 0 and d % 8 == 0 and int(prompts.max()) <= t
        out = torch.empty(rows, heads * d)
        lse = torch.empty(batch, heads, t)
        args = [_at(qkv), _at(turn), _at(prompts), _at(out), _at(lse)]
        KERNELS.attention_forward(*args, *_n(batch, t, heads, d))
        ctx.save_for_backward(qkv, turn, prompts, out, lse)
        ctx.sizes = (batch, t, heads, d)
        return out

    @staticmethod
    def backward(ctx, d_out):
        qkv, turn, prompts, out, lse = ctx.saved_tensors
        d_qkv = torch.empty_like(qkv)
        args = [_at(qkv), _at(turn), _at(prompts), _at(out), _at(lse), _at(d_out.contiguous()), _at(d_qkv)]
        KERNELS.attention_backward(*args, *_n(*ctx.sizes))
        return d_qkv, None, None, None


class SwiGlu(torch.autograd.Function):
    """gate and up [rows, 2 * width] -> silu(gate) * up [rows, width]."""

    @staticmethod
    def forward(ctx, gate_up):
        rows, width = gate_up.shape[0], gate_up.shape[1] // 2
        out = torch.empty(rows, width)
        KERNELS.swiglu_forward(_at(gate_up), _at(out), *_n(rows, width))
        ctx.save_for_backward(gate_up)
        return out

    @staticmethod
    def backward(ctx, d_out):
        (gate_up,) = ctx.saved_tensors
        d = torch.empty_like(gate_up)
        KERNELS.swiglu_backward(_at(gate_up), _at(d_out.contiguous()), _at(d), *_n(*d_out.shape))
        return d


class Embed(torch.autograd.Function):
    """Rows of the embedding; gradients are summed into `d_weight`."""

    @staticmethod
    def forward(ctx, weight, ids, d_weight, anchor):
        ctx.ids, ctx.d_weight = ids, d_weight
        return weight[ids] + anchor

    @staticmethod
    def backward(ctx, d_out):
        ctx.d_weight.index_add_(0, ctx.ids, d_out)
        return None, None, None, None


class CrossEntropy(torch.autograd.Function):
    """Weighted sum of the cross entropy; `logits` becomes its gradient. Returns also the hits."""

    @staticmethod
    def forward(ctx, logits, target, weight):
        hits = ctypes.c_long(0)
        args = [_at(logits), _at(target), _at(weight), *_n(*logits.shape)]
        loss = KERNELS.cross_entropy(*args, ctypes.byref(hits))
        ctx.gradient = logits
        ctx.mark_dirty(logits)
        return logits, torch.tensor(loss), torch.tensor(hits.value)

    @staticmethod
    def backward(ctx, _d_logits, _d_loss, _d_hits):
        return ctx.gradient, None, None
