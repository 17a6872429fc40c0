// A self-signed certificate for trying out HTTPS: created once and kept in the data folder. Clients must be told to trust it.
import { mkdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { writePrivateFile } from "../disk/private-files.ts";

export interface KeyPair {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

const DAYS = 365;
const DAY_MS = 86_400_000;
/** A certificate with less time left is replaced at start. */
const DAYS_LEFT_MIN = 7;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const SERIAL_BYTES = 16;

/** The pair stored in `folder`, or a new one if there is none or it expires soon; null: kept in memory only. @throws Error if the folder
 *  cannot be written */
export async function selfSigned(folder: string | null, nowMs: number): Promise<KeyPair> {
  if (folder === null) return make(nowMs);
  const paths = { cert: join(folder, "certificate.pem"), key: join(folder, "key.pem") };
  const kept = read(paths);
  if (kept !== null && (await endsMs(kept.cert)) > nowMs + DAYS_LEFT_MIN * DAY_MS) return kept;
  const made = await make(nowMs);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // a certificate that is there has its key: after a crash in between the old one ends soon
  writePrivateFile(paths.key, made.key);
  writePrivateFile(paths.cert, made.cert);
  return made;
}

function read(paths: KeyPair): KeyPair | null {
  try {
    return { cert: readFileSync(paths.cert, "utf8"), key: readFileSync(paths.key, "utf8") };
  } catch {
    return null;
  }
}

/** Returns 0 if it is not a certificate. */
async function endsMs(cert: string): Promise<number> {
  const { X509Certificate } = await import("node:crypto");
  try {
    return Date.parse(new X509Certificate(cert).validTo);
  } catch {
    return 0;
  }
}

/** Creates a certificate for all names of this machine. */
async function make(nowMs: number): Promise<KeyPair> {
  // must be loaded before the certificate library
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const names = new Set(["localhost", hostname()]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: Buffer.from(
      crypto.getRandomValues(new Uint8Array(SERIAL_BYTES)).map((byte, i) => (i === 0 ? byte & 0x7f : byte)),
    ).toString("hex"),
    name: "CN=localhost",
    notBefore: new Date(nowMs - DAY_MS),
    notAfter: new Date(nowMs + DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([
        ...[...names].map((value) => ({ type: "dns" as const, value })),
        ...["127.0.0.1", "::1"].map((value) => ({ type: "ip" as const, value })),
      ]),
    ],
  });
  const der = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return { cert: `${certificate.toString("pem")}\n`, key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n` };
}
