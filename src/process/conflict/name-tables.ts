/**
 * Words that names are read by, folded and in Latin letters. Written for this project; a change of
 * any entry is a new engine version. The whole of it goes into `tables_hash`.
 */

import { DESIGNATOR_CLASSES } from "./designators.ts";

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** `from=to` pairs. */
const pairs = (list: string): ReadonlyMap<string, string> =>
  new Map(list.split(" ").map((pair) => pair.split("=") as [string, string]));

/** In front of a person's name. "Sr" is not here: it is a suffix when it comes last. */
export const HONORIFICS = words(
  "mr mrs ms miss mx dr prof professor hon honorable honourable judge justice rev reverend " +
    "father " +
    "fr sister sir dame lord lady sen senator rep congressman congresswoman president prasident " +
    "presidente governor gov mayor ambassador amb capt captain col colonel gen general lt maj " +
    "major sgt sergeant adm admiral cmdr herr frau monsieur mme madame mlle senor senora srta " +
    "don " +
    "dona sheikh shaikh shaykh mullah maulana maulavi qari hajji haji imam ayatollah king queen " +
    "prince princess count baron baroness chief",
);

/** Behind a person's name. */
export const CREDENTIALS = words(
  "esq esquire jd llm llb phd md do dds dmd cpa cfa mba msw rn pe aia faia cfp cissp ret " +
    "usn usmc " +
    "usaf qc kc obe mbe cbe mp",
);

export const SUFFIXES = pairs(
  "jr=jr junior=jr sr=sr senior=sr ii=2 iii=3 iv=4 2nd=2 3rd=3 4th=4 fils=jr pere=sr",
);

/** Words that many names share: they support a match little and contradict nothing. */
export const PARTICLES = words(
  "al el ul ur as ar ad an ash at az bin ben ibn bint abu abou abd de del della dei di da " +
    "das dos " +
    "do du la le les los las lo van von der den ter ten zu zur af av san na bar and of for " +
    "the in on et und",
);

/** Connecting words of organisations. */
export const CONNECTORS = words("and of the for in on at to de del la le les des du di et und y e");

/** Given names that stand for each other; every name of a line is a nickname of its first. */
const NICKNAME_GROUPS: readonly string[] = [
  "abraham abe bram",
  "albert al bert bertie",
  "alexander alex alec sandy sasha alejandro aleksandr alexandre oleksandr",
  "alexandra alex sandra sasha lexi",
  "alfred al alf fred",
  "andrew andy drew andre andrei andreas andrzej andres",
  "angela angie",
  "anthony tony antonio anton antoine",
  "arthur art artie",
  "barbara barb barbie babs",
  "barack barry",
  "benjamin ben benny benji bibi binyamin",
  "bernard bernie",
  "bradley brad",
  "caroline carol carrie lina carolyn",
  "catherine katherine kate kathy katie cathy kat kay kitty katharine kathryn katarina ekaterina",
  "charles charlie chuck chas carlos karl carl",
  "christina christine chris tina chrissy kristin",
  "christopher chris kit topher kris",
  "cynthia cindy",
  "daniel dan danny",
  "david dave davey",
  "deborah deb debbie debra",
  "dennis denny",
  "donald don donnie",
  "dorothy dot dottie dolly",
  "douglas doug",
  "edward ed eddie ted ned teddy eduardo",
  "eleanor nell nellie ellie nora",
  "elizabeth liz beth betty eliza lizzie betsy libby bess lisa elisabeth",
  "emily em emmy",
  "eugene gene",
  "evelyn evie",
  "florence flo",
  "frances fran fanny francie",
  "francis frank fran francisco francesco francois franz",
  "frederick fred freddie fritz rick federico",
  "gabriel gabe",
  "geoffrey geoff jeff jeffrey",
  "george georgie jorge georg giorgio yuri",
  "gerald gerry jerry",
  "gregory greg",
  "harold harry hal",
  "helen nell nellie lena elena",
  "henry hank harry hal enrique henri heinrich",
  "herbert herb bert",
  "irving irv",
  "isaac ike zac",
  "jacob jake jakob jacobo",
  "jacqueline jackie",
  "james jim jimmy jamie jay jaime",
  "janet jan",
  "jennifer jen jenny",
  "jessica jess jessie",
  "joan joanie",
  "john jack johnny jon juan johann ivan jean giovanni",
  "jonathan jon jonny",
  "joseph joe joey jose josef giuseppe iosif",
  "joshua josh",
  "judith judy",
  "julia julie",
  "kenneth ken kenny",
  "kimberly kim",
  "lawrence larry lorenzo laurence",
  "leonard leo len lenny",
  "lewis lou louis luis luigi",
  "lillian lil lily",
  "louise lou",
  "lucille lucy",
  "margaret maggie meg peggy marge margie greta rita margarita marguerite",
  "martha marty patsy",
  "martin marty",
  "mary molly polly mae marie maria",
  "matthew matt mateo matteo",
  "michael mike mick mickey micky miguel mikhail michel michal",
  "mildred millie",
  "muhammad mohammad mohammed mohamed muhammed mohamad muhamad mehmet",
  "nancy nan",
  "natalie nat natalia natasha",
  "nathaniel nate nathan nat",
  "nicholas nick nicky nicolas nikolai klaus",
  "oliver ollie",
  "pamela pam",
  "patricia pat patty tricia trish",
  "patrick pat paddy",
  "paul pablo pavel paolo",
  "peter pete pedro pyotr pierre piotr pietro",
  "philip phil phillip felipe",
  "raymond ray ramon",
  "rebecca becky becca",
  "richard rick dick rich ricky ricardo richie",
  "robert bob rob bobby robbie bert roberto",
  "ronald ron ronnie",
  "samuel sam sammy",
  "sarah sally sadie sara",
  "solomon sol",
  "sophia sophie",
  "stanley stan",
  "stephanie steph",
  "stephen steve steven stefan esteban stefano",
  "susan sue susie suzanne",
  "sylvester sly",
  "teresa terry tess theresa",
  "terence terry",
  "theodore ted teddy theo",
  "thomas tom tommy tomas",
  "timothy tim timmy",
  "ulysses lys",
  "usama osama",
  "valerie val",
  "victoria vicky tori",
  "vincent vince vinny vincenzo",
  "virginia ginny",
  "vladimir vlad volodymyr wladimir",
  "walter walt wally",
  "wesley wes",
  "william bill will billy willy liam guillermo guillaume wilhelm",
  "yousef yusuf joseph yosef",
  "zachary zach zack",
];

/** Ids of the groups that a given name is in. */
export const NICKNAMES: ReadonlyMap<string, readonly number[]> = groupsOf(NICKNAME_GROUPS);

/** One spelling for words that organisations abbreviate. */
export const EXPANSIONS = pairs(
  "intl=international bros=brothers mfg=manufacturing mfrs=manufacturers assn=association " +
    "assoc=association assocs=associates dept=department natl=national univ=university " +
    "svc=services svcs=services service=services serv=services mgmt=management mgt=management " +
    "tech=technology technologies=technology govt=government ins=insurance fin=financial " +
    "inst=institute hosp=hospital ctr=center centre=center labs=laboratories bldg=building " +
    "engr=engineering eng=engineering ind=industries inds=industries industry=industries " +
    "comm=commission cmte=committee dist=distributors organisation=organization " +
    "organisations=organizations org=organization labour=labor defence=defense " +
    "theatre=theater saint=st mount=mt fort=ft",
);

/** Sequences of words with one short spelling. */
export const PHRASES: readonly (readonly [words: string, short: string])[] = [
  ["united states of america", "us"],
  ["united states", "us"],
  ["united kingdom", "uk"],
  ["great britain", "uk"],
  ["european union", "eu"],
  ["united nations", "un"],
];

export const NUMBER_WORDS = pairs(
  "one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 " +
    "first=1 second=2 third=3 fourth=4 fifth=5 sixth=6 seventh=7 eighth=8 ninth=9 tenth=10 " +
    "eleventh=11 twelfth=12 twenty=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 " +
    "ninety=90 twentieth=20 thirtieth=30",
);

export const ROMAN_NUMBERS = pairs(
  "i=1 ii=2 iii=3 iv=4 v=5 vi=6 vii=7 viii=8 ix=9 x=10 xi=11 xii=12 xiii=13 xiv=14 xv=15 xvi=16 " +
    "xvii=17 xviii=18 xix=19 xx=20",
);

/** Digits that are typed for letters inside words. */
export const DIGIT_LETTERS = pairs("0=o 1=i 3=e 4=a 5=s 7=t 8=b 9=g");

/** Hosts that give addresses to anybody: sharing one says nothing. */
export const FREE_MAIL = words(
  "gmail.com googlemail.com yahoo.com yahoo.co.uk outlook.com hotmail.com hotmail.co.uk live.com " +
    "msn.com icloud.com me.com mac.com aol.com proton.me protonmail.com pm.me gmx.com gmx.de " +
    "gmx.net web.de mail.com mail.ru yandex.ru yandex.com zoho.com fastmail.com qq.com 163.com " +
    "comcast.net verizon.net att.net sbcglobal.net",
);

/** What is hashed into `tables_hash`. */
export const NAME_TABLES = {
  honorifics: [...HONORIFICS],
  credentials: [...CREDENTIALS],
  suffixes: [...SUFFIXES],
  particles: [...PARTICLES],
  connectors: [...CONNECTORS],
  nicknames: NICKNAME_GROUPS,
  designators: DESIGNATOR_CLASSES,
  expansions: [...EXPANSIONS],
  phrases: PHRASES,
  number_words: [...NUMBER_WORDS],
  roman_numbers: [...ROMAN_NUMBERS],
  digit_letters: [...DIGIT_LETTERS],
  free_mail: [...FREE_MAIL],
} as const;

function groupsOf(groups: readonly string[]): Map<string, number[]> {
  const byName = new Map<string, number[]>();
  for (const [id, group] of groups.entries()) {
    for (const name of group.split(" ")) byName.set(name, [...(byName.get(name) ?? []), id]);
  }
  return byName;
}
