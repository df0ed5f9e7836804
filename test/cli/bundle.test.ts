/** `svc bundle`: that all that is needed is in it, and that it runs where there is no network. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installedPackages, licenceText } from "../../src/cli/bundle-packages.ts";
import { temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, run } from "./kit.ts";

setDefaultTimeout(300_000);

const ROOT = new URL("../../", import.meta.url).pathname;

test("packs every package that the program runs with, and none that only its tests use", () => {
  const packages = installedPackages(ROOT);
  const names = packages.map(({ name }) => name);
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as Record<"dependencies" | "devDependencies", Record<string, string>>;
  const binaries = Object.keys(dependencies).filter((name) => name.startsWith("@node-llama-cpp/"));
  expect(names.filter((name) => binaries.includes(name))).toEqual([
    `@node-llama-cpp/${process.platform}-${process.arch}`,
  ]);
  const wanted = Object.keys(dependencies).filter((name) => !binaries.includes(name));
  expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
  // What another package depends on in turn.
  expect(names).toContain("sonic-boom");
  const unwanted = ["knip", "ai", "playwright-core", "@biomejs/biome", "@langchain/openai"];
  expect(unwanted.filter((name) => !(name in devDependencies))).toEqual([]);
  expect(unwanted.filter((name) => names.includes(name))).toEqual([]);
  const elysia = packages.find(({ name }) => name === "elysia");
  expect(elysia?.licence).toBe("MIT");
  if (elysia !== undefined) expect(licenceText(ROOT, elysia)).toContain("Permission is hereby");
});

test("refuses a model that has no name, and leaves nothing behind", async () => {
  const directory = temporaryDirectory();
  const refused = await run({ directory }, "bundle", "--model", "none", "--json");
  expect([refused.code, jsonOf(refused)]).toMatchObject([2, { error: { code: "unknown_model" } }]);
  expect(existsSync(join(directory, "svc.tar.gz"))).toBe(false);
});

const cut = ["unshare", "-rn", "sh", "-c"];
const canCut =
  Bun.which("unshare") !== null &&
  Bun.which("ip") !== null &&
  Bun.spawnSync([...cut, "ip link set lo up"]).success;
const isSlow = process.env["SLOW"] === "1";
if (!canCut) process.stderr.write("svc bundle is NOT run without a network: unshare -rn fails\n");
else if (!isSlow) process.stderr.write("svc bundle is run without a network with SLOW=1 only\n");

test.skipIf(!canCut || !isSlow)(
  "installs and answers in a namespace without a network, and refuses damaged files",
  async () => {
    const directory = temporaryDirectory();
    const made = jsonOf(await run({ directory }, "bundle", "svc.tar.gz", "--json"));
    expect(made).toMatchObject({ models: ["svc-tiny"], path: join(directory, "svc.tar.gz") });
    const inside = async (script: string) => {
      const child = Bun.spawn([...cut, `ip link set lo up; ${script}`], {
        cwd: directory,
        // Nothing of this machine's own: no bun, no packages.
        env: { PATH: "/usr/bin:/bin:/usr/sbin", HOME: directory },
        stderr: "pipe",
      });
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { code: await child.exited, out, err };
    };
    const installed = await inside("tar -xzf svc.tar.gz && sh svc-*/install.sh there");
    expect([installed.code, installed.out]).toEqual([0, expect.stringContaining("installed")]);
    const answered = await inside(ASK);
    expect([answered.code, answered.out]).toEqual([0, expect.stringContaining('{"ok":')]);
    const damaged = await inside(
      "cd svc-*/app && echo >> package.json; cd ../..; sh svc-*/install.sh elsewhere",
    );
    expect([damaged.code, existsSync(join(directory, "elsewhere"))]).toEqual([1, false]);
    expect(damaged.err).toContain("damaged");
  },
);

/** Starts the installed server, asks for a locked answer with the bundled runtime, stops it. */
const ASK = `
there/bin/svc quickstart --port 0 --json --log-level silent > started &
server=$!
for _ in $(seq 300); do grep -q '"ready"' started && break; sleep 0.1; done
cat > ask.ts <<'END'
const line = (await Bun.file("started").text()).trim().split("\\n").at(-1) ?? "";
const { first_key, url } = JSON.parse(line);
const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const body = {
  model: "svc-tier-b",
  messages: [{ role: "user", content: "Is it?" }],
  response_format: { type: "json_schema", json_schema: { name: "n", strict: true, schema } },
};
const headers = {
  authorization: "Bearer " + first_key.api_key,
  "content-type": "application/json",
};
const init = { method: "POST", headers, body: JSON.stringify(body) };
const answer = await (await fetch(url + "/v1/chat/completions", init)).json();
process.stdout.write(answer.choices[0].message.content);
END
there/runtime/bun ask.ts
kill $server
wait $server
`.trim();
