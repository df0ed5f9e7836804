#!/usr/bin/env bun
import { processIo } from "./cli/process-io.ts";
/** The program `svc`: everything it does is in `cli`. */
import { runCli } from "./cli/program.ts";

process.exitCode = await runCli(process.argv.slice(2), processIo());
