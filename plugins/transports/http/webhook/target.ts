import { invalidOption, SchedulerError, show } from "../../../../src/contract/mod.ts";
import { refusedValue, showUrl } from "../refused_value.ts";
import { familyOf, refusedRange } from "./addresses.ts";
import { MAX_ADDRESSES, MAX_ALLOWED_HOSTS, MAX_URL_LENGTH } from "./limits.ts";

/** Finds the addresses of a host's name. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** Where deliveries may go. */
export interface Destinations {
  /**
   * Hosts that may be on a private network: names or addresses as they stand in the URL, such as `"127.0.0.1"`. By
   * default a host whose address is private, loopback, link-local or otherwise not of the internet is refused. Link-local
   * and metadata addresses stay refused unless they are named themselves. Default: none.
   */
  readonly allowHosts?: readonly string[];
  /**
   * Allows `http:` too. Without it, only to loopback addresses and `localhost` that {@linkcode allowHosts} names. Default
   * `false`.
   */
  readonly allowHttp?: boolean;
  /**
   * Finds the addresses of a host, asked anew for each connection; every address is checked, and the connection goes to one
   * of those that were. Default: the system's resolver.
   */
  readonly lookup?: Lookup;
}

/** {@linkcode Destinations}, checked. */
export interface CheckedDestinations {
  readonly hosts: ReadonlySet<string>;
  readonly allowHttp: boolean;
  readonly lookup: Lookup;
}

/** The keys of {@linkcode Destinations}. */
export const DESTINATION_KEYS = ["allowHosts", "allowHttp", "lookup"] as const;

/** @throws {SchedulerError} `invalid_option`, naming the key. */
export function readDestinations(
  { allowHosts = [], allowHttp = false, lookup = systemLookup }: {
    readonly [Key in typeof DESTINATION_KEYS[number]]?: unknown;
  },
  where: string,
): CheckedDestinations {
  const isList = Array.isArray(allowHosts) && allowHosts.length <= MAX_ALLOWED_HOSTS;
  if (!isList || !allowHosts.every(isHost)) {
    throw invalidOption(`${where}.allowHosts`, allowHosts, `at most ${MAX_ALLOWED_HOSTS} hosts such as "10.0.0.7"`);
  }
  if (typeof allowHttp !== "boolean") throw invalidOption(`${where}.allowHttp`, allowHttp, "a boolean");
  if (typeof lookup !== "function") throw invalidOption(`${where}.lookup`, lookup, "a function of a host's name");
  return { hosts: new Set(allowHosts.map(canonicalHost)), allowHttp, lookup: lookup as Lookup };
}

function isHost(value: unknown): value is string {
  return typeof value === "string" && value !== "" && canonicalHost(value) !== "";
}

/** A host as URLs write it, without brackets: `""` for what is none. */
function canonicalHost(host: string): string {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  const url = `http://${familyOf(bare) === 6 ? `[${bare}]` : bare}`;
  if (!URL.canParse(url)) return "";
  const parsed = new URL(url);
  return parsed.pathname === "/" && parsed.port === "" && parsed.username === "" ? hostOf(parsed) : "";
}

/** The host of a URL, without brackets and the dot of a full name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/**
 * Reads where a webhook goes. Whether the host's addresses may be connected to is checked at each connection again.
 *
 * @throws {SchedulerError} `invalid_option`
 */
export function readUrl(value: unknown, destinations: CheckedDestinations, where: string): URL {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string" || text.length > MAX_URL_LENGTH || !URL.canParse(text)) {
    throw refusedValue(where, showUrl(text), `an absolute URL of at most ${MAX_URL_LENGTH} characters`);
  }
  const url = new URL(text);
  url.hash = "";
  // What stands in a URL is shown; it is no place for a password.
  if (url.username !== "" || url.password !== "") {
    throw refusedValue(where, "a URL with credentials", "one without");
  }
  checkProtocol(url, destinations, where);
  const host = hostOf(url);
  if (familyOf(host) !== 0) checkAddress(host, host, destinations, where);
  else if (isLocal(host) && !destinations.hosts.has(host)) throw refusedHost(host, "loopback", where);
  return url;
}

function checkProtocol(url: URL, { hosts, allowHttp }: CheckedDestinations, where: string): void {
  if (url.protocol === "https:") return;
  if (url.protocol !== "http:") throw refusedValue(where, showUrl(url), "https:");
  const host = hostOf(url);
  const isLoopback = isLocal(host) || refusedRange(host, false) === "loopback";
  if (allowHttp || (isLoopback && hosts.has(host))) return;
  throw refusedValue(where, showUrl(url), "https:, allowHttp, or a loopback address among allowHosts");
}

function isLocal(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/**
 * Refuses an address that may not be connected to.
 *
 * @throws {SchedulerError} `permission_denied`
 */
export function checkAddress(host: string, address: string, { hosts }: CheckedDestinations, where: string): void {
  // A scope is no part of an address's range.
  const bare = address.replace(/%.*$/, "");
  const isNamedItself = hosts.has(canonicalHost(bare)) && familyOf(host) !== 0;
  const range = isNamedItself ? undefined : refusedRange(bare, hosts.has(host));
  if (range !== undefined) throw refusedHost(host, range, where);
}

/** The addresses of a URL's host that may be connected to: all that it has, or none. */
export async function addressesOf(
  url: URL,
  destinations: CheckedDestinations,
  where: string,
): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = familyOf(host) === 0 ? await destinations.lookup(host) : [host];
  if (!Array.isArray(addresses) || addresses.length === 0 || addresses.length > MAX_ADDRESSES) {
    throw new SchedulerError("invalid_option", `${where}: ${host} has no addresses, or too many`);
  }
  for (const address of addresses) checkAddress(host, String(address), destinations, where);
  return addresses;
}

/** The range is told, and the address, which may say something of the network, is not. */
function refusedHost(host: string, range: string, where: string): SchedulerError {
  return new SchedulerError(
    "permission_denied",
    `${where}: ${show(host)} is at a ${range} address, which is refused unless allowHosts names it`,
    { details: { where, host, range } },
  );
}

async function systemLookup(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}
