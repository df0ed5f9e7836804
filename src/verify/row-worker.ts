/** A thread that checks files of rows, in the order in which they come: see `row-threads.ts`. */
import { parentPort } from "node:worker_threads";
import { NATIVE } from "./native-hashing.ts";
import { checkRowFile, type RowFile, type RowFileContext } from "./row-file.ts";

export interface RowJob {
  readonly context: Omit<RowFileContext, "hashing">;
  readonly file: RowFile;
}

parentPort?.on("message", ({ context, file }: RowJob) => {
  parentPort?.postMessage(checkRowFile({ ...context, hashing: NATIVE }, file));
});
