// TLS settings of all ports.

/** PEM texts. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
  /** Older versions are rejected. */
  readonly minimum?: "tls-1.2" | "tls-1.3";
}

/** The cipher suites of TLS 1.2, in OpenSSL's names: those with forward secrecy, so that a key stolen later decrypts no recorded
 *  traffic, and with authenticated encryption. All suites of TLS 1.3 have both and need no list. */
export const CIPHERS = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");
