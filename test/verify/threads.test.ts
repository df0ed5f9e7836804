/**
 * A chain of several files, checked ahead on threads of their own: the report is the one of a single
 * thread, and names the first thing that is wrong.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Finding } from "../../src/verify/finding.ts";
import { RowThreads } from "../../src/verify/row-threads.ts";
import { inPieces, verifyArchive } from "../trust-export.ts";
import { type Kept, keep } from "./fixture.ts";
import { edited, type Files, pack, textIn, unpack } from "./forge.ts";

// Threads start: seconds on a busy machine.
setDefaultTimeout(30_000);

const [FIRST, SECOND, THIRD] = [1, 2001, 4001].map(
  (height) => `rows/billing/${String(height).padStart(10, "0")}.txt`,
) as [string, string, string];

const rowCheckers = new RowThreads(2);
let kept: Kept;
let files: Files;
beforeAll(async () => {
  kept = await keep(5, 900);
  files = await unpack(kept.archive);
});
afterAll(() => rowCheckers.close());

/** A line, from 0, replaced; null takes it out. */
function line(
  name: string,
  at: number,
  edit: (text: string) => string | null,
  from = files,
): Files {
  return edited(from, name, (text) => {
    const lines = text.split("\n");
    const changed = edit(lines[at] ?? "");
    lines.splice(at, 1, ...(changed === null ? [] : [changed]));
    return lines.join("\n");
  });
}

function without(name: string, from = files): Files {
  return new Map([...from].filter(([each]) => each !== name));
}

const changeTokens = (text: string) => text.replace('"prompt_tokens":50', '"prompt_tokens":51');
const changeMac = (text: string) => `${text.slice(0, 65)}${"0".repeat(64)}${text.slice(129)}`;

const CASES: readonly (readonly [string, () => Files, Partial<Finding> | null])[] = [
  ["nothing", () => files, null],
  [
    "a row at the end of the first file and one in the second",
    () => line(SECOND, 2, changeTokens, line(FIRST, 1998, changeTokens)),
    { file: FIRST, height: 1999, field: "row_hash" },
  ],
  [
    "the last row of the first file, which the second builds on",
    () => line(FIRST, 1999, (text) => text.replace('"seq":2000', '"seq":2001')),
    { file: FIRST, height: 2000, field: "row_hash" },
  ],
  [
    "the last MAC of the first file",
    () => line(FIRST, 1999, changeMac),
    { file: FIRST, height: 2000, field: "row_mac" },
  ],
  [
    "the last row of the first file, gone",
    () => line(FIRST, 1999, () => null),
    { file: SECOND, field: "name", expected: "rows/billing/0000002000.txt" },
  ],
  [
    "the form of the first file's end, with the second file gone",
    () =>
      without(
        SECOND,
        line(FIRST, 1999, () => "no row"),
      ),
    { file: FIRST, height: 2000, field: "row_hash" },
  ],
  [
    "the second file, gone",
    () => without(SECOND),
    { file: THIRD, field: "name", expected: SECOND },
  ],
  ["the last file, gone", () => without(THIRD), { file: "heads/billing.jsonl", field: "height" }],
  [
    "two rows at the joint, in the other order",
    () => line(SECOND, 0, () => textIn(files, SECOND).split("\n")[1] ?? ""),
    { file: SECOND, height: 2001, field: "seq" },
  ],
];

test.each(CASES)("changed: %s", async (_name, attack, finding) => {
  const archive = pack(attack());
  const options = { hmacSecrets: [kept.hmacSecret], responses: kept.responses };
  const alone = await verifyArchive(inPieces(archive), options);
  if (finding === null) expect(alone.finding).toBeNull();
  else expect(alone.finding).toMatchObject(finding);
  expect(await verifyArchive(inPieces(archive), { ...options, rowCheckers })).toEqual(alone);
});

test("an archive that ends in the middle of a file is wrong there, unless something before it is", async () => {
  const damaged = pack(line(FIRST, 5, changeTokens));
  for (const [archive, finding] of [
    [pack(files), { field: "size", file: SECOND }],
    [damaged, { field: "row_hash", file: FIRST, height: 6 }],
  ] as const) {
    const end = Buffer.from(archive).indexOf(SECOND) + 5000;
    const report = await verifyArchive(inPieces(archive.subarray(0, end)), { rowCheckers });
    expect(report.finding).toMatchObject(finding);
  }
});
