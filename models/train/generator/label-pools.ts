/** Labels that cases have, by what is asked. */
import type { CaseData } from "./case-data.ts";

/** By a property's name all labels that texts have been asked for under it. */
export type LabelPools = ReadonlyMap<string, readonly string[]>;

/** Fewer labels than this a set, and they are steps of a scale, of which two may fit. */
const LABELS_PER_SET = 0.75;
const POOL_MIN = 12;

export function labelPools(cases: readonly CaseData[]): LabelPools {
  const found = new Map<string, { sets: number; labels: Set<string> }>();
  for (const { labels, names } of cases.flatMap(({ judgements }) => judgements)) {
    if (labels === null) continue;
    for (const name of names) {
      const pool = found.get(name) ?? { sets: 0, labels: new Set() };
      pool.sets += 1;
      for (const label of labels) pool.labels.add(label);
      found.set(name, pool);
    }
  }
  return new Map(
    [...found].flatMap(([name, { sets, labels }]) => {
      const isVaried = labels.size >= POOL_MIN && labels.size >= LABELS_PER_SET * sets;
      return isVaried ? [[name, [...labels]] as const] : [];
    }),
  );
}
