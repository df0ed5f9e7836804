/**
 * A schema document: which resources (`$id`) and anchors it holds, and what a `$ref` leads to.
 * Nothing is ever fetched: a reference to another document is an error.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { type Dialect, dialectOf, idKeywords, refHidesSiblings } from "./dialect.ts";
import { pointerTo, SchemaError } from "./schema-error.ts";

export type JsonObject = { readonly [key: string]: JsonValue };

/** A place in the document and how to read it. */
export interface Location {
  readonly json: JsonValue;
  readonly pointer: string;
  readonly resource: Resource;
}

/** A schema with its own URI, or the document's root. */
export interface Resource {
  readonly uri: string;
  readonly root: JsonValue;
  readonly pointer: string;
  readonly dialect: Dialect;
}

const ROOT_URI = "json-schema:///";

/** Keywords whose value is one schema, a list of schemas, or an object of schemas. */
const ONE = ["additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if"];
const MORE_ONE = [
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const SINGLE = [...ONE, ...MORE_ONE];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const MAPS = [
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
];

interface Registry {
  readonly resources: Map<string, Resource>;
  readonly anchors: Map<string, Location>;
  /** How many anchors a dynamic reference could lead to, by name. */
  readonly dynamic: Map<string, number>;
}

export class SchemaDocument {
  readonly root: Location;
  #registered: Registry | null = null;

  constructor(json: JsonValue) {
    const dialect = dialectOf(isObject(json) ? json["$schema"] : undefined);
    const outside: Resource = { uri: ROOT_URI, root: json, pointer: "", dialect };
    this.root = { json, pointer: "", resource: this.enter(json, "", outside) };
  }

  /**
   * The resource that a schema object belongs to: its own if it names itself, else its parent's.
   */
  enter(json: JsonValue, pointer: string, parent: Resource): Resource {
    if (!isObject(json)) return parent;
    const own = json["$schema"];
    const dialect = own === undefined ? parent.dialect : dialectOf(own);
    const isHidden = typeof json["$ref"] === "string" && refHidesSiblings(dialect);
    for (const keyword of isHidden ? [] : idKeywords(dialect)) {
      const id = json[keyword];
      if (typeof id !== "string" || id.startsWith("#")) continue;
      const uri = resolveUri(id, parent.uri);
      if (uri !== null) return { uri: withoutFragment(uri), root: json, pointer, dialect };
    }
    if (dialect !== parent.dialect) return { ...parent, dialect };
    return parent;
  }

  /** @throws SchemaError unresolved_reference */
  resolve(ref: string, from: Location, keyword: string): Location {
    const found = this.#find(ref, from.resource);
    if (found) return found;
    throw new SchemaError(
      `"${ref}" leads to nothing in this document, and nothing is fetched: ` +
        "put the schema it means under $defs and point to it with #/$defs/NAME",
      { code: "unresolved_reference", pointer: pointerTo(from.pointer, keyword), keyword },
    );
  }

  /**
   * A dynamic reference leads to wherever the outermost of several anchors stands, which depends on
   * the way that a value was reached: only where there is one is the way known.
   * @throws SchemaError unsupported_keyword
   */
  checkDynamic(ref: string, from: Location, keyword: string): void {
    const name = keyword === "$recursiveRef" ? "" : ref.slice(ref.indexOf("#") + 1);
    const anchors = this.#registry().dynamic.get(name) ?? 0;
    if (anchors < 2) return;
    throw new SchemaError(
      `"${keyword}" with ${anchors} anchors that it could mean: point to one of them with "$ref"`,
      { code: "unsupported_keyword", pointer: pointerTo(from.pointer, keyword), keyword },
    );
  }

  #find(ref: string, resource: Resource): Location | null {
    const hash = ref.indexOf("#");
    const fragment = hash < 0 ? "" : decodeFragment(ref.slice(hash + 1));
    if (fragment === null) return null;
    const target = hash === 0 ? resource : this.#resourceOf(ref, resource);
    if (target === null) return null;
    if (fragment !== "" && !fragment.startsWith("/")) {
      return this.#registry().anchors.get(`${target.uri}#${fragment}`) ?? null;
    }
    const found = this.#walk(target, fragment);
    if (found || target.root === this.root.json) return found;
    // Generators put an "id" on every subschema and still point from the document's root.
    return hash === 0
      ? this.#walk({ ...this.root.resource, root: this.root.json, pointer: "" }, fragment)
      : null;
  }

  #resourceOf(ref: string, from: Resource): Resource | null {
    const uri = resolveUri(ref, from.uri);
    if (uri === null) return null;
    const wanted = withoutFragment(uri);
    if (wanted === this.root.resource.uri || wanted === ROOT_URI) {
      return { ...this.root.resource, root: this.root.json, pointer: "" };
    }
    return this.#registry().resources.get(wanted) ?? null;
  }

  #walk(resource: Resource, pointer: string): Location | null {
    let at: Location = { json: resource.root, pointer: resource.pointer, resource };
    for (const token of pointer.split("/").slice(1)) {
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      const json = memberOf(at.json, key);
      if (json === undefined) return null;
      const below = pointerTo(at.pointer, key);
      at = { json, pointer: below, resource: this.enter(json, below, at.resource) };
    }
    return at;
  }

  /** Looks at every schema of the document once; most documents never need it. */
  #registry(): Registry {
    if (this.#registered) return this.#registered;
    const registry: Registry = { resources: new Map(), anchors: new Map(), dynamic: new Map() };
    this.#registered = registry;
    const queue: Location[] = [this.root];
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (!isObject(at.json)) continue;
      if (at.resource.root === at.json) registry.resources.set(at.resource.uri, at.resource);
      for (const name of anchorsOf(at.json)) registry.anchors.set(`${at.resource.uri}#${name}`, at);
      for (const name of dynamicAnchorsOf(at.json)) {
        registry.dynamic.set(name, 1 + (registry.dynamic.get(name) ?? 0));
      }
      for (const [tokens, json] of subschemas(at.json)) {
        const pointer = pointerTo(at.pointer, ...tokens);
        queue.push({ json, pointer, resource: this.enter(json, pointer, at.resource) });
      }
    }
    return registry;
  }
}

/** Names of anchors for `$dynamicRef`; the empty one for `$recursiveRef`. */
function dynamicAnchorsOf(json: JsonObject): string[] {
  const name = json["$dynamicAnchor"];
  const names = typeof name === "string" ? [name] : [];
  return json["$recursiveAnchor"] === true ? [...names, ""] : names;
}

function anchorsOf(json: JsonObject): string[] {
  const names = [json["$anchor"], json["$dynamicAnchor"]].filter(
    (name) => typeof name === "string",
  );
  for (const id of [json["$id"], json["id"]]) {
    if (typeof id === "string" && id.startsWith("#") && id.length > 1) names.push(id.slice(1));
  }
  return names;
}

function* subschemas(json: JsonObject): Generator<readonly [readonly string[], JsonValue]> {
  for (const keyword of SINGLE) {
    const value = json[keyword];
    if (isObject(value)) yield [[keyword], value];
  }
  for (const keyword of LISTS) {
    const value = json[keyword];
    if (!Array.isArray(value)) continue;
    for (const [index, item] of value.entries()) yield [[keyword, String(index)], item];
  }
  for (const keyword of MAPS) {
    const value = json[keyword];
    if (!isObject(value)) continue;
    for (const [key, item] of Object.entries(value)) yield [[keyword, key], item];
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function memberOf(json: JsonValue, key: string): JsonValue | undefined {
  if (Array.isArray(json)) return /^(0|[1-9]\d*)$/.test(key) ? json[Number(key)] : undefined;
  return isObject(json) && Object.hasOwn(json, key) ? json[key] : undefined;
}

function resolveUri(reference: string, base: string): string | null {
  return URL.parse(reference, base)?.href ?? null;
}

function withoutFragment(uri: string): string {
  const hash = uri.indexOf("#");
  return hash < 0 ? uri : uri.slice(0, hash);
}

function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}
