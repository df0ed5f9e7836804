/**
 * Requests to configured search services only. Every address, redirects included, must be one of
 * the configured hosts, and its host must not resolve into a private network unless that is
 * allowed. Time and size are limited.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { SearchError, searchFailure } from "./provider.ts";

export interface FetchLimits {
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
  readonly redirectsMax: number;
}

export const FETCH_LIMITS: FetchLimits = {
  timeoutMs: 10_000,
  answerBytesMax: 2_097_152,
  redirectsMax: 3,
};

export interface FetchRules {
  /** `host` or `host:port`, as in a URL. */
  readonly hosts: readonly string[];
  readonly allowPrivate: boolean;
  readonly limits: FetchLimits;
  /** Resolves a host name to addresses; the platform's outside tests. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Sends one request; the platform's outside tests. */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>;
}

/** @throws SearchError */
export async function fetchJson(
  url: URL,
  init: RequestInit,
  rules: FetchRules,
  signal: AbortSignal,
): Promise<JsonValue> {
  const timeout = AbortSignal.timeout(rules.limits.timeoutMs);
  try {
    const both = AbortSignal.any([signal, timeout]);
    const response = await follow(url, init, rules, both);
    return parse(await readLimited(response, rules.limits.answerBytesMax));
  } catch (error) {
    if (error instanceof SearchError) throw error;
    if (timeout.aborted) {
      const message = `${url.host} gave no answer in ${rules.limits.timeoutMs} ms`;
      throw searchFailure("search_timeout", message, error);
    }
    throw searchFailure("search_failed", `${url.host} could not be asked`, error);
  }
}

async function follow(
  start: URL,
  init: RequestInit,
  rules: FetchRules,
  signal: AbortSignal,
): Promise<Response> {
  let url = start;
  for (let redirects = 0; redirects <= rules.limits.redirectsMax; redirects += 1) {
    await assertAllowed(url, rules);
    const response = await (rules.fetch ?? fetch)(url, { ...init, signal, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) {
      if (response.ok) return response;
      throw new SearchError("search_failed", `${url.host} answered ${response.status}`);
    }
    await response.body?.cancel();
    const next = new URL(location, url);
    if (url.protocol === "https:" && next.protocol !== "https:")
      throw new SearchError("search_address_refused", `${url.host} redirects out of HTTPS`);
    url = next;
  }
  throw new SearchError("search_failed", `${start.host} redirects without end`);
}

async function assertAllowed(url: URL, rules: FetchRules): Promise<void> {
  const refuse = (why: string): never => {
    throw new SearchError("search_address_refused", `${url.host} ${why}`);
  };
  if (url.protocol !== "https:" && url.protocol !== "http:") refuse("is not asked over HTTP");
  if (url.username !== "" || url.password !== "") refuse("carries credentials in its address");
  if (!rules.hosts.includes(url.host)) refuse("is not a configured search host");
  if (rules.allowPrivate) return;
  if (url.protocol !== "https:") refuse("is public and must be asked over HTTPS");
  const addresses = await (rules.resolve ?? resolveHost)(url.hostname.replace(/^\[|\]$/g, ""));
  if (addresses.length === 0 || addresses.some(isPrivate))
    refuse("resolves into a private network; allow it if that is meant");
}

async function resolveHost(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function isPrivate(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  return family === 4 ? PRIVATE4.check(address, "ipv4") : PRIVATE6.check(address, "ipv6");
}

/** RFC 6890 and its successors: what is not reachable from the public internet. */
const PRIVATE4 = blockList(
  "ipv4",
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 " +
    "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 " +
    "224.0.0.0/3",
);

/**
 * All that holds an IPv4 address too (mapped, compatible, NAT64, Teredo, 6to4). Public services
 * have addresses of their own in 2000::/3; everything outside it is refused. A list of its own:
 * the platform holds IPv4 addresses against mapped IPv6 networks.
 */
const PRIVATE6 = blockList("ipv6", "::/3 2001::/23 2001:db8::/32 2002::/16 4000::/2 8000::/1");

function blockList(family: "ipv4" | "ipv6", networks: string): BlockList {
  const list = new BlockList();
  for (const network of networks.split(" ")) {
    const [address = "", bits = ""] = network.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

async function readLimited(response: Response, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      const message = `the search service's answer is longer than ${bytesMax} bytes`;
      throw new SearchError("search_answer_too_large", message);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    const message = "the search service's answer is not JSON";
    throw searchFailure("search_answer_invalid", message, cause);
  }
}
