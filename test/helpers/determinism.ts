/**
 * Promise 2 put to the proof through the API: the same requests alone, in crowds of several sizes
 * with clients that leave, after a restart, and with nothing of theirs in the prefix cache.
 */
import type { TestGateway } from "../../src/testing.ts";
import { STRICT_SCHEMAS } from "./strict-schemas.ts";

/** The body of a chat request. */
export type Asked = Readonly<Record<string, unknown>>;

export interface Proof {
  readonly fingerprint: string;
  readonly rowClass: readonly number[];
  readonly deterministic: boolean;
  /** What each request was answered when it was alone: choices and counts, as JSON. */
  readonly answers: readonly string[];
  /** Answers that were compared with those. */
  readonly compared: number;
  readonly left: number;
  readonly differences: readonly {
    readonly way: string;
    readonly asked: Asked;
    readonly was: string;
    readonly is: string;
  }[];
}

const SCHEMAS = Object.values(STRICT_SCHEMAS);
const WORDS = "Invoice A-77 from Larsen over 120.50 EUR paid on Monday by wire".split(" ");
const TOOLS = ["find_invoice", "send_reminder"].map((name) => ({
  type: "function",
  function: {
    name,
    strict: true,
    parameters: {
      type: "object",
      properties: { number: { type: "string", maxLength: 12 }, urgent: { type: "boolean" } },
      required: ["number", "urgent"],
      additionalProperties: false,
    },
  },
}));

/**
 * Strict, any object, text and tools in turn, all different; most prompts begin like others do.
 * Every eighth is followed by one that is drawn with a seed.
 * @param count of requests at temperature 0.
 */
export function proofRequests(count: number, wordsMax: number): Asked[] {
  const asked: Asked[] = [];
  for (let index = 0; index < count; index++) {
    const length = (index * 37) % wordsMax;
    const shared = Array.from({ length }, (_, at) => WORDS[(at * at + 3) % WORDS.length]);
    const content = `${shared.join(" ")} number ${index}`;
    const body = {
      model: "svc-tier-b",
      temperature: 0,
      messages: [{ role: "user", content }],
      ...kindOf(index),
    };
    asked.push(body);
    if (index % 8 !== 0) continue;
    const topP = index % 16 === 0 ? { top_p: 0.9 } : {};
    asked.push({ ...body, temperature: 0.8, seed: index, ...topP });
  }
  return asked;
}

function kindOf(index: number): Asked {
  const turn = Math.floor(index / 4);
  // Long ones among the short.
  const max_tokens = index % 11 === 0 ? 160 : 12 + (index % 30);
  switch (index % 4) {
    case 0: {
      const schema = SCHEMAS[turn % SCHEMAS.length];
      const json_schema = { name: "answer", strict: true, schema };
      return { max_tokens: 220, response_format: { type: "json_schema", json_schema } };
    }
    case 1:
      return { max_tokens: max_tokens + 20, response_format: { type: "json_object" } };
    case 2:
      return { max_tokens };
    default: {
      const tool_choice = turn % 2 === 0 ? "required" : "auto";
      return { max_tokens: max_tokens + 60, tools: TOOLS, tool_choice };
    }
  }
}

/** @param open starts a gateway over the same data directory each time; one at a time. */
export async function prove(
  open: () => Promise<TestGateway>,
  asked: readonly Asked[],
  say: (message: string) => void = () => {},
): Promise<Proof> {
  const differences: Proof["differences"][number][] = [];
  let compared = 0;
  let left = 0;
  let answers: readonly string[] = [];
  const compare = (way: string, texts: readonly string[]): void => {
    const before = differences.length;
    for (const [index, is] of texts.entries()) {
      compared += 1;
      const was = answers[index] ?? "";
      if (is !== was) differences.push({ way, asked: asked[index] ?? {}, was, is });
    }
    say(`${way}: ${differences.length - before} of ${texts.length} differ`);
  };
  const leave = (): void => {
    left += 1;
  };
  const first = await open();
  const tier = first.gateway.engine.tiers.get("svc-tier-b");
  answers = await crowd(first, asked, 1, null);
  say("alone");
  compare("among 8 clients, some leaving", await crowd(first, asked, 8, leave));
  await first.close();
  const second = await open();
  compare("after a restart, among 3 clients, some leaving", await crowd(second, asked, 3, leave));
  const stranger = second.gateway.tenants.createKey({ tenantName: "other" });
  const other = { ...second, apiKey: stranger.apiKey };
  compare("for another tenant, among 5 clients", await crowd(other, asked, 5, null));
  await second.close();
  return {
    fingerprint: tier?.fingerprint ?? "",
    rowClass: tier?.rowClass ?? [],
    deterministic: tier?.deterministic ?? false,
    ...{ answers, compared, left, differences },
  };
}

/**
 * Clients that ask one after another; more than one take the requests in another order.
 * @param onLeft called for each request that was sent once more and left in the middle, about every
 *   third; null: none.
 */
async function crowd(
  gateway: Pick<TestGateway, "fetch" | "apiKey">,
  asked: readonly Asked[],
  clients: number,
  onLeft: (() => void) | null,
): Promise<string[]> {
  const texts = new Array<string>(asked.length).fill("");
  const order = [...asked.keys()];
  const mixed = (index: number) => Number(Bun.hash(`${clients} ${index}`) % 1_000_003n);
  if (clients > 1) order.sort((a, b) => mixed(a) - mixed(b));
  order.reverse();
  const client = async (): Promise<void> => {
    for (let next = order.pop(); next !== undefined; next = order.pop()) {
      const body = asked[next] ?? {};
      const stop = new AbortController();
      const leaves = onLeft !== null && mixed(next) % 3 === 0;
      const leaving = leaves ? send(gateway, body, stop.signal) : null;
      const kept = answer(gateway, body);
      setTimeout(() => stop.abort(), mixed(next) % 25);
      const ended = await leaving?.catch(() => null);
      if (leaves && (ended === null || ended?.status === 499)) onLeft();
      texts[next] = await kept;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return texts;
}

async function answer(
  gateway: Pick<TestGateway, "fetch" | "apiKey">,
  body: Asked,
): Promise<string> {
  const response = await send(gateway, body, null);
  const { choices, usage, error } = (await response.json()) as {
    readonly choices?: readonly { readonly message: object; readonly finish_reason: string }[];
    readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
    readonly error?: unknown;
  };
  if (response.status !== 200)
    throw new Error(`${JSON.stringify(error)} to ${JSON.stringify(body)}`);
  // A tool call's id is its request's.
  const text = JSON.stringify(choices).replaceAll(/"id":"call_[^"]*"/g, '"id":""');
  return `${text} ${usage?.prompt_tokens} ${usage?.completion_tokens}`;
}

async function send(
  { apiKey, fetch }: Pick<TestGateway, "fetch" | "apiKey">,
  body: Asked,
  signal: AbortSignal | null,
): Promise<Response> {
  return await fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === null ? {} : { signal }),
  });
}
