/*
 * The parts of a training step that are not plain matrix products, for CPUs: residual add + RMS
 * norm, attention with rotary positions, SwiGLU, cross entropy, each forward and backward,
 * all in float32. Single-threaded on purpose: the trainer runs one process per core.
 * Build: gcc -O3 -march=native -ffast-math -shared -fPIC -o kernels.so kernels.c -lm
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- residual add and RMS norm: sum = x + y, h = sum / rms(sum) * gain -------------------------- */

void add_norm_forward(const float *x, const float *y, const float *gain, float *sum, float *h,
                      float *inv_rms, long rows, long width) {
  for (long r = 0; r < rows; r++) {
    const float *xr = x + r * width, *yr = y ? y + r * width : NULL;
    float *sr = sum + r * width, *hr = h + r * width, squares = 0;
    for (long i = 0; i < width; i++) {
      float v = yr ? xr[i] + yr[i] : xr[i];
      sr[i] = v;
      squares += v * v;
    }
    float inv = 1.f / sqrtf(squares / width + 1e-5f);
    inv_rms[r] = inv;
    for (long i = 0; i < width; i++) hr[i] = sr[i] * inv * gain[i];
  }
}

/* d_sum (gradient of `sum` from later uses) becomes the gradient of x, and so of y. */
void add_norm_backward(float *d_sum, const float *d_h, const float *sum, const float *gain,
                       const float *inv_rms, float *d_gain, long rows, long width) {
  for (long r = 0; r < rows; r++) {
    const float *sr = sum + r * width, *dh = d_h + r * width;
    float *d = d_sum + r * width, inv = inv_rms[r], dot = 0;
    for (long i = 0; i < width; i++) dot += dh[i] * gain[i] * sr[i];
    dot *= inv * inv * inv / width;
    for (long i = 0; i < width; i++) {
      d_gain[i] += dh[i] * sr[i] * inv;
      d[i] += dh[i] * gain[i] * inv - sr[i] * dot;
    }
  }
}

/* ---- SwiGLU over [rows, 2 * width]: gate first, then up ----------------------------------------- */

void swiglu_forward(const float *gate_up, float *out, long rows, long width) {
  for (long r = 0; r < rows; r++) {
    const float *g = gate_up + r * 2 * width, *u = g + width;
    float *o = out + r * width;
    for (long i = 0; i < width; i++) o[i] = g[i] / (1.f + expf(-g[i])) * u[i];
  }
}

void swiglu_backward(const float *gate_up, const float *d_out, float *d_gate_up, long rows,
                     long width) {
  for (long r = 0; r < rows; r++) {
    const float *g = gate_up + r * 2 * width, *u = g + width, *d = d_out + r * width;
    float *dg = d_gate_up + r * 2 * width, *du = dg + width;
    for (long i = 0; i < width; i++) {
      float s = 1.f / (1.f + expf(-g[i]));
      dg[i] = d[i] * u[i] * s * (1.f + g[i] * (1.f - s));
      du[i] = d[i] * g[i] * s;
    }
  }
}

/* ---- weighted cross entropy: logits become their gradient; returns the loss, counts hits -------- */

double cross_entropy(float *logits, const int64_t *target, const float *weight, long rows,
                     long classes, long *hits) {
  double loss = 0;
  long hit = 0;
  for (long r = 0; r < rows; r++) {
    float *l = logits + r * classes, top = -1e30f, total = 0;
    for (long i = 0; i < classes; i++) top = l[i] > top ? l[i] : top;
    float goal = l[target[r]], w = weight[r];
    hit += goal >= top;
    for (long i = 0; i < classes; i++) {
      l[i] = expf(l[i] - top);
      total += l[i];
    }
    loss += w * (logf(total) + top - goal);
    float scale = w / total;
    for (long i = 0; i < classes; i++) l[i] *= scale;
    l[target[r]] -= w;
  }
  *hits = hit;
  return loss;
}

/* ---- attention with interleaved rotary positions -------------------------------------------------
 * A position sees all before it and itself; those of the prompt see the whole prompt. */

typedef float v8 __attribute__((vector_size(32), aligned(4)));
typedef float v16 __attribute__((vector_size(64), aligned(4)));

enum { COLUMNS_MAX = 7 };

/* A tile of C = (add ? C : 0) + A . B: `rows` rows, `nv` vectors of columns. */
#define TILE(name, vec, rows)                                                                      \
  static inline __attribute__((always_inline)) void name(                                          \
      const float *a, long am, long ak, const float *b, long ldb, float *c, long ldc, long k,      \
      int add, const int nv) {                                                                     \
    enum { LANES = sizeof(vec) / sizeof(float) };                                                  \
    vec s[rows][COLUMNS_MAX];                                                                      \
    for (int i = 0; i < rows; i++)                                                                 \
      for (int j = 0; j < nv; j++)                                                                 \
        s[i][j] = add ? *(vec *)(c + i * ldc + LANES * j) : (vec){0};                              \
    for (long p = 0; p < k; p++) {                                                                 \
      vec bv[COLUMNS_MAX];                                                                         \
      for (int j = 0; j < nv; j++) bv[j] = *(vec *)(b + p * ldb + LANES * j);                      \
      for (int i = 0; i < rows; i++)                                                               \
        for (int j = 0; j < nv; j++) s[i][j] += a[i * am + p * ak] * bv[j];                        \
    }                                                                                              \
    for (int i = 0; i < rows; i++)                                                                 \
      for (int j = 0; j < nv; j++) *(vec *)(c + i * ldc + LANES * j) = s[i][j];                    \
  }

#ifdef __AVX512F__
TILE(eight16, v16, 8)
TILE(eight8, v8, 8)
#else
TILE(two8, v8, 2)
TILE(four8, v8, 4)
#endif

/* C[m][n] (+)= sum over k of A(m, k) . B[k][n]; A is addressed by strides, so that a transposed
 * operand needs no copy. m and n are multiples of 8. Tiles fill the registers: 32 of 16 lanes with
 * AVX-512, 16 of 8 without, where two rows by seven vectors are 1.4 times as fast as four by two. */
static void product(const float *a, long am, long ak, const float *b, long ldb, float *c, long ldc,
                    long m, long n, long k, int add) {
  long j = 0;
#define TILES(name, rows, width, nv)                                                               \
  for (; j + width <= n; j += width)                                                               \
    for (long i = 0; i < m; i += rows)                                                             \
      name(a + i * am, am, ak, b + j, ldb, c + i * ldc + j, ldc, k, add, nv);
#ifdef __AVX512F__
  TILES(eight16, 8, 32, 2)
  TILES(eight16, 8, 16, 1)
  TILES(eight8, 8, 8, 1)
#else
  TILES(two8, 2, 56, 7)
  TILES(four8, 4, 24, 3)
  TILES(four8, 4, 16, 2)
  TILES(four8, 4, 8, 1)
#endif
}

enum { BLOCK = 16 }; /* query rows handled together */

/* Scratch for one head of `t` positions (a multiple of BLOCK) and `d` channels (a multiple of 8). */
typedef struct {
  float *q, *k, *v, *d_out; /* [t][d], rotated (and q scaled) */
  float *kt, *vt;           /* [d][t] */
  float *s, *ds;            /* [BLOCK][t] */
  float *dq, *dk, *dv, *o;  /* [t][d]; o is [BLOCK][d] */
  float *all;
} Scratch;

static Scratch scratch_make(long t, long d) {
  Scratch z;
  float *at = z.all = malloc((10 * t * d + 2 * BLOCK * t + t * d) * sizeof(float));
  float **heads[] = {&z.q, &z.k, &z.v, &z.d_out, &z.kt, &z.vt, &z.dq, &z.dk, &z.dv, &z.o};
  for (int i = 0; i < 10; i++, at += t * d) *heads[i] = at;
  z.s = at;
  z.ds = at + BLOCK * t;
  return z;
}

static void transpose(const float *x, float *out, long t, long d) {
  for (long i = 0; i < t; i++)
    for (long j = 0; j < d; j++) out[j * t + i] = x[i * d + j];
}

static void rotate(const float *in, float *out, const float *turn, long d, float scale) {
  for (long i = 0; i < d; i += 2) {
    float a = in[i] * scale, b = in[i + 1] * scale, c = turn[i], s = turn[i + 1];
    out[i] = a * c - b * s;
    out[i + 1] = a * s + b * c;
  }
}

static void rotate_back(const float *in, float *out, const float *turn, long d, float scale) {
  for (long i = 0; i < d; i += 2) {
    float a = in[i] * scale, b = in[i + 1] * scale, c = turn[i], s = turn[i + 1];
    out[i] = a * c + b * s;
    out[i + 1] = -a * s + b * c;
  }
}

/* qkv is [batch][t][3 * heads * d]; turn is [t][d] with cos and sin interleaved. */
static void load_head(Scratch *z, const float *qkv, const float *turn, long t, long heads, long h,
                      long d, float scale) {
  long width = heads * d;
  for (long i = 0; i < t; i++) {
    const float *row = qkv + i * 3 * width + h * d;
    rotate(row, z->q + i * d, turn + i * d, d, scale);
    rotate(row + width, z->k + i * d, turn + i * d, d, 1.f);
    memcpy(z->v + i * d, row + 2 * width, d * sizeof(float));
  }
  transpose(z->k, z->kt, t, d);
}

/* How many keys the queries of the block at i0 look at, a multiple of 8; at most t. */
static long keys_of_block(long i0, long prompt) {
  long keys = i0 + BLOCK;
  return prompt > keys ? (prompt + 7) / 8 * 8 : keys;
}

static long keys_of_query(long i, long prompt) { return i < prompt ? prompt : i + 1; }

/* prompts [batch]: positions at the beginning of each row that are its prompt. */
void attention_forward(const float *qkv, const float *turn, const int64_t *prompts, float *out,
                       float *lse, long batch, long t, long heads, long d) {
  float scale = 1.f / sqrtf((float)d);
  Scratch z = scratch_make(t, d);
  for (long bh = 0; bh < batch * heads; bh++) {
    long b = bh / heads, h = bh % heads;
    load_head(&z, qkv + b * t * 3 * heads * d, turn, t, heads, h, d, scale);
    for (long i0 = 0; i0 < t; i0 += BLOCK) {
      long keys = keys_of_block(i0, prompts[b]);
      product(z.q + i0 * d, d, 1, z.kt, t, z.s, t, BLOCK, keys, d, 0);
      for (long i = 0; i < BLOCK; i++) {
        float *s = z.s + i * t, top = -1e30f, total = 0;
        long n = keys_of_query(i0 + i, prompts[b]);
        for (long j = 0; j < n; j++) top = s[j] > top ? s[j] : top;
        for (long j = 0; j < n; j++) {
          s[j] = expf(s[j] - top);
          total += s[j];
        }
        float inv = 1.f / total;
        for (long j = 0; j < n; j++) s[j] *= inv;
        memset(s + n, 0, (keys - n) * sizeof(float));
        lse[bh * t + i0 + i] = top + logf(total);
      }
      product(z.s, t, 1, z.v, d, z.o, d, BLOCK, d, keys, 0);
      for (long i = 0; i < BLOCK; i++)
        memcpy(out + ((b * t + i0 + i) * heads + h) * d, z.o + i * d, d * sizeof(float));
    }
  }
  free(z.all);
}

/* One block of queries: probabilities again from lse, then dq, and its part of dk and dv. */
static void backward_block(Scratch *z, const float *lse, const float *delta, long prompt, long i0,
                           long t, long d) {
  long keys = keys_of_block(i0, prompt);
  product(z->q + i0 * d, d, 1, z->kt, t, z->s, t, BLOCK, keys, d, 0);
  product(z->d_out + i0 * d, d, 1, z->vt, t, z->ds, t, BLOCK, keys, d, 0);
  for (long i = 0; i < BLOCK; i++) {
    float *s = z->s + i * t, *ds = z->ds + i * t, base = lse[i0 + i], centre = delta[i];
    long n = keys_of_query(i0 + i, prompt);
    for (long j = 0; j < n; j++) {
      s[j] = expf(s[j] - base);
      ds[j] = s[j] * (ds[j] - centre);
    }
    memset(s + n, 0, (keys - n) * sizeof(float));
    memset(ds + n, 0, (keys - n) * sizeof(float));
  }
  product(z->ds, t, 1, z->k, d, z->dq + i0 * d, d, BLOCK, d, keys, 0);
  product(z->ds, 1, t, z->q + i0 * d, d, z->dk, d, keys, d, BLOCK, 1);
  product(z->s, 1, t, z->d_out + i0 * d, d, z->dv, d, keys, d, BLOCK, 1);
}

void attention_backward(const float *qkv, const float *turn, const int64_t *prompts,
                        const float *out, const float *lse, const float *d_out, float *d_qkv,
                        long batch, long t, long heads, long d) {
  long width = heads * d;
  float scale = 1.f / sqrtf((float)d), delta[BLOCK];
  Scratch z = scratch_make(t, d);
  for (long bh = 0; bh < batch * heads; bh++) {
    long b = bh / heads, h = bh % heads;
    load_head(&z, qkv + b * t * 3 * width, turn, t, heads, h, d, scale);
    for (long i = 0; i < t; i++)
      memcpy(z.d_out + i * d, d_out + (b * t + i) * width + h * d, d * sizeof(float));
    transpose(z.v, z.vt, t, d);
    memset(z.dk, 0, t * d * sizeof(float));
    memset(z.dv, 0, t * d * sizeof(float));
    for (long i0 = 0; i0 < t; i0 += BLOCK) {
      for (long i = 0; i < BLOCK; i++) {
        const float *o = out + (b * t + i0 + i) * width + h * d, *g = z.d_out + (i0 + i) * d;
        float sum = 0;
        for (long j = 0; j < d; j++) sum += o[j] * g[j];
        delta[i] = sum;
      }
      backward_block(&z, lse + bh * t, delta, prompts[b], i0, t, d);
    }
    for (long i = 0; i < t; i++) {
      float *row = d_qkv + (b * t + i) * 3 * width + h * d;
      rotate_back(z.dq + i * d, row, turn + i * d, d, scale);
      rotate_back(z.dk + i * d, row + width, turn + i * d, d, 1.f);
      memcpy(row + 2 * width, z.dv + i * d, d * sizeof(float));
    }
  }
  free(z.all);
}
