import { describe, expect, it } from "vitest";
import { webhooks, type WebhooksOptions } from "../../../plugins/transports/http/mod.ts";
import { webhookTask } from "../../../plugins/transports/http/webhook/task.ts";
import { refusedRange } from "../../../plugins/transports/http/webhook/addresses.ts";
import { SECRET } from "./deliveries.ts";

/** Address, its range if it is refused to everybody, its range if it is refused to a host that is allowed by name. */
const TABLE: readonly [address: string, range: string | undefined, named: string | undefined][] = [
  ["8.8.8.8", undefined, undefined],
  ["1.1.1.1", undefined, undefined],
  ["172.15.255.255", undefined, undefined],
  ["172.32.0.0", undefined, undefined],
  ["100.63.255.255", undefined, undefined],
  ["100.128.0.0", undefined, undefined],
  ["2606:4700:4700::1111", undefined, undefined],
  ["2a00:1450:4001:830::200e", undefined, undefined],
  ["127.0.0.1", "loopback", undefined],
  ["127.255.255.254", "loopback", undefined],
  ["::1", "loopback", undefined],
  ["10.0.0.0", "private", undefined],
  ["10.255.255.255", "private", undefined],
  ["172.16.0.0", "private", undefined],
  ["172.31.255.255", "private", undefined],
  ["192.168.0.1", "private", undefined],
  ["fc00::1", "uniqueLocal", undefined],
  ["fdff::1", "uniqueLocal", undefined],
  ["100.64.0.0", "carrierGradeNat", undefined],
  ["100.127.255.255", "carrierGradeNat", undefined],
  ["169.254.169.254", "linkLocal", "linkLocal"],
  ["169.254.0.0", "linkLocal", "linkLocal"],
  ["fe80::1", "linkLocal", "linkLocal"],
  ["100.100.100.200", "carrierGradeNat", "metadata"],
  ["168.63.129.16", "metadata", "metadata"],
  ["::ffff:168.63.129.16", "metadata", "metadata"],
  ["168.63.129.15", undefined, undefined],
  ["fd00:ec2::254", "uniqueLocal", "metadata"],
  ["fd00:ec2::23", "uniqueLocal", "metadata"],
  ["fd20:ce::254", "uniqueLocal", "metadata"],
  ["fd20:ce:0::0:254", "uniqueLocal", "metadata"],
  ["fd00:c1::a9fe:a9fe", "uniqueLocal", "metadata"],
  ["fd00:42::42", "uniqueLocal", "metadata"],
  ["0.0.0.0", "unspecified", "unspecified"],
  ["0.1.2.3", "unspecified", "unspecified"],
  ["::", "unspecified", "unspecified"],
  ["255.255.255.255", "broadcast", "broadcast"],
  ["224.0.0.1", "multicast", "multicast"],
  ["239.255.255.255", "multicast", "multicast"],
  ["ff02::1", "multicast", "multicast"],
  ["240.0.0.1", "reserved", "reserved"],
  ["192.0.0.1", "reserved", "reserved"],
  ["192.0.2.1", "reserved", "reserved"],
  ["198.51.100.1", "reserved", "reserved"],
  ["203.0.113.1", "reserved", "reserved"],
  ["198.18.0.1", "reserved", "reserved"],
  ["198.19.255.255", "reserved", "reserved"],
  ["2001:db8::1", "reserved", "reserved"],
  ["fec0::1", "deprecatedSiteLocal", "deprecatedSiteLocal"],
  // IPv4 in the clothes of IPv6: mapped, compatible, translated, tunnelled.
  ["::ffff:127.0.0.1", "loopback", undefined],
  ["::ffff:7f00:1", "loopback", undefined],
  ["::ffff:10.0.0.1", "private", undefined],
  ["::ffff:169.254.169.254", "linkLocal", "linkLocal"],
  ["::ffff:8.8.8.8", undefined, undefined],
  ["::127.0.0.1", "loopback", undefined],
  ["::7f00:1", "reserved", "reserved"],
  ["64:ff9b::7f00:1", "rfc6052", "rfc6052"],
  ["64:ff9b::808:808", "rfc6052", "rfc6052"],
  ["2002:7f00:1::", "6to4", "6to4"],
  ["2001::1", "teredo", "teredo"],
  ["4000::1", "reserved", "reserved"],
  ["", "unknown", "unknown"],
  ["localhost", "unknown", "unknown"],
  ["127.0.0.1:80", "unknown", "unknown"],
  ["127.1", "unknown", "unknown"],
  ["0177.0.0.1", "unknown", "unknown"],
];

describe("addresses that a webhook may go to", () => {
  it.each(TABLE)("%s: %s, and %s where its host is allowed by name", (address, range, named) => {
    expect([refusedRange(address, false), refusedRange(address, true)]).toEqual([range, named]);
  });
});

/** Every spelling that the WHATWG URL parser reads as an address, and names that are the machine itself. */
const REFUSED_URLS = [
  "https://127.0.0.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0177.0.0.1/",
  "https://127.1/",
  "https://①②⑦.0.0.1/",
  "https://localhost/",
  "https://LOCALHOST./",
  "https://a.localhost:8443/",
  "https://[::1]/",
  "https://[::ffff:10.0.0.1]/",
  "https://169.254.169.254/latest/meta-data/",
  "https://10.1.2.3/",
  "https://0/",
];

describe("a webhook's URL", () => {
  const make = (url: unknown, more: object = {}) =>
    webhookTask("notify", { url: url as string, secret: SECRET, ...more });

  it.each(REFUSED_URLS)("refuses %s", (url) => {
    expect(() => make(url)).toThrow(expect.objectContaining({ code: "permission_denied" }));
  });

  it.each([
    "http://example.com/",
    "http://localhost/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "https://user@example.com/",
    "https://user:hunter2@example.com/",
    "https://",
    "/hooks",
    "",
    `https://example.com/${"x".repeat(2_000)}`,
    undefined,
    null,
    42,
    {},
  ])("refuses %j", (url) => {
    let message = "";
    try {
      make(url);
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid_option" });
      message = (error as Error).message;
    }
    expect(message).toContain("webhookTask notify.url");
    expect(message).not.toContain("hunter2");
  });

  it.each([
    ["https://example.com/hooks?x=1#y", {}],
    ["https://example.com:8443/", {}],
    ["http://example.com/", { allowHttp: true }],
    ["http://127.0.0.1:8080/", { allowHosts: ["127.0.0.1"] }],
    ["http://localhost:8080/", { allowHosts: ["LocalHost."] }],
    ["http://[::1]:8080/", { allowHosts: ["::1"] }],
    ["http://[::1]:8080/", { allowHosts: ["[0:0:0:0:0:0:0:1]"] }],
    ["https://10.0.0.7/", { allowHosts: ["10.0.0.7"] }],
    ["https://169.254.10.10/", { allowHosts: ["169.254.10.10"] }],
    [new URL("https://example.com/"), {}],
  ])("takes %s with %j", (url, more) => {
    expect(make(url, more).name).toBe("notify");
  });

  it.each([
    ["notaurl", '"notaurl"; expected an absolute URL'],
    ["notaurl?key=hunter2", '"notaurl?…"; expected an absolute URL'],
    ["https://user:hunter2@host:99999/", '"https://…"; expected an absolute URL'],
    ["user:hun/ter2@host", '"…"; expected https:'],
    ["https://u:hunter2@example.com/", "a URL with credentials; expected one without"],
    ["ftp://example.com/x?key=hunter2", '"ftp://example.com/x?…"; expected https:'],
    ["http://example.com/x?key=hunter2", '"http://example.com/x?…"; expected https:, allowHttp'],
    [7, "7; expected an absolute URL"],
    [undefined, "undefined; expected an absolute URL"],
  ])("shows of %j what is no secret", (url, told) => {
    expect(() => make(url)).toThrow(`webhookTask notify.url: ${told}`);
    expect(() => make(url)).not.toThrow(/hunter|ter2/);
  });

  it("says of a secret that none was given, or what it is not", () => {
    expect(() => webhooks({} as WebhooksOptions)).toThrow(
      'webhooks.secret: nothing given; expected text of "whsec_" and base64',
    );
    const make = (secret: unknown) => () => webhooks({ secret: secret as string });
    expect(make("hunter2")).toThrow("webhooks.secret: (hidden); expected text of");
    expect(make(["whsec_Aw=="])).toThrow("webhooks.secret[0]: 1 bytes given; expected from 16 to 64 bytes");
    expect(make([SECRET, {}])).toThrow("webhooks.secret[1]: an object given; expected text of");
    expect(make([])).toThrow("webhooks.secret: 0 secrets given; expected from 1 to 5 of them");
  });

  it("refuses http: to a private host that is only allowed by name, and another host than the named one", () => {
    expect(() => make("http://10.0.0.7/", { allowHosts: ["10.0.0.7"] })).toThrow("expected https:, allowHttp, or");
    expect(() => make("https://10.0.0.8/", { allowHosts: ["10.0.0.7"] })).toThrow("private address");
  });

  it.each([["a b"], [""], ["https://example.com"], ["127.0.0.1:8080"], [7], Array(101).fill("a")])(
    "refuses %j among allowHosts",
    (...allowHosts) => {
      expect(() => make("https://example.com", { allowHosts })).toThrow(
        expect.objectContaining({ code: "invalid_option" }),
      );
    },
  );
});
