/** The package's `./mask`: which tokens may come next, for any loop that samples. */
export { Matcher } from "../mask/matcher.ts";
export { loadVocabulary, type Vocabulary } from "../mask/vocabulary.ts";
