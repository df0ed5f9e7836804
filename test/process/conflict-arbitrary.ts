/** Random names that are often spellings of each other. */
import fc from "fast-check";
import type { RecordRole } from "../../src/process/conflict/schema.ts";
import { type Firm, firmWith } from "./conflict-firm.ts";

const GIVEN = "Robert Bob Katherine Kate José Jürgen Wei Xi Jo Владимир Ann".split(" ");
const FAMILY = "Schmidt Schmitt O'Neil Müller Mueller de_la_Cruz Li Ng Путин"
  .split(" ")
  .map((name) => name.replaceAll("_", " "));

/** One slip of the keyboard, now and then. */
const slipped = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(name.length - 1), fc.constantFrom("none", "none", "drop", "double", "swap", "x"))
    .map(([at, how]) => {
      const [before, letter, after] = [name.slice(0, at), name.charAt(at), name.slice(at + 1)];
      if (how === "drop" && name.length > 3) return before + after;
      if (how === "double") return before + letter + letter + after;
      if (how === "swap") return before + after.charAt(0) + letter + after.slice(1);
      return how === "x" ? `${before}x${after}` : name;
    });

const personOf = (given: fc.Arbitrary<string>, family: fc.Arbitrary<string>) =>
  fc
    .record({
      given,
      middle: fc.constantFrom("", "", " M.", " James", " J"),
      family,
      form: fc.constantFrom("plain", "plain", "inverted", "joined", "titled"),
    })
    .map(({ given, middle, family, form }) => {
      if (form === "inverted") return `${family}, ${given}${middle}`;
      if (form === "joined") return `${given}${family}`;
      return form === "titled"
        ? `Dr. ${given}${middle} ${family}, Jr.`
        : `${given}${middle} ${family}`;
    });

const PERSON = personOf(fc.constantFrom(...GIVEN), fc.constantFrom(...FAMILY));

/** Spellings of one person's name. */
export const SPELLINGS = fc
  .tuple(fc.constantFrom(...GIVEN), fc.constantFrom(...FAMILY))
  .chain(([given, family]) =>
    fc.array(personOf(fc.constant(given), fc.constant(family)).chain(slipped), {
      minLength: 5,
      maxLength: 15,
    }),
  );

const ORGANIZATION = fc
  .record({
    first: fc.constantFrom(
      "Globex",
      "Acme",
      "First Intl.",
      "U.S.",
      "Good Will",
      "Goodwill",
      "A.B.C.",
    ),
    second: fc.constantFrom("", " Holdings", " Fund IV", " Fund 4", " Energy", " & Sons"),
    form: fc.constantFrom("", " Inc.", ", LLC", " GmbH", " Joint Stock Company"),
  })
  .map(({ first, second, form }) => `${first}${second}${form}`);

export const NAME = fc.oneof(PERSON, ORGANIZATION).chain(slipped);

export const ROLE = fc.constantFrom<RecordRole>("client", "adverse_party", "witness");

/** One adverse party against people in open matters, one each. */
export function firmOf(query: string, records: readonly (readonly [string, RecordRole])[]): Firm {
  const firm = firmWith("adverse_party", "client");
  for (const party of firm.intake.parties) party.names = [{ name: query }];
  firm.records.parties = records.map(([name], index) => ({
    party_id: `r${index}`,
    kind: "person",
    names: [{ name }],
  }));
  firm.records.matters = records.map(([, role], index) => ({
    matter_id: `M${index}`,
    status: "open",
    roles: [{ party_id: `r${index}`, role }],
  }));
  return firm;
}
