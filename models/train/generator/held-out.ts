/**
 * Writes the cases that training never sees as a set for `test/bench/tiny.ts --set`, with the values they
 * were written with: `bun generator/held-out.ts SET.jsonl [SEED]`.
 */
import { answerText, printAnswer } from "./answer.ts";
import { isHeldOut, isJudged, isMarked, readCases } from "./case-data.ts";
import { drawn } from "./cases.ts";
import { readGeneratorData } from "./data-files.ts";
import { Renderer } from "./render.ts";
import { Rng } from "./rng.ts";
import { Values } from "./values.ts";

const [out, seed = "1"] = Bun.argv.slice(2);
if (out === undefined) throw new Error("usage: held-out.ts SET.jsonl [SEED]");
// With their own labels alone.
const data = { ...readGeneratorData(), labelPools: new Map() };
const rng = new Rng(Number(seed));
const lines = readCases()
  .filter(isHeldOut)
  .flatMap((one, i) => {
    const draw = (task: "extract" | "classify") => {
      const renderer = new Renderer(rng, new Values(rng, data.words), data);
      const options = { keptShare: 1, onlyJudged: task === "classify" };
      const { text, schema, value } = drawn(renderer, data, one, options);
      const expected: unknown = JSON.parse(answerText(printAnswer(value)));
      return JSON.stringify({ id: `held-out-${i}-${task}`, task, user: text, schema, expected });
    };
    return [
      ...(isMarked(one) ? [draw("extract")] : []),
      ...(isJudged(one) ? [draw("classify")] : []),
    ];
  });
await Bun.write(out, `${lines.join("\n")}\n`);
process.stdout.write(`${lines.length} inputs\n`);
