/** The compiler uses Node's Buffer for bytes; a browser gets the bundler's stand-in. */
import { Buffer } from "node:buffer";

globalThis.Buffer ??= Buffer;
