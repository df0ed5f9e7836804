/**
 * Changes without any intention behind them: flipped bits, cut-off and added bytes. Each is found
 * and leads to the file it is in. `SLOW=1`: 1,000 rows and 6,000 positions.
 */
import { beforeAll, expect, test } from "bun:test";
import type { Report } from "../../src/verify/verify.ts";
import { inPieces, verifyArchive } from "../trust-export.ts";
import { type Kept, keep } from "./fixture.ts";
import { unpack } from "./forge.ts";

const isSlow = process.env["SLOW"] === "1";
const POSITIONS = isSlow ? 6000 : 240;
const BLOCK = 512;

let kept: Kept;
let regions: readonly Region[];

/** A part of the archive, and the file that damage in it should lead to. */
interface Region {
  readonly name: string;
  readonly kind: "header" | "content" | "padding" | "end";
  readonly from: number;
  readonly to: number;
}

beforeAll(async () => {
  kept = await keep(5, isSlow ? 200 : 2);
  regions = regionsOf(
    [...(await unpack(kept.archive))].map(([name, bytes]) => [name, bytes.byteLength]),
  );
});

function regionsOf(files: readonly (readonly [string, number])[]): Region[] {
  const found: Region[] = [];
  let at = 0;
  const add = (name: string, kind: Region["kind"], size: number): void => {
    if (size > 0) found.push({ name, kind, from: at, to: at + size });
    at += size;
  };
  for (const [name, size] of files) {
    add(name, "header", BLOCK);
    add(name, "content", size);
    add(name, "padding", (BLOCK - (size % BLOCK)) % BLOCK);
  }
  add("", "end", 2 * BLOCK);
  return found;
}

/** Small regions get as many positions as large ones, and every region gets some. */
function* positions(count: number): Generator<{ region: Region; at: number; bit: number }> {
  let seed = 20_261_120;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let index = 0; index < count; index++) {
    const region = regions[index % regions.length];
    if (region === undefined) throw new Error("the archive has no regions");
    const at = region.from + random(region.to - region.from);
    yield { region, at, bit: random(8) };
  }
}

const verify = (archive: Uint8Array): Promise<Report> =>
  verifyArchive(inPieces(archive), {
    hmacSecrets: [kept.hmacSecret],
    heldHeads: kept.heldHeads,
  });

/** Whether a report leads to the file that was damaged. */
function leadsTo({ finding, damagedFiles }: Report, region: Region): boolean {
  if (finding === null) return false;
  if (region.kind === "header" || region.kind === "end") return finding.file.startsWith("archive");
  // Of a manifest and its signature, no one can say which was changed.
  const isSignature = region.name === "manifest.note" && finding.file === "manifest.json";
  return isSignature || finding.file === region.name || damagedFiles.includes(region.name);
}

test(
  "every flipped bit is found, and the report leads to the file it is in",
  async () => {
    const missed: string[] = [];
    for (const { region, at, bit } of positions(POSITIONS)) {
      const damaged = kept.archive.slice();
      damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
      const report = await verify(damaged);
      if (!leadsTo(report, region)) {
        const where = JSON.stringify({ ...region, at, bit });
        missed.push(`${where}: ${JSON.stringify(report.finding)}`);
      }
    }
    expect(missed).toEqual([]);
  },
  isSlow ? 900_000 : 60_000,
);

test("an archive that was cut off anywhere is found", async () => {
  const { archive } = kept;
  const step = Math.ceil(archive.byteLength / 40);
  for (let length = 0; length < archive.byteLength; length += step) {
    expect((await verify(archive.slice(0, length))).ok).toBe(false);
  }
  expect((await verify(archive.slice(0, -1))).ok).toBe(false);
});

test("bytes after the end, and a second archive after the first, are found", async () => {
  for (const tail of [new Uint8Array(1), new Uint8Array(BLOCK), kept.archive]) {
    const report = await verify(new Uint8Array(Buffer.concat([kept.archive, tail])));
    expect(report.finding).toMatchObject({ field: "end" });
  }
});

test("the archive verifies whatever the sizes of the pieces it comes in", async () => {
  for (const size of [1, 511, 512, 513, 100_000]) {
    expect((await verifyArchive(inPieces(kept.archive, size))).finding).toBeNull();
  }
});

test("what is no export at all is a finding, not an exception", async () => {
  for (const junk of ["", "not an archive", "\0".repeat(1024), "\xff".repeat(4096)]) {
    const report = await verifyArchive(inPieces(new Uint8Array(Buffer.from(junk, "latin1"))));
    expect(report.ok).toBe(false);
  }
});
