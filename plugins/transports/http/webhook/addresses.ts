import ipaddr from "ipaddr.js";

/** Ranges that a host may be in that is allowed by name, besides those of everybody. */
const NAMED = ["unicast", "loopback", "private", "uniqueLocal", "carrierGradeNat"];

/**
 * Addresses of clouds' metadata services that lie in one of those ranges: whoever asks them gets credentials. Alibaba Cloud;
 * Azure, whose own looks like one of the internet; AWS, for machines and for EKS; Google; Oracle; Scaleway.
 */
const METADATA = new Set([
  "100.100.100.200",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
].map((address) => ipaddr.parse(address).toString()));

/** All that is routed on the internet in IPv6 (RFC 4291); what lies outside is reserved or somebody's own. */
const GLOBAL_V6 = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Why an address may not be connected to; `undefined` if it may.
 *
 * @param named Whether the host was allowed by name, so that it may be on a private network.
 */
export function refusedRange(address: string, named: boolean): string | undefined {
  if (familyOf(address) === 0) return "unknown";
  // An IPv4 address in the clothes of IPv6 is what it is.
  const parsed = ipaddr.process(address);
  const range = rangeOf(parsed);
  if (!(named ? NAMED.includes(range) : range === "unicast")) return range;
  return METADATA.has(parsed.toString()) ? "metadata" : undefined;
}

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range = address.range();
  if (range !== "unicast" || address instanceof ipaddr.IPv4) return range;
  return (address as ipaddr.IPv6).match(GLOBAL_V6) ? range : "reserved";
}

/** 4 or 6 for an address as text, 0 for anything else. */
export function familyOf(text: string): 0 | 4 | 6 {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4;
  return ipaddr.IPv6.isValid(text) ? 6 : 0;
}
