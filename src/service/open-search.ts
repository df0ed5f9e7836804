/** The configured search provider. */
import { localProvider } from "../search/local-index.ts";
import { NO_PROVIDER, type SearchProvider } from "../search/provider.ts";
import { REMOTE_ADDRESSES, type RemoteKind, remoteProvider } from "../search/remote-providers.ts";
import { FETCH_LIMITS } from "../search/safe-fetch.ts";
import { openIndexForReading } from "../store/open-index.ts";

export type SearchConfig =
  | { readonly kind: "none" }
  /** The index that `svc index` writes; null stands for the one in the data directory. */
  | { readonly kind: "local"; readonly path: string | null }
  | {
      readonly kind: RemoteKind;
      /** Null stands for the service's own address, which SearXNG has none of. */
      readonly baseUrl: string | null;
      readonly apiKey: string;
      /** Whether the service may stand in a private network. */
      readonly allowPrivate: boolean;
    };

export interface SearchPort {
  /** As of now: an index that is made while the server runs is found. */
  provider(): SearchProvider;
  close(): void;
}

/** Where a data directory's own index is. */
export function searchIndexPath(dataDir: string): string {
  return `${dataDir}/search.sqlite`;
}

/** @throws RangeError for a remote service without an address. */
export function openSearch(config: SearchConfig, dataDir: string): SearchPort {
  if (config.kind === "none") return fixedPort(NO_PROVIDER);
  if (config.kind === "local") return localPort(config.path ?? searchIndexPath(dataDir));
  const { kind, apiKey, allowPrivate } = config;
  const baseUrl = config.baseUrl ?? (kind === "searxng" ? null : REMOTE_ADDRESSES[kind]);
  if (baseUrl === null) throw new RangeError("SearXNG needs its address");
  const rules = { allowPrivate, limits: FETCH_LIMITS };
  return fixedPort(remoteProvider(kind, { baseUrl, apiKey, rules }));
}

function fixedPort(provider: SearchProvider): SearchPort {
  return { provider: () => provider, close: () => {} };
}

type Index = NonNullable<ReturnType<typeof openIndexForReading>>;

function localPort(path: string): SearchPort {
  let open: { readonly db: Index; readonly provider: SearchProvider } | null = null;
  return {
    provider: () => {
      if (open === null) {
        const db = openIndexForReading(path);
        if (db === null) return NO_PROVIDER;
        open = { db, provider: localProvider(db) };
      }
      return open.provider;
    },
    close: () => open?.db.close(),
  };
}
