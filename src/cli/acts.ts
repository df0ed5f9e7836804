/**
 * What commands do to a data directory. A running server does it on their behalf; where none runs,
 * the command takes the directory's lock and does it itself. The acts are the same either way.
 */
import type { Checkpoints } from "../ledger/checkpoints.ts";
import type { CreatedKey, KeyFacts, Tenants } from "../tenant/tenants.ts";

export interface Acts {
  readonly "create-key": {
    readonly input: { readonly tenant: string; readonly app: string | null };
    readonly result: CreatedKey;
  };
  readonly "list-keys": { readonly input: null; readonly result: readonly KeyFacts[] };
  readonly "revoke-key": { readonly input: { readonly keyId: string }; readonly result: null };
  readonly "store-requests": {
    readonly input: { readonly tenant: string; readonly isOn: boolean };
    readonly result: null;
  };
  readonly "rotate-master-key": { readonly input: null; readonly result: null };
  /** Where the API answers; null where no server runs. */
  readonly "server-info": {
    readonly input: null;
    readonly result: { readonly url: string | null };
  };
  readonly checkpoint: {
    readonly input: null;
    readonly result: {
      readonly n: number;
      readonly captureTs: number;
      readonly recordHash: string;
      readonly isNew: boolean;
    };
  };
}

export type ActName = keyof Acts;

export interface ActTarget {
  readonly tenants: Tenants;
  /** Null where only keys are at hand. */
  readonly checkpoints: Checkpoints | null;
  readonly url: string | null;
}

export type Performers = {
  readonly [K in ActName]: (target: ActTarget, input: Acts[K]["input"]) => Acts[K]["result"];
};

export const PERFORM: Performers = {
  "create-key": ({ tenants }, { tenant, app }) =>
    tenants.createKey({ tenantName: tenant, appName: app ?? undefined }),
  "list-keys": ({ tenants }) => tenants.listKeys(),
  "revoke-key": ({ tenants }, { keyId }) => {
    tenants.revokeKey(keyId);
    return null;
  },
  "store-requests": ({ tenants }, { tenant, isOn }) => {
    tenants.change((changes) => changes.setStorage(changes.tenantNamed(tenant), isOn));
    return null;
  },
  "rotate-master-key": ({ tenants }) => {
    tenants.rotateMasterKey();
    return null;
  },
  "server-info": ({ url }) => ({ url }),
  checkpoint: ({ checkpoints }) => {
    if (checkpoints === null) throw new Error("this target has no checkpoints");
    const { checkpoint, isNew } = checkpoints.run();
    const { n, captureTs, recordHash } = checkpoint;
    return { n, captureTs, recordHash: Buffer.from(recordHash).toString("hex"), isNew };
  },
};
