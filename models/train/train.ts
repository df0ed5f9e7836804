/**
 * Trains svc-tiny: `bun models/train/train.ts [--out FOLDER] [--from MODEL.gguf] [--steps N] ...`.
 * Without `--from` everything is made from nothing. Kill it whenever you like: the same command goes
 * on where it was. Needs Debian's python3-torch, libopenblas0-pthread and gcc, and is faster with
 * libtcmalloc-minimal4; see README.md.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const FOLDER = import.meta.dirname;

const { values: options } = parseArgs({
  options: {
    /** Checkpoints, shards and the finished model. */
    out: { type: "string", default: ".cache/svc-tiny" },
    from: { type: "string", default: "" },
    shape: { type: "string", default: "21312,224,6,4,576" },
    steps: { type: "string", default: "12000" },
    /** Positions per step. */
    batch: { type: "string", default: "8192" },
    rate: { type: "string", default: "3e-3" },
    /** The hour at which to end if the steps do not: 08:35. Where the clock ends a run, it is not reproducible. */
    until: { type: "string", default: "" },
    /** Share of the run in which the rate falls to nothing. */
    decay: { type: "string", default: "0.5" },
    workers: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    python: { type: "string", default: "/usr/bin/python3" },
  },
});

const out = resolve(options.out);
mkdirSync(join(out, "run"), { recursive: true });
const generator = (name: string) => join(FOLDER, "generator", name);

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd: join(FOLDER, "trainer"),
    stdio: ["ignore", "inherit", "inherit"],
    // One thread per worker: matrices this small gain nothing from more.
    env: {
      ...blasKernels(),
      ...allocator(),
      ...process.env,
      OMP_NUM_THREADS: "1",
      OPENBLAS_NUM_THREADS: "1",
    },
  });
  const code = await child.exited;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
}

/** Seconds since 1970 of the next time that the clock shows `HH:MM`. */
function nextTime(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  const time = new Date();
  if (time.setHours(hours, minutes, 0, 0) < Date.now()) time.setDate(time.getDate() + 1);
  return time.getTime() / 1000;
}

/** OpenBLAS knows no CPU younger than itself and gives it the kernels of AVX2: half as fast. */
function blasKernels(): Record<string, string> {
  const features = existsSync("/proc/cpuinfo") ? readFileSync("/proc/cpuinfo", "utf8") : "";
  const hasAvx512 = ["f", "dq", "bw", "vl", "cd"].every((part) =>
    features.includes(`avx512${part}`),
  );
  return hasAvx512 ? { OPENBLAS_CORETYPE: "SkylakeX" } : {};
}

/** glibc's spends a tenth of a step looking for a place for its tensors. */
function allocator(): Record<string, string> {
  const tcmalloc = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4";
  return existsSync(tcmalloc) ? { LD_PRELOAD: tcmalloc } : {};
}

await run(["bun", generator("check-data.ts")]);
const start = join(out, "start.f32");
if (options.from !== "" && !existsSync(start)) {
  const [rows = ""] = options.shape.split(",");
  await run(["bun", generator("import.ts"), resolve(options.from), start, rows]);
}
const vocabulary = join(out, "vocabulary.bin");
await run(["bun", generator("vocabulary.ts"), vocabulary]);
await run([
  ...[options.python, "train.py"],
  ...["--run", join(out, "run"), "--shards", join(out, "shards")],
  ...["--generator", `bun ${generator("shards.ts")}`],
  ...["--vocabulary", vocabulary, "--shape", options.shape],
  ...["--steps", options.steps, "--batch", options.batch],
  ...["--rate", options.rate, "--decay", options.decay, "--workers", options.workers],
  ...(options.until === "" ? [] : ["--until", String(nextTime(options.until))]),
  ...["--seed", options.seed, ...(options.from === "" ? [] : ["--start", start])],
]);
const model = join(out, "svc-tiny.gguf");
await run(["bun", generator("export.ts"), join(out, "run/weights.f32"), model, options.shape]);
process.stdout.write(`${model}\n`);
