"""
The network: a llama-style decoder with tied embeddings that reads its prompt in both directions, in float32; products
in bfloat16 where that is faster.
"""

import math

import torch

from ops import HALF, AddNorm, Attention, CrossEntropy, Embed, Linear, SwiGlu


# Tokens that the loss compares the right one with, besides all that stand in the same micro-batch.
OTHERS = 1024
# In the loss, what a value of the prompt is asked for as, and that it is not asked for. An answer's first tokens: 4.
TAG_ASKED, TAG_OTHER = 2.0, 0.5
# Heads of 64, the least that llama.cpp's fast kernels take, turn as the first runs' heads of 56 did with 10,000.
HEAD_STEP, ROPE_BASE = 64, 10000 ** (64 / 56)


class Shape:
    """Sizes of a network; `head` is the width of one attention head."""

    def __init__(self, vocabulary, width, layers, heads, feed_forward, head=None, context=1024):
        self.vocabulary, self.width, self.layers, self.heads = vocabulary, width, layers, heads
        self.feed_forward, self.context = feed_forward, context
        self.head = head or -(-width // heads // HEAD_STEP) * HEAD_STEP
        self.tagged_layer = layers - 2  # tags are read off its input: the layers behind can still use them

    def tensors(self):
        """Name -> shape of what lies behind the embedding, matrices first."""
        d, inner = self.width, self.heads * self.head
        out = {}
        for i in range(self.layers):
            out[f"{i}.qkv"] = (3 * inner, d)
            out[f"{i}.out"] = (d, inner)
            out[f"{i}.gate_up"] = (2 * self.feed_forward, d)
            out[f"{i}.down"] = (d, self.feed_forward)
        for i in range(self.layers):
            out[f"{i}.norm_attention"] = (d,)
            out[f"{i}.norm_feed_forward"] = (d,)
        out["norm_out"] = (d,)
        return out

    def reader(self):
        """Name -> shape of what turns the stream in the middle into tags; training alone has it."""
        return {"reader.map": (self.width, self.width), "reader.norm": (self.width,)}

    def rotation(self):
        """[context][head]: cos and sin interleaved, for the interleaved rotary order that llama in GGUF wants."""
        speed = ROPE_BASE ** (-torch.arange(0, self.head, 2).float() / self.head)
        angle = torch.arange(self.context).float()[:, None] * speed[None]
        return torch.stack([angle.cos(), angle.sin()], -1).reshape(self.context, self.head).contiguous()


class Network:
    """
    Weights as views of one shared flat buffer; gradients in another per worker. The embedding is made of the
    vocabulary's parts (vocabulary.py): `refresh` makes it anew after each change of those.
    """

    def __init__(self, shape, vocabulary, seed=0, kind=HALF):
        self.shape, self.vocabulary, self.kind = shape, vocabulary, kind
        self.turn = shape.rotation()
        self.tensors = {**vocabulary.tensors(shape.width), **shape.reader(), **shape.tensors()}
        self.count = sum(math.prod(s) for s in self.tensors.values())
        self.flat = torch.zeros(self.count).share_memory_()
        self.weight = self.views(self.flat)
        self.embedding = torch.zeros(shape.vocabulary, shape.width).share_memory_()
        self._initialise(seed)
        self.refresh()

    def views(self, buffer):
        views, at = {}, 0
        for name, shape in self.tensors.items():
            size = math.prod(shape)
            views[name] = buffer[at : at + size].view(shape)
            at += size
        return views

    def refresh(self):
        self.vocabulary.embed(self.weight, self.embedding)

    def _behind_embedding(self):
        return self.flat[-sum(math.prod(s) for s in self.shape.tensors().values()) :]

    def finished(self):
        """The weights as the model has them: the embedding whole, then the rest."""
        return torch.cat([self.embedding.reshape(-1), self._behind_embedding()])

    def take(self, finished):
        """Goes on from what `finished` gave."""
        rest = self._behind_embedding()
        rest.copy_(finished[-len(rest) :])
        self.vocabulary.factor(finished[: -len(rest)].view_as(self.embedding), self.weight)
        self.refresh()

    def gradient_buffer(self):
        """(flat buffer, views and the embedding's), zeroed; the flat one is shared between processes."""
        flat = torch.zeros(self.count).share_memory_()
        return flat, {**self.views(flat), "embedding": torch.zeros_like(self.embedding)}

    def _initialise(self, seed):
        generator = torch.Generator().manual_seed(seed)
        for name, w in self.weight.items():
            if w.dim() == 1:
                w.fill_(1)
            elif name == "marks":
                w.zero_()
            elif name in ("stems", "words"):
                w.normal_(0, 0.02, generator=generator)
            else:
                scale = w.shape[1] ** -0.5
                if name.endswith((".out", ".down")):
                    scale /= math.sqrt(2 * self.shape.layers)
                w.normal_(0, scale, generator=generator)

    def _hidden(self, ids, prompts, gradient, positions, tagged):
        """
        The last layer's output at the given flat positions (past its attention the others are not needed), and what
        the stream says at those in `tagged`.
        """
        shape, w, g, kind, turn = self.shape, self.weight, gradient, self.kind, self.turn[: ids.shape[1]]
        anchor = torch.zeros(1, requires_grad=torch.is_grad_enabled())
        x, y = Embed.apply(self.embedding, ids.reshape(-1), g["embedding"], anchor), None
        for i in range(shape.layers):
            name = f"{i}.norm_attention"
            x, h = AddNorm.apply(x, y, self.weight[name], g[name])
            if i == shape.tagged_layer:
                _, read = AddNorm.apply(x[tagged], None, w["reader.norm"], g["reader.norm"])
                read = Linear.apply(read, w["reader.map"], g["reader.map"], kind)
            qkv = Linear.apply(h, w[f"{i}.qkv"], g[f"{i}.qkv"], kind)
            y = Attention.apply(qkv, turn, prompts, shape.heads)
            if i == shape.layers - 1:
                x, y = x[positions], y[positions]
            y = Linear.apply(y, w[f"{i}.out"], g[f"{i}.out"], kind)
            name = f"{i}.norm_feed_forward"
            x, h = AddNorm.apply(x, y, self.weight[name], g[name])
            gate_up = Linear.apply(h, w[f"{i}.gate_up"], g[f"{i}.gate_up"], kind)
            y = Linear.apply(SwiGlu.apply(gate_up), w[f"{i}.down"], g[f"{i}.down"], kind)
        _, h = AddNorm.apply(x, y, self.weight["norm_out"], g["norm_out"])
        return h, read

    def add_gradients(self, ids, prompts, positions, target, weight, gradient, tags=None):
        """
        One micro-batch. ids [batch, t] with t a multiple of 16; prompts [batch] their prompts' lengths; positions are
        flat indices into it whose next token is target, weighted by weight; tags (flat positions, tokens, 1 or 0 for
        asked or not). Sums gradients into `gradient`, the embedding's until `spread`; returns (loss, hits, loss of the
        tags, hits among them).
        """
        tagged, tag, asked = tags or (torch.zeros(0, dtype=torch.long),) * 3
        tokens, others_count = self._candidates(ids, torch.cat([target, tag]))
        place = torch.empty(self.shape.vocabulary, dtype=torch.long)
        place[tokens] = torch.arange(len(tokens))
        rows = self.embedding[tokens]
        d_rows = torch.zeros_like(rows)
        with torch.enable_grad():
            h, read = self._hidden(ids, prompts, gradient, positions, tagged)
            logits = Linear.apply(h, rows, d_rows, torch.float32)
            if others_count > 0:
                # Each of the others stands for many that were not drawn.
                left = self.shape.vocabulary - len(tokens) + others_count
                logits.data[:, -others_count:] += math.log(left / others_count)
            _, loss, hits = CrossEntropy.apply(logits, place[target], weight)
            # A name stands in the prompt: what is not there is no choice.
            here = slice(0, len(tokens) - others_count)
            logits = Linear.apply(read, rows[here], d_rows[here], torch.float32)
            tag_weight = TAG_OTHER + (TAG_ASKED - TAG_OTHER) * asked.float()
            _, tag_loss, tag_hits = CrossEntropy.apply(logits, place[tag], tag_weight)
            (loss + tag_loss).backward()
        gradient["embedding"].index_add_(0, tokens, d_rows)
        return loss.item(), hits.item(), tag_loss.item(), tag_hits.item()

    def _candidates(self, ids, target):
        """(tokens to choose among: those of the micro-batch, then others drawn at random; how many others)"""
        here = torch.zeros(self.shape.vocabulary, dtype=torch.bool)
        here[ids.reshape(-1)] = True
        here[target] = True
        generator = torch.Generator().manual_seed(int(ids.sum()))
        others = torch.nonzero(~here).squeeze(1)
        others = others[torch.randperm(len(others), generator=generator)[:OTHERS]]
        return torch.cat([torch.nonzero(here).squeeze(1), others]), len(others)

    def spread(self, gradient):
        """Moves the embedding's gradient to what it is made of."""
        self.vocabulary.spread(gradient["embedding"], gradient)
        gradient["embedding"].zero_()

    def logits(self, ids, prompts, with_tags=False):
        """Logits [batch, t, vocabulary] (of the tags too) by plain torch, differentiable; slow, for checks."""
        shape, w = self.shape, self.weight
        batch, t = ids.shape
        x = self.embedding[ids]

        def norm(v, gain):
            return v * torch.rsqrt((v * v).mean(-1, keepdim=True) + 1e-5) * gain

        def rotate(v):
            c, s, a, b = self.turn[:t, 0::2], self.turn[:t, 1::2], v[..., 0::2], v[..., 1::2]
            return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

        place = torch.arange(t)
        in_prompt = place < prompts[:, None]
        seen = (place[:, None] >= place) | (in_prompt[:, :, None] & in_prompt[:, None, :])
        hidden = torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))[:, None]
        for i in range(shape.layers):
            if with_tags and i == shape.tagged_layer:
                tags = norm(x, w["reader.norm"]) @ w["reader.map"].t() @ self.embedding.t()
            qkv = norm(x, w[f"{i}.norm_attention"]) @ w[f"{i}.qkv"].t()
            q, k, v = [z.view(batch, t, shape.heads, shape.head).transpose(1, 2) for z in qkv.chunk(3, -1)]
            score = (rotate(q) @ rotate(k).transpose(-1, -2) * shape.head**-0.5 + hidden).softmax(-1)
            x = x + (score @ v).transpose(1, 2).reshape(batch, t, -1) @ w[f"{i}.out"].t()
            gate, up = (norm(x, w[f"{i}.norm_feed_forward"]) @ w[f"{i}.gate_up"].t()).chunk(2, -1)
            x = x + (torch.nn.functional.silu(gate) * up) @ w[f"{i}.down"].t()
        logits = norm(x, w["norm_out"]) @ self.embedding.t()
        return (logits, tags) if with_tags else logits
