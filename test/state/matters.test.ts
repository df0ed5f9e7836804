/** Matters on a real data directory: every write goes in with its ledger row. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { svcConflictCheck } from "../../src/process/conflict/process.ts";
import { ProcessInputError } from "../../src/process/input-error.ts";
import { parseListQuery } from "../../src/state/matter-list.ts";
import { Matters, type Scope } from "../../src/state/matters.ts";
import { mergePatch } from "../../src/state/merge-patch.ts";
import { conflictRecords } from "../../src/state/parties.ts";
import { StateError } from "../../src/state/state-error.ts";
import { NO_HASH } from "../../src/state/write-plan.ts";
import { openKit } from "../trust-kit.ts";
import { callOf } from "../trust-lab.ts";

type JsonObject = { readonly [key: string]: JsonValue };

function openMatters() {
  const lab = openKit();
  const { tenantId, appId } = lab.tenants.createKey({ tenantName: "firm" });
  const matters = new Matters(lab.store);
  const scope: Scope = { tenantId, appId };
  let calls = 0;
  /** A write as the service makes it. */
  const write = async (body: JsonValue, ifMatch: string | null = null, of = scope) =>
    matters.inTurn(of, async () => {
      const plan = matters.plan(of, body, ifMatch);
      calls += 1;
      const requestId = `req-${calls}`;
      const call = callOf(of.tenantId, { appId: of.appId, requestId });
      await appendCall(lab.ledger, call, undefined, ({ ts }) => plan.apply({ ts, requestId }));
      return plan.output as unknown as {
        results: { matter_id: string; op: string; version: number; etag: string }[];
        state_head: string;
      };
    });
  return { lab, matters, scope, write };
}

const matter = (id: string, more: JsonObject = {}): JsonObject => ({
  matter_id: id,
  status: "open",
  ...more,
});

async function refusal(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
  } catch (error) {
    if (error instanceof ProcessInputError) return `${error.code} ${error.pointer}`;
    if (error instanceof StateError)
      return error.refusals.map(({ code, matterId }) => `${code} ${matterId}`).join(", ");
    throw error;
  }
  return "accepted";
}

describe("writing", () => {
  test("creates, updates, leaves alone and deletes, one version at a time", async () => {
    const { matters, scope, write } = openMatters();
    const first = await write(matter("M1", { title: "Roe" }));
    const content = sha256Hex('{"matter_id":"M1","status":"open","title":"Roe"}');
    expect(first.results).toEqual([
      {
        matter_id: "M1",
        op: "created",
        version: 1,
        etag: `v1-${content.slice(0, 16)}`,
        content_hash: content,
        prev_hash: NO_HASH,
      },
    ] as never);
    expect((await write(matter("M1", { title: "Roe" }))).results[0]).toMatchObject({
      op: "unchanged",
      version: 1,
    });
    expect((await write(matter("M1", { title: "Roe v. Wade" }))).results[0]).toMatchObject({
      op: "updated",
      version: 2,
      prev_hash: content,
    });
    expect((await write({ matter_id: "M1", deleted: true })).results[0]).toMatchObject({
      op: "deleted",
      version: 3,
    });
    expect((await write({ matter_id: "M1", deleted: true })).results[0]).toMatchObject({
      op: "unchanged",
    });
    expect(matters.get(scope, "M1")).toBeNull();
    expect((await write(matter("M1"))).results[0]).toMatchObject({ op: "created", version: 4 });
    expect(matters.history(scope, "M1").map(({ version, op }) => `${version} ${op}`)).toEqual([
      "4 created",
      "3 deleted",
      "2 updated",
      "1 created",
    ]);
    expect(matters.version(scope, "M1", 1)?.body).toEqual(matter("M1", { title: "Roe" }));
    expect(matters.version(scope, "M1", 3)?.body).toEqual({ matter_id: "M1", deleted: true });
    expect(matters.version(scope, "M1", 5)).toBeNull();
  });

  test("a batch is written whole or not at all, with one row", async () => {
    const { lab, matters, scope, write } = openMatters();
    await write({ matters: [matter("M1"), matter("M2")] });
    const before = lab.ledger.head(scope.tenantId, scope.appId);
    const batch = { matters: [matter("M3"), { ...matter("M1"), if_version: 7 }] };
    expect(await refusal(() => write(batch))).toBe("version_conflict M1");
    expect(matters.get(scope, "M3")).toBeNull();
    expect(lab.ledger.head(scope.tenantId, scope.appId)).toEqual(before);
    expect(matters.head(scope)).toMatchObject({ matters: 2, versions: 2 });
  });

  test("a row that cannot be written leaves no version behind", async () => {
    const { lab, matters, scope } = openMatters();
    const call = callOf(scope.tenantId, { appId: scope.appId, requestId: "same" });
    await appendCall(lab.ledger, call);
    const plan = matters.plan(scope, matter("M1"), null);
    const again = appendCall(lab.ledger, call, undefined, ({ ts }) =>
      plan.apply({ ts, requestId: "same" }),
    );
    await expect(again).rejects.toThrow("recorded already");
    expect(matters.get(scope, "M1")).toBeNull();
  });

  test("preconditions", async () => {
    const { write } = openMatters();
    const cases: readonly (readonly [JsonValue, string | null, string])[] = [
      [{ ...matter("M1"), if_version: 1 }, null, "version_conflict M1"],
      [{ ...matter("M1"), if_version: 0 }, null, "accepted"],
      [{ ...matter("M1"), if_version: 0 }, null, "version_conflict M1"],
      [{ ...matter("M1", { title: "x" }), if_version: 1 }, null, "accepted"],
      [matter("M1"), "v1-0000000000000000", "precondition_failed M1"],
      [matter("M1"), "*", "accepted"],
      [matter("M9"), "*", "precondition_failed M9"],
      [{ matters: [matter("M1")] }, "*", "conflicting_input /matters"],
    ];
    for (const [body, ifMatch, expected] of cases)
      expect(await refusal(() => write(body, ifMatch))).toBe(expected);
    const { results } = await write(matter("M1", { title: "y" }));
    expect(await refusal(() => write(matter("M1"), results[0]?.etag))).toBe("accepted");
  });

  test("a merge changes what it names", async () => {
    const { matters, scope, write } = openMatters();
    await write(matter("M1", { title: "Roe", venue: { court: "SDNY", jurisdiction: "US-NY" } }));
    const patch = { matter_id: "M1", title: null, venue: { court: "EDNY" } };
    await write({ mode: "merge", matters: [patch as JsonObject] });
    const venue = { court: "EDNY", jurisdiction: "US-NY" };
    expect(matters.get(scope, "M1")?.body).toEqual(matter("M1", { venue }));
    const broken = { mode: "merge", matters: [{ matter_id: "M1", status: null }] };
    expect(await refusal(() => write(broken))).toBe("invalid_input /matters/0/status");
  });

  test("a dry run says what would happen, and nothing does", async () => {
    const { matters, scope, write } = openMatters();
    const wet = { matters: [matter("M1")] };
    const planned = await write({ ...wet, dry_run: true });
    expect(matters.get(scope, "M1")).toBeNull();
    expect((await write(wet)).state_head).toBe(planned.state_head);
  });

  test("a matter on legal hold is not deleted", async () => {
    const { write } = openMatters();
    await write(matter("M1", { confidentiality: { legal_hold: true } }));
    const deletion = { matter_id: "M1", deleted: true };
    expect(await refusal(() => write(deletion))).toBe("legal_hold M1");
    await write(matter("M1", { confidentiality: { legal_hold: false } }));
    expect(await refusal(() => write(deletion))).toBe("accepted");
  });

  test("writes of one scope wait for each other", async () => {
    const { matters, scope, write } = openMatters();
    const titles = Array.from({ length: 20 }, (_, index) => `t${index}`);
    await Promise.all(titles.map((title) => write(matter("M1", { title }))));
    expect(matters.history(scope, "M1")).toHaveLength(20);
    expect(matters.get(scope, "M1")?.body["title"]).toBe("t19");
  });

  test("one app does not see another's matters", async () => {
    const { lab, matters, scope, write } = openMatters();
    await write(matter("M1"));
    const { tenantId, appId } = lab.tenants.createKey({ tenantName: "firm", appName: "second" });
    const other = { tenantId, appId };
    expect(matters.get(other, "M1")).toBeNull();
    expect(matters.search(other, "M1", 10)).toEqual([]);
    expect(matters.head(other)).toMatchObject({ state_head: NO_HASH, matters: 0 });
    await write(matter("M1", { title: "mine" }), null, other);
    expect(matters.get(scope, "M1")?.body["title"]).toBeUndefined();
  });
});

describe("refused", () => {
  const cases: readonly (readonly [string, JsonValue, string])[] = [
    ["no record", [], "invalid_input "],
    ["an empty batch", { matters: [] }, "invalid_input /matters"],
    ["no status", { matter_id: "M1" }, "invalid_input /status"],
    ["an id with a space", matter("M 1"), "invalid_input /matter_id"],
    ["a misspelt member", matter("M1", { partys: [] }), "invalid_input /partys"],
    [
      "a day that is none",
      matter("M1", { dates: { opened: "2026-02-30" } }),
      "invalid_date /dates/opened",
    ],
    ["a fraction", matter("M1", { custom: { rate: 0.5 } }), "not_canonical /custom/rate"],
    [
      "one matter twice",
      { matters: [matter("M1"), matter("M1")] },
      "duplicate_id /matters/1/matter_id",
    ],
    [
      "a tombstone with a title",
      { matter_id: "M1", deleted: true, title: "x" },
      "invalid_input /title",
    ],
    [
      "a late fault",
      { matters: [matter("M1"), matter("M2", { status: "opened" })] },
      "invalid_input /matters/1/status",
    ],
    ["an unknown mode", { matters: [matter("M1")], mode: "patch" }, "invalid_input /mode"],
    [
      "501 records",
      { matters: Array.from({ length: 501 }, (_, index) => matter(`M${index}`)) },
      "invalid_input /matters",
    ],
  ];
  test.each(cases)("%s", async (_name, body, expected) => {
    const { write } = openMatters();
    expect(await refusal(() => write(body))).toBe(expected);
  });
});

const PARTIES = [
  { party_id: "p1", role: "client", kind: "person", names: [{ name: "Jürgen Müller" }] },
  { party_id: "p2", role: "adverse_party", kind: "organization", names: [{ name: "Globex, LLC" }] },
];

describe("reading", () => {
  const filled = async () => {
    const kit = openMatters();
    await kit.write({
      matters: [
        matter("M1", {
          title: "Müller v. Globex",
          parties: PARTIES,
          people: [{ person_id: "u1", name: "R. Okafor", role: "responsible" }],
          classification: { practice_area: "Employment" },
        }),
        matter("M2", { title: "Lease", status: "closed", description: "near the AND gate" }),
        matter("M3", { parties: [{ ...PARTIES[1], party_id: "p1", role: "client" }] as never }),
      ],
    });
    const list = (query: string) => {
      const parsed = parseListQuery(new URLSearchParams(query));
      const { data, next } = kit.matters.list(kit.scope, parsed);
      return { ids: data.map(({ matter_id: id }) => id), next, data };
    };
    return { ...kit, list };
  };

  test("filters, fields and pages", async () => {
    const { lab, list } = await filled();
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ["", ["M1", "M2", "M3"]],
      ["status=closed", ["M2"]],
      ["practice_area=Employment", ["M1"]],
      ["person_id=u1", ["M1"]],
      ["person_id=u2", []],
      ["client=muller", ["M1"]],
      ["client=globex", ["M3"]],
      ["party=globex", ["M1", "M3"]],
      ["q=AND gate", ["M2"]],
      ["q=mueller", []],
      ["q=%22", []],
      ["q=glo", ["M1", "M3"]],
      [`updated_since=${lab.clock.nowMs + 1}`, []],
      ["cursor=M1", ["M2", "M3"]],
    ];
    for (const [query, ids] of cases)
      expect({ query, ...list(query) }).toMatchObject({ query, ids });
    expect(list("limit=2")).toMatchObject({ ids: ["M1", "M2"], next: "M2" });
    expect(list("limit=3").next).toBeNull();
    const { data } = list("fields=title&limit=1");
    expect(Object.keys(data[0] ?? {}).sort()).toEqual([
      "etag",
      "matter_id",
      "title",
      "updated_ts",
      "version",
    ]);
  });

  test("parameters that mean nothing are refused", async () => {
    const { list } = await filled();
    const query = (text: string) => refusal(async () => list(text));
    expect(await query("limit=0")).toBe("invalid_input /limit");
    expect(await query("limit=1000")).toBe("accepted");
    expect(await query("limit=1001")).toBe("invalid_input /limit");
    expect(await query("limit=01")).toBe("invalid_input /limit");
    expect(await query("updated_since=now")).toBe("invalid_input /updated_since");
    expect(await query("statuss=open")).toBe("invalid_input /statuss");
  });

  test("search ranks clients before others and forgets what is gone", async () => {
    const { matters, scope, write } = await filled();
    const found = () => matters.search(scope, "Globex", 10).map(({ matter_id: id }) => id);
    expect(found()).toEqual(["M3", "M1"]);
    await write({ matter_id: "M3", deleted: true });
    expect(found()).toEqual(["M1"]);
    await write(matter("M1", { title: "renamed" }));
    expect(found()).toEqual([]);
  });

  test("parties are listed once, qualified where two share an id", async () => {
    const { matters, scope } = await filled();
    expect(matters.parties(scope, null, 10)).toMatchObject([
      { party_id: "M1/p1", roles: [{ matter_id: "M1", role: "client" }] },
      { party_id: "M3/p1", roles: [{ matter_id: "M3", role: "client" }] },
      { party_id: "p2", roles: [{ matter_id: "M1", role: "adverse_party" }] },
    ]);
    expect(matters.parties(scope, "jurgen", 10)).toMatchObject([{ party_id: "M1/p1" }]);
    expect(matters.parties(scope, "!", 10)).toEqual([]);
  });

  test("a conflict check can run over the records", async () => {
    const { matters, scope } = await filled();
    const records = conflictRecords(matters.current(scope));
    const output = svcConflictCheck.run({
      as_of: "2026-07-01",
      intake: {
        intake_id: "I1",
        parties: [
          {
            party_id: "q",
            kind: "organization",
            role: "adverse_party",
            names: [{ name: "Globex" }],
          },
          { party_id: "w", kind: "person", role: "witness", names: [{ name: "R. Okafor" }] },
        ],
      },
      records,
    });
    expect(output).toMatchObject({
      snapshot_hash: records["snapshot_hash"] as string,
      outcome: "conflict_indicated",
      hits: [
        { code: "ADVERSE_TO_CURRENT_CLIENT", matter_id: "M3" },
        { code: "FIRM_PERSONNEL_IS_WITNESS", matter_id: "M1" },
        { code: "COMMON_ADVERSARY", matter_id: "M1" },
      ],
    });
  });
});

test("merge patches follow the examples of RFC 7396", () => {
  // Appendix A: original, patch, result.
  const cases: readonly (readonly [JsonValue, JsonValue, JsonValue])[] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of cases) expect(mergePatch(target, patch)).toEqual(result);
});

test("a patch that names everything is a replacement", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), (record) => {
      expect(mergePatch({}, record)).toEqual(record);
    }),
  );
});
