/** The prompt format of svc-tiny, in Jinja for the GGUF and in code for training. */

import { printSketch } from "../../../src/runtime/sketch.ts";
import type { ToolDefinition } from "./converse.ts";

/** Tools print as `name{city:string}/*what it does*​/`, one a line, in front of the system's text. */
export const CHAT_TEMPLATE = [
  "{%- macro kind(s) -%}",
  "{%- if s.enum -%}{%- for e in s.enum -%}{{ '|' if not loop.first }}{{ e | tojson }}{%- endfor -%}",
  "{%- elif s.type is string -%}{{ s.type }}",
  "{%- elif s.type -%}{{ s.type | join('|') }}",
  "{%- else -%}any{%- endif -%}",
  "{%- endmacro -%}",
  "{%- macro tool(f) -%}",
  "{{ f.name }}{ {%- if f.parameters.properties -%}{%- for k, v in f.parameters.properties.items() -%}",
  "{{ ',' if not loop.first }}{{ k }}:{{ kind(v) }}{%- endfor -%}{%- endif -%} }",
  "{%- if f.description -%}/*{{ f.description }}*/{%- endif -%}",
  "{%- endmacro -%}",
  "{%- set first = messages[0] -%}",
  "{%- if tools -%}<|system|>{%- for t in tools -%}{{ tool(t.function) }}{{ '\\n' if not loop.last }}",
  "{%- endfor -%}{%- if first.role == 'system' -%}{{ '\\n' + first.content }}{%- endif -%}<|end|>",
  "{%- endif -%}",
  "{%- for m in messages -%}{%- if not (tools and loop.first and m.role == 'system') -%}",
  "<|{{ m.role }}|>{{ m.content }}<|end|>{%- endif -%}{%- endfor -%}",
  "{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}",
].join("");

/** What stands in the system's turn; empty leaves the turn out. */
export function systemText(system: string, tools: readonly ToolDefinition[]): string {
  const lines = tools.map(({ name, description, parameters }) => {
    const note = description === "" ? "" : `/*${description}*/`;
    return `${name}${printSketch(parameters)}${note}`;
  });
  return [...lines, ...(system === "" ? [] : [system])].join("\n");
}
