/** Bounds on GBNF texts and on what runs them, all counts: load must never decide. */

/** A grammar of 4,000 rules, as printed for a large schema, has a quarter of this. */
export const TEXT_LENGTH_MAX = 2 ** 20;

export const RULES_MAX = 10_000;

/** Literals, classes, references and repetitions in one grammar. */
export const ITEMS_MAX = 200_000;

/** Ranges of code points in all classes of one grammar. */
export const RANGES_MAX = 20_000;

/** Groups in groups; the parser recurses this deep. */
export const GROUP_DEPTH_MAX = 100;

/** The largest factor of a repetition: it is counted, never written out. */
export const REPETITIONS_MAX = 100_000;

/** Rules that begin with a rule that begins with a rule: the machine recurses this deep. */
export const LEFT_DEPTH_MAX = 500;

/** Rules open at one time while an answer is read; deeper ones are not offered. */
export const STACK_DEPTH_MAX = 400;

/** Bytes of the shortest text: longer ones fit no answer. */
export const SHORTEST_TEXT_MAX = 2 ** 20;

/**
 * Work on one byte: stacks looked at, pushed and merged. Beyond that the readings found so far are
 * the ones that count, which only grammars of extreme ambiguity come to.
 */
export const STEP_WORK_MAX = 10_000;

/** The same over one mask: longer tokens are then left out. */
export const MASK_WORK_MAX = 400_000;

/** Sets of stacks that a grammar keeps for the next answers. */
export const STACKS_KEPT_MAX = 8192;

/** Masks that a grammar keeps; 16 KB each for 128,000 tokens. */
export const MASKS_KEPT_MAX = 128;
