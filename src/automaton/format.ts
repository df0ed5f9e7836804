/**
 * The formats that JSON Schema defines, as languages over code points. Each is the language of the
 * named standard or, where said, a part of it that every common validator agrees on: never more.
 */
import type { Dfa } from "./dfa.ts";
import { combine, intersect } from "./dfa-algebra.ts";
import { compilePattern, type PatternLanguage } from "./regex.ts";
import { REGEX } from "./regex-format.ts";

/** RFC 3339 full-date, leap years included. */
const MONTH_DAY =
  "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])" +
  "|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))";
const LEAP_YEAR = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const DATE = `(?:\\d{4}-${MONTH_DAY}|${LEAP_YEAR}-02-29)`;

/** RFC 3339 full-time. A leap second only at 23:59:60 in UTC, not with another offset. */
const OFFSET = "(?:[zZ]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
const TIME =
  `(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?${OFFSET}` +
  "|23:59:60(?:\\.\\d+)?(?:[zZ]|[+-]00:00))";

/** RFC 3339 appendix A. */
const DURATION_TIME = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const DURATION_DATE = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";
const DURATION = `P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\\d+W)`;

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`;

/** RFC 4291 section 2.2, as RFC 3986 writes it: no zone. */
const H16 = "[0-9A-Fa-f]{1,4}";
const LS32 = `(?:${H16}:${H16}|${IPV4})`;
const IPV6 = [
  `(?:${H16}:){6}${LS32}`,
  `::(?:${H16}:){5}${LS32}`,
  `(?:${H16})?::(?:${H16}:){4}${LS32}`,
  `(?:(?:${H16}:){0,1}${H16})?::(?:${H16}:){3}${LS32}`,
  `(?:(?:${H16}:){0,2}${H16})?::(?:${H16}:){2}${LS32}`,
  `(?:(?:${H16}:){0,3}${H16})?::${H16}:${LS32}`,
  `(?:(?:${H16}:){0,4}${H16})?::${LS32}`,
  `(?:(?:${H16}:){0,5}${H16})?::${H16}`,
  `(?:(?:${H16}:){0,6}${H16})?::`,
].join("|");

/** RFC 1123 labels of at most 63 characters. */
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const HOSTNAME = `${LABEL}(?:\\.${LABEL})*`;
/**
 * Labels with "--" in third place are reserved (RFC 5891): "xn--…" would need IDNA to be checked.
 */
const RESERVED_LABEL = "(?:^|\\.)[^.]{2}--";

/** RFC 5321 mailboxes of the form dot-string@domain, with at least two labels. */
const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const EMAIL = `${ATEXT}(?:\\.${ATEXT})*@(?:${LABEL}\\.)+${LABEL}`;

/** Non-ASCII characters that IDNA 2008 allows without any rule about their neighbours. */
const IDN_LETTER = "\\u{e0}-\\u{f6}\\u{f8}-\\u{ff}\\u{4e00}-\\u{9fa5}\\u{ac00}-\\u{d7a3}";
/** At most 12 characters, so that the label's ASCII form keeps to 63 whatever they are. */
const IDN_LABEL =
  `(?:${LABEL}|[A-Za-z0-9${IDN_LETTER}](?:[A-Za-z0-9${IDN_LETTER}-]{0,10}` +
  `[A-Za-z0-9${IDN_LETTER}])?)`;
/** Letters of any script in both parts, no quoted strings. */
const IDN_ATEXT = `(?:${ATEXT}|[^\\u{0}-\\u{9f}])+`;
const IDN_EMAIL = `${IDN_ATEXT}(?:\\.${IDN_ATEXT})*@(?:${IDN_LABEL}\\.)+${IDN_LABEL}`;

const UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";

/** RFC 6901. */
const JSON_POINTER = "(?:/(?:[^~/]|~[01])*)*";
const RELATIVE_JSON_POINTER = `(?:0|[1-9][0-9]*)(?:#|${JSON_POINTER})`;

/** RFC 6570 level 4. */
const VARNAME = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*";
const VARSPEC = `${VARNAME}(?:\\*|:[1-9][0-9]{0,3})?`;
const URI_TEMPLATE =
  "(?:[!#$&'(-;=?-\\[\\]_a-z~\\u{a0}-\\u{d7ff}\\u{f900}-\\u{ffef}\\u{10000}-\\u{2fffd}]" +
  "|%[0-9A-Fa-f]{2}" +
  `|\\{[+#./;?&=,!@|]?${VARSPEC}(?:,${VARSPEC})*\\})*`;

/** RFC 3986; with other characters (RFC 3987) for IRIs. */
function uri(
  ucschar: string,
  iprivate: string,
): { readonly absolute: string; readonly relative: string } {
  const unreserved = `A-Za-z0-9._~\\-${ucschar}`;
  const subDelims = "!$&'()*+,;=";
  const percent = "%[0-9A-Fa-f]{2}";
  const pchar = `(?:[${unreserved}${subDelims}:@]|${percent})`;
  const segmentNoColon = `(?:[${unreserved}${subDelims}@]|${percent})+`;
  const userinfo = `(?:[${unreserved}${subDelims}:]|${percent})*@`;
  const ipFuture = `[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~\\-${subDelims}:]+`;
  const host = `(?:\\[(?:${IPV6}|${ipFuture})\\]|(?:[${unreserved}${subDelims}]|${percent})*)`;
  const authority = `(?:${userinfo})?${host}(?::[0-9]*)?`;
  const abempty = `(?:/${pchar}*)*`;
  const absolutePath = `/(?:${pchar}+(?:/${pchar}*)*)?`;
  const query = `(?:\\?(?:${pchar}|[/?${iprivate}])*)?`;
  const fragment = `(?:#(?:${pchar}|[/?])*)?`;
  const tail = query + fragment;
  const rootless = `${pchar}+(?:/${pchar}*)*`;
  const noScheme = `${segmentNoColon}(?:/${pchar}*)*`;
  const scheme = "[A-Za-z][A-Za-z0-9+.\\-]*:";
  return {
    absolute: `${scheme}(?://${authority}${abempty}|${absolutePath}|${rootless}|)${tail}`,
    relative: `(?://${authority}${abempty}|${absolutePath}|${noScheme}|)${tail}`,
  };
}

const URI = uri("", "");
const IRI = uri(
  "\\u{a0}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{ffef}" +
    "\\u{10000}-\\u{1fffd}\\u{20000}-\\u{2fffd}",
  "\\u{e000}-\\u{f8ff}\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}",
);

function whole(pattern: string): Dfa {
  return compilePattern(`^(?:${pattern})$`).dfa;
}

function language(dfa: Dfa, maxLength = Number.POSITIVE_INFINITY): PatternLanguage {
  return { dfa, minLength: 0, maxLength };
}

function withoutReservedLabels(dfa: Dfa): Dfa {
  const reserved = compilePattern(RESERVED_LABEL).dfa;
  return intersect([dfa, combine([reserved], ([found]) => !found)]);
}

const BUILDERS: Readonly<Record<string, () => PatternLanguage>> = {
  date: () => language(whole(DATE)),
  time: () => language(whole(TIME)),
  "date-time": () => language(whole(`${DATE}[tT]${TIME}`)),
  duration: () => language(whole(DURATION)),
  email: () => language(withoutReservedLabels(whole(EMAIL)), 254),
  "idn-email": () => language(whole(IDN_EMAIL), 254),
  hostname: () => language(withoutReservedLabels(whole(HOSTNAME)), 253),
  "idn-hostname": () =>
    language(withoutReservedLabels(whole(`${IDN_LABEL}(?:\\.${IDN_LABEL})*`)), 63),
  ipv4: () => language(whole(IPV4)),
  ipv6: () => language(whole(IPV6)),
  uri: () => language(whole(URI.absolute)),
  "uri-reference": () => language(whole(`${URI.absolute}|${URI.relative}`)),
  iri: () => language(whole(IRI.absolute)),
  "iri-reference": () => language(whole(`${IRI.absolute}|${IRI.relative}`)),
  "uri-template": () => language(whole(URI_TEMPLATE)),
  uuid: () => language(whole(UUID)),
  "json-pointer": () => language(whole(JSON_POINTER)),
  regex: () => language(whole(REGEX)),
  "relative-json-pointer": () => language(whole(RELATIVE_JSON_POINTER)),
};

/** Built on first use and kept: a function of the name alone. */
const BUILT = new Map<string, PatternLanguage>();

/** @returns the language of a format, or null for one that no draft defines. */
export function formatLanguage(name: string): PatternLanguage | null {
  const known = BUILT.get(name);
  if (known) return known;
  const build = Object.hasOwn(BUILDERS, name) ? BUILDERS[name] : undefined;
  if (!build) return null;
  const built = build();
  BUILT.set(name, built);
  return built;
}
