// What https is spoken with, on every port.

/** PEM texts. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
  /** Older versions are refused. */
  readonly minimum?: "tls-1.2" | "tls-1.3";
}

/** The suites of TLS 1.2, in OpenSSL's names: those with a key of their own for each connection, so that a key stolen
 *  later decrypts no recorded traffic, and with authenticated encryption. All of TLS 1.3 are of that kind and need no naming. */
export const CIPHERS = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");
