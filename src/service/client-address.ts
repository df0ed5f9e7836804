/** Who connected, seen through the operator's own proxies. */
import { isIP, isIPv4 } from "node:net";

/**
 * The address that the outermost trusted proxy saw. Each proxy appends what it saw to the header,
 * so it is read from its end, as long as what stands there is trusted; before that anyone can write
 * anything.
 * @param forwardedFor the header `X-Forwarded-For`, joined.
 */
export function clientAddressOf(
  socketAddress: string | null,
  forwardedFor: string | null,
  trustedProxies: ReadonlySet<string>,
): string | null {
  let address = socketAddress === null ? null : plainAddress(socketAddress);
  const hops = (forwardedFor ?? "").split(",").map((hop) => hop.trim());
  while (address !== null && trustedProxies.has(address)) {
    const hop = hops.pop();
    if (hop === undefined || isIP(hop) === 0) break;
    address = plainAddress(hop);
  }
  return address;
}

/** Without a zone; an IPv4 address in IPv6 clothing is an IPv4 address. */
function plainAddress(address: string): string {
  const bare = address.split("%", 1)[0] ?? "";
  const mapped = /^::ffff:([0-9.]+)$/i.exec(bare)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? mapped : bare.toLowerCase();
}
