// Which versions and suites of TLS the two ports speak: each is offered alone, by an RSA and an ECDSA certificate. A port of the runtime's
// own defaults shows that the client can speak those that are refused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:tls";
import { startFlight } from "../support/flight/flight-server.ts";
import { CERTIFICATE, PRIVATE_KEY, RSA_CERTIFICATE, RSA_PRIVATE_KEY } from "./certificate.ts";
import { listening } from "./sockets.ts";

const KEYS = {
  ECDSA: { cert: CERTIFICATE, key: PRIVATE_KEY },
  RSA: { cert: RSA_CERTIFICATE, key: RSA_PRIVATE_KEY },
};
type KeyName = keyof typeof KEYS;

/** RFC 5289, RFC 7905: a key of its own for each connection, and authenticated encryption. */
const GOOD = (key: KeyName) => [`ECDHE-${key}-AES128-GCM-SHA256`, `ECDHE-${key}-AES256-GCM-SHA384`, `ECDHE-${key}-CHACHA20-POLY1305`];
/** RFC 5246 and RFC 5288 for RSA: the server's key decrypts recorded connections; and CBC with either. */
const BAD = (key: KeyName) => [
  ...[`ECDHE-${key}-AES128-SHA`, `ECDHE-${key}-AES256-SHA`],
  ...(key === "RSA" ? ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA"] : []),
];

interface Offer {
  readonly version: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";
  readonly ciphers?: string;
}

/** The version and suite that come of it; null: the server refused. */
function negotiated(port: number, { version, ciphers }: Offer): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(
      { port, host: "127.0.0.1", rejectUnauthorized: false, minVersion: version, maxVersion: version, ...(ciphers && { ciphers }) },
      () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
        socket.destroy();
      },
    );
    socket.on("error", () => resolve(null));
    socket.on("close", () => resolve(null));
  });
}

describe.each(["ECDSA", "RSA"] as const)("with an %s key", (keyName) => {
  const key = KEYS[keyName];
  const ports: { http?: number; flight?: number; newHttp?: number; newFlight?: number; control?: number } = {};
  const stops: (() => unknown)[] = [];

  beforeAll(async () => {
    for (const [http, flight, tls] of [
      ["http", "flight", key],
      ["newHttp", "newFlight", { ...key, minimum: "tls-1.3" as const }],
    ] as const) {
      const it = listening({}, { tls });
      const { server } = await startFlight(async () => Promise.reject(new Error("not asked")), { tls });
      stops.push(
        () => it[Symbol.asyncDispose](),
        () => server.stop(0),
      );
      ports[http] = it.server.port;
      ports[flight] = server.port;
    }
    const control = Bun.serve({ hostname: "127.0.0.1", port: 0, tls: key, fetch: () => new Response() });
    stops.push(() => control.stop(true));
    ports.control = control.port!;
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  const OFFERS: readonly Offer[] = [
    ...[...GOOD(keyName), ...BAD(keyName)].map((ciphers) => ({ version: "TLSv1.2", ciphers }) as const),
    ...(["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"] as const).map((version) => ({ version })),
  ];
  const isGood = ({ version, ciphers }: Offer) => version >= "TLSv1.2" && (ciphers === undefined || GOOD(keyName).includes(ciphers));

  test.each(["http", "flight"] as const)("the %s port", async (name) => {
    for (const offer of OFFERS) {
      const got = await negotiated(ports[name]!, offer);
      if (!isGood(offer)) expect([offer, got]).toEqual([offer, null]);
      else expect([offer, got]).toEqual([offer, expect.stringContaining(`${offer.version} ${offer.ciphers ?? ""}`)]);
    }
  });

  test.each(["newHttp", "newFlight"] as const)("the %s port, where 1.3 is the least", async (name) => {
    for (const offer of OFFERS) {
      const got = await negotiated(ports[name]!, offer);
      expect([offer, got]).toEqual([offer, offer.version === "TLSv1.3" ? expect.stringMatching(/^TLSv1\.3 TLS_/) : null]);
    }
  });

  test("the client can speak what is refused", async () => {
    for (const ciphers of BAD(keyName))
      expect(await negotiated(ports.control!, { version: "TLSv1.2", ciphers })).toBe(`TLSv1.2 ${ciphers}`);
  });
});
