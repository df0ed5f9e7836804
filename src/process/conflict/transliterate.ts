/**
 * Latin spellings of folded words in scripts whose letters have one: Cyrillic, Greek, Armenian,
 * Georgian and Hangul. Arabic, Hebrew, Han, Kana, Thai and Indic scripts stay as they are: their
 * spellings are ambiguous, so a firm adds a name of type `transliteration`.
 */

/** Letters and their spellings, alternating; the longer spelling of a pair comes first. */
const LETTERS =
  // Cyrillic: Russian, then Ukrainian, Belarusian, Serbian, Macedonian and Mongolian letters.
  "а a б b в v г g д d е e ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh " +
  "ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya ѣ e і i ѳ f ѵ i " +
  "є ye ґ g ђ dj ј j љ lj њ nj ћ c џ dz ѓ g ѕ dz ќ k ө o ү u қ k ғ g ң ng ұ u һ h ў u ҳ h ҷ j " +
  // Greek.
  "α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch " +
  "ψ ps ω o " +
  // Armenian.
  "ա a բ b գ g դ d ե e զ z է e ը e թ t ժ zh ի i լ l խ kh ծ ts կ k հ h ձ dz ղ gh ճ ch մ m յ y ն n " +
  "շ sh ո o չ ch պ p ջ j ռ r ս s վ v տ t ր r ց ts ւ v փ p ք k օ o ֆ f " +
  // Georgian.
  "ა a ბ b გ g დ d ე e ვ v ზ z თ t ი i კ k ლ l მ m ნ n ო o პ p ჟ zh რ r ს s ტ t უ u ფ p ქ k " +
  "ღ gh ყ q შ sh ჩ ch ც ts ძ dz წ ts ჭ ch ხ kh ჯ j ჰ h";

const SPELLINGS: ReadonlyMap<string, string> = pairsOf(LETTERS);

/** Two Greek letters that make one sound. */
const GREEK_PAIRS: ReadonlyMap<string, string> = pairsOf(
  "ου ou μπ b ντ d γκ g αυ av ευ ev γγ ng τζ tz",
);

const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
const VOWELS_COUNT = 21;
const FINALS_COUNT = 28;

/** Revised Romanisation, letter by letter, without the changes between syllables. */
const LEADS = "g kk n d tt r m b pp s ss - j jj ch k t p h".split(" ");
const VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ");
const FINALS = "- k k k n n n t l l l l l l l l m p p t t ng t t k t p t".split(" ");

/** NFKD takes syllables apart; names written so are put together first. */
export function transliterate(words: string): string {
  if (isLatin(words)) return words;
  let latin = "";
  for (let index = 0; index < words.length; index += 1) {
    const pair = GREEK_PAIRS.get(words.slice(index, index + 2));
    if (pair !== undefined) {
      latin += pair;
      index += 1;
    } else latin += spellingOf(words.charAt(index));
  }
  return latin;
}

const isLatin = (words: string): boolean => !/[\u0250-\uffff]/.test(words);

function spellingOf(character: string): string {
  const spelling = SPELLINGS.get(character);
  if (spelling !== undefined) return spelling;
  const unit = character.charCodeAt(0);
  return unit >= FIRST_SYLLABLE && unit <= LAST_SYLLABLE ? syllable(unit) : character;
}

function syllable(unit: number): string {
  const index = unit - FIRST_SYLLABLE;
  const lead = LEADS[Math.floor(index / (VOWELS_COUNT * FINALS_COUNT))] ?? "";
  const vowel = VOWELS[Math.floor(index / FINALS_COUNT) % VOWELS_COUNT] ?? "";
  const final = FINALS[index % FINALS_COUNT] ?? "";
  return `${lead}${vowel}${final}`.replaceAll("-", "");
}

function pairsOf(list: string): Map<string, string> {
  const items = list.split(" ");
  const pairs = new Map<string, string>();
  for (let index = 0; index < items.length; index += 2)
    pairs.set(items[index] ?? "", items[index + 1] === "-" ? "" : (items[index + 1] ?? ""));
  return pairs;
}

/** First code points of the blocks that names are written in, with what they are compared as. */
const SCRIPTS: readonly (readonly [first: number, last: number, script: string])[] = [
  [0x61, 0x24f, "latin"],
  [0x590, 0x5ff, "hebrew"],
  [0x600, 0x8ff, "arabic"],
  [0x900, 0xdff, "indic"],
  [0xe00, 0xeff, "thai"],
  [0x1780, 0x17ff, "khmer"],
  [0x3040, 0x30ff, "kana"],
  [0x3400, 0x9fff, "han"],
  [0x20000, 0x3ffff, "han"],
];

/** What is hashed into `tables_hash`. */
export const SCRIPT_TABLES = {
  letters: LETTERS,
  greek_pairs: [...GREEK_PAIRS],
  hangul: [LEADS, VOWELS, FINALS],
  scripts: SCRIPTS,
} as const;

/** The scripts that words are in once they are transliterated; digits belong to none. */
export function scriptsOf(words: string): ReadonlySet<string> {
  const scripts = new Set<string>();
  for (const character of words) {
    const point = character.codePointAt(0) ?? 0;
    if (point <= 0x60) continue;
    const found = SCRIPTS.find(([first, last]) => point >= first && point <= last);
    scripts.add(found ? found[2] : "other");
  }
  return scripts;
}
