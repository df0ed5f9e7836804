/**
 * Reporters of US case law: spellings, the years that their volumes decide, the highest volume
 * that was published when the table was checked, and what courts they report. Written for this
 * project; bounds are wide where a series still runs.
 */

export interface Reporter {
  readonly name: string;
  readonly spellings: readonly string[];
  readonly firstYear: number;
  /** Null while the series runs. */
  readonly lastYear: number | null;
  readonly volumeMax: number;
  /** Whether the court must be named with the year. */
  readonly courtNeeded: boolean;
}

/** Series that run get room for volumes of this many years after the table was checked. */
export const CHECKED_YEAR = 2026;

const reporter = (
  name: string,
  years: readonly [first: number, last: number | null],
  volumeMax: number,
  courtNeeded: boolean,
  spellings: readonly string[] = [],
): Reporter => ({
  name,
  spellings: [name, ...spellings],
  firstYear: years[0],
  lastYear: years[1],
  volumeMax,
  courtNeeded,
});

export const REPORTERS: readonly Reporter[] = [
  reporter("U.S.", [1754, null], 620, false, ["U. S."]),
  reporter("S. Ct.", [1882, null], 150, false, ["S.Ct."]),
  reporter("L. Ed.", [1790, 1956], 100, false, ["L.Ed."]),
  reporter("L. Ed. 2d", [1956, null], 230, false, ["L.Ed.2d", "L. Ed.2d"]),
  reporter("F.", [1880, 1924], 300, true),
  reporter("F.2d", [1924, 1993], 999, true, ["F. 2d"]),
  reporter("F.3d", [1993, 2021], 999, true, ["F. 3d"]),
  reporter("F.4th", [2021, null], 250, true, ["F. 4th"]),
  reporter("F. App'x", [2001, 2021], 861, true, ["F. App’x", "Fed. Appx.", "F. Appx.", "F.App'x"]),
  reporter("F. Supp.", [1932, 1998], 999, true, ["F.Supp."]),
  reporter("F. Supp. 2d", [1998, 2014], 999, true, ["F.Supp.2d", "F. Supp.2d"]),
  reporter("F. Supp. 3d", [2013, null], 850, true, ["F.Supp.3d", "F. Supp.3d"]),
  reporter("F.R.D.", [1938, null], 360, true),
  reporter("B.R.", [1979, null], 690, true),
  reporter("Fed. Cl.", [1992, null], 190, false),
  reporter("T.C.", [1942, null], 175, false),
  reporter("A.", [1885, 1938], 200, true),
  reporter("A.2d", [1938, 2010], 999, true),
  reporter("A.3d", [2010, null], 380, true),
  reporter("N.E.", [1885, 1936], 200, true),
  reporter("N.E.2d", [1936, 2014], 999, true),
  reporter("N.E.3d", [2013, null], 290, true),
  reporter("N.W.", [1879, 1941], 300, true),
  reporter("N.W.2d", [1941, 2023], 999, true),
  reporter("N.W.3d", [2023, null], 60, true),
  reporter("P.", [1883, 1931], 300, true),
  reporter("P.2d", [1931, 2000], 999, true),
  reporter("P.3d", [2000, null], 640, true),
  reporter("S.E.", [1887, 1939], 200, true),
  reporter("S.E.2d", [1939, null], 950, true),
  reporter("So.", [1887, 1941], 200, true),
  reporter("So. 2d", [1941, 2008], 999, true, ["So.2d"]),
  reporter("So. 3d", [2008, null], 460, true, ["So.3d"]),
  reporter("S.W.", [1886, 1928], 300, true),
  reporter("S.W.2d", [1928, 1999], 999, true),
  reporter("S.W.3d", [1999, null], 760, true),
  reporter("N.Y.S.", [1888, 1938], 300, true),
  reporter("N.Y.S.2d", [1938, 2015], 980, true),
  reporter("N.Y.S.3d", [2015, null], 280, true),
  reporter("Cal. Rptr.", [1959, 1991], 286, true, ["Cal.Rptr."]),
  reporter("Cal. Rptr. 2d", [1991, 2003], 135, true, ["Cal.Rptr.2d"]),
  reporter("Cal. Rptr. 3d", [2003, null], 360, true, ["Cal.Rptr.3d"]),
  reporter("Cal. 2d", [1934, 1969], 71, false, ["Cal.2d"]),
  reporter("Cal. 3d", [1969, 1991], 54, false, ["Cal.3d"]),
  reporter("Cal. 4th", [1991, 2016], 63, false, ["Cal.4th"]),
  reporter("Cal. 5th", [2016, null], 30, false, ["Cal.5th"]),
  reporter("N.Y.2d", [1956, 2003], 100, false),
  reporter("N.Y.3d", [2003, null], 50, false),
  reporter("Ill. 2d", [1954, 2011], 242, false, ["Ill.2d"]),
  reporter("Mass.", [1804, null], 510, false),
];
