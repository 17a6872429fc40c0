// Encodes the FlightData messages of DoGet in one step: the body is copied once, into the buffer that gRPC sends.
import type { IpcMessage } from "./ipc-messages.ts";

// A length-delimited member is: tag, length as a varint, bytes. The body comes last, as the format recommends.
const HEADER_TAG = (2 << 3) | 2;
// 1000 << 3 | 2 = 8002 as a varint
const BODY_TAG = [0xc2, 0x3e] as const;

/** arrow.flight.protocol.FlightData of one message. */
export function encodeFlightData({ header, body }: IpcMessage): Buffer<ArrayBuffer> {
  const bodyBytes = body.length === 0 ? 0 : BODY_TAG.length + varintBytes(body.length) + body.length;
  const data = Buffer.allocUnsafe(1 + varintBytes(header.length) + header.length + bodyBytes);
  data[0] = HEADER_TAG;
  let at = putVarint(data, 1, header.length);
  data.set(header, at);
  at += header.length;
  if (bodyBytes > 0) {
    data.set(BODY_TAG, at);
    at = putVarint(data, at + BODY_TAG.length, body.length);
    data.set(body, at);
  }
  return data;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes++;
  return bytes;
}

/** Returns the position after it. */
function putVarint(target: Uint8Array, start: number, value: number): number {
  let at = start;
  let left = value;
  for (; left > 0x7f; left >>>= 7) target[at++] = (left & 0x7f) | 0x80;
  target[at] = left;
  return at + 1;
}
