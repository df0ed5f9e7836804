/**
 * The official JSON-Schema-Test-Suite (https://github.com/json-schema-org/JSON-Schema-Test-Suite):
 * every case's instance, byte by byte through the lock of its schema.
 *
 *   bun test/bench/official-suite.ts --suite DIR [--record]
 *
 * Per draft: cases that pass, refused schemas, invalid instances accepted (must be 0), valid ones
 * refused. What does not pass is compared with the recorded list: a case that is not on it is a
 * regression, and exits with 1. The last line is JSON.
 */
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { compileSchema } from "../../src/grammar/compile.ts";
import { JsonMachine } from "../../src/mask/json-machine.ts";

const { values: args } = parseArgs({
  options: { suite: { type: "string" }, record: { type: "boolean", default: false } },
});
if (!args.suite) {
  process.stderr.write("usage: official-suite.ts --suite DIR\n");
  process.exit(2);
}

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const URIS: Readonly<Record<string, string>> = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft6: "http://json-schema.org/draft-06/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
};

const failures: string[] = [];
const drafts: Record<
  string,
  { cases: number; passing: number; refused: number; accepted: number; narrower: number }
> = {};

for (const [draft, uri] of Object.entries(URIS)) {
  const counts = { cases: 0, passing: 0, refused: 0, accepted: 0, narrower: 0 };
  drafts[draft] = counts;
  for (const file of [...new Glob("*.json").scanSync(`${args.suite}/${draft}`)].sort()) {
    const groups = (await Bun.file(`${args.suite}/${draft}/${file}`).json()) as Group[];
    for (const group of groups) runGroup(group, uri, `${draft}/${file}`, counts);
  }
}
const RECORD = new URL("../vectors/official-suite.txt", import.meta.url).pathname;
failures.sort();
if (args.record) await Bun.write(RECORD, `${failures.join("\n")}\n`);
const recorded = new Set((await Bun.file(RECORD).text()).split("\n"));
const worse = failures.filter((failure) => !recorded.has(failure));
for (const failure of worse) process.stderr.write(`not recorded: ${failure}\n`);
process.stdout.write(`${JSON.stringify(drafts)}\n`);
process.exit(worse.length > 0 ? 1 : 0);

function runGroup(
  { description, schema, tests }: Group,
  uri: string,
  file: string,
  counts: (typeof drafts)[string],
): void {
  const stated =
    typeof schema === "object" && schema !== null && !("$schema" in schema)
      ? { $schema: uri, ...schema }
      : schema;
  counts.cases += tests.length;
  let machine: JsonMachine;
  try {
    machine = new JsonMachine(compileSchema(stated, { objects: "open", whitespace: "flexible" }));
  } catch (error) {
    const unsatisfiable = (error as { code?: string }).code === "unsatisfiable";
    // A schema that nothing satisfies is refused, and so is every instance.
    const right = unsatisfiable ? tests.filter((test) => !test.valid).length : 0;
    counts.passing += right;
    counts.refused += tests.length - right;
    if (right < tests.length)
      failures.push(`refused ${file}: ${description}: ${(error as { code?: string }).code}`);
    return;
  }
  const start = machine.save();
  for (const test of tests) {
    machine.undo(start);
    const bytes = Buffer.from(JSON.stringify(test.data));
    const accepted = bytes.every((byte) => machine.step(byte)) && machine.canEnd;
    if (accepted === test.valid) counts.passing += 1;
    else {
      counts[accepted ? "accepted" : "narrower"] += 1;
      const verdict = accepted ? "ACCEPTED" : "narrower";
      failures.push(`${verdict} ${file}: ${description}: ${test.description}`);
    }
  }
}
