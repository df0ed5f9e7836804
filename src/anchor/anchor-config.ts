/** Which timestamping services are asked. No request goes anywhere else. */

export interface AnchorConfig {
  /** OpenTimestamps calendars to submit to: addresses without a slash at the end. */
  readonly calendars: readonly string[];
  /** Further addresses at which promises may be kept; `https://*.` stands for any subdomain. */
  readonly upgradeCalendars: readonly string[];
  /** An RFC 3161 authority: its address, or a local command from a request to a response. */
  readonly authority:
    | { readonly kind: "url"; readonly url: string }
    | { readonly kind: "command"; readonly command: readonly string[] }
    | null;
}

/** For hosts without a network. */
export const NO_ANCHORS: AnchorConfig = { calendars: [], upgradeCalendars: [], authority: null };

/** The public calendars that stock clients use. */
export const PUBLIC_CALENDARS: AnchorConfig = {
  calendars: [
    "https://a.pool.opentimestamps.org",
    "https://b.pool.opentimestamps.org",
    "https://a.pool.eternitywall.com",
    "https://ots.btc.catallaxy.com",
  ],
  upgradeCalendars: [
    "https://*.calendar.opentimestamps.org",
    "https://*.calendar.eternitywall.com",
    "https://*.calendar.catallaxy.com",
  ],
  authority: null,
};

/** Whether a proof that waits at this address may be asked for there. */
export function mayAsk(config: AnchorConfig, uri: string): boolean {
  return [...config.calendars, ...config.upgradeCalendars].some((allowed) => {
    const [before, suffix] = allowed.split("*.", 2);
    if (suffix === undefined) return uri === allowed;
    const subdomain = uri.slice(before?.length, -suffix.length - 1);
    return (
      uri === `${before}${subdomain}.${suffix}` && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(subdomain)
    );
  });
}
