/** Quantities as people read them. */

export function mebibytes(bytes: number): string {
  const mib = bytes / 2 ** 20;
  return mib < 10 ? `${mib.toFixed(1)} MiB` : `${Math.round(mib)} MiB`;
}
