/** Bounds on what a schema may be, all counts: load must never decide between 200 and 400. */

/**
 * Schemas nested in schemas. The parser and the machine recurse this deep, far from the stack's
 * end.
 */
export const SCHEMA_DEPTH_MAX = 400;

/** Schema objects in one document; 10,000 properties of ten keywords each stay below it. */
export const SCHEMAS_MAX = 200_000;

/** Items or keys that a schema may demand: a longer answer would not fit any context. */
export const MIN_COUNT_MAX = 1_000_000;

/** Ways to satisfy one place; further ones are dropped (narrower, never wider). */
export const PLANS_MAX = 64;

/** Places looked at in one search for a smallest value. Out of fuel counts as "none found". */
export const WITNESS_FUEL = 20_000;
