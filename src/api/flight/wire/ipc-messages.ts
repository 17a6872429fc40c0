// Splits an Arrow IPC stream into its messages: schema, dictionaries, record batches. Bytes may arrive in any pieces; a message within one
// piece is not copied.
import { assert } from "../../../model/assert.ts";

// | 0xffffffff u32 | header bytes u32 | header: a flatbuffer, padded to 8 bytes | body: as long as the header says |
const PREFIX_BYTES = 8;
const CONTINUATION = 0xffffffff;

/** `header` and `body` are views of the received pieces. */
export interface IpcMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

/** Splits the bytes of one IPC stream into messages. Use: `push` for every piece, then `finish`. */
export class IpcSplitter {
  /** Bytes of an incomplete message. */
  private rest: Uint8Array = NO_BYTES;

  /** Adds bytes and returns the completed messages, without end-of-stream marks. @throws Error for bytes that are no IPC stream: it is
   *  our own, so that is a bug */
  *push(piece: Uint8Array): Generator<IpcMessage> {
    let bytes = this.rest.length === 0 ? piece : joined(this.rest, piece);
    for (;;) {
      const parts = messageAt(bytes);
      if (parts === null) break;
      bytes = bytes.subarray(parts.end);
      if (parts.header.length > 0) yield parts;
    }
    this.rest = bytes;
  }

  /** @throws Error if the stream ended within a message */
  finish(): void {
    assert(this.rest.length === 0, `an IPC stream broke off ${this.rest.length} bytes into a message`);
  }
}

/** The message at the start of `bytes`; null if incomplete. An end-of-stream mark has no header. */
function messageAt(bytes: Uint8Array): (IpcMessage & { readonly end: number }) | null {
  if (bytes.length < PREFIX_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  assert(view.getUint32(0, true) === CONTINUATION, "a message of an IPC stream begins with its mark");
  const bodyStart = PREFIX_BYTES + view.getUint32(4, true);
  if (bytes.length < bodyStart) return null;
  const header = bytes.subarray(PREFIX_BYTES, bodyStart);
  const end = bodyStart + bodyBytes(header);
  return bytes.length < end ? null : { header, body: bytes.subarray(bodyStart, end), end };
}

/** The table Message of Arrow's Message.fbs, of which only one member is read here. */
const BODY_LENGTH_MEMBER = 3;

/** `bodyLength` of a message's header. */
function bodyBytes(header: Uint8Array): number {
  if (header.length === 0) return 0;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  // a flatbuffer starts with the position of its table, a table with the distance to the list of its members' positions
  const table = view.getUint32(0, true);
  const members = table - view.getInt32(table, true);
  const slot = 4 + 2 * BODY_LENGTH_MEMBER;
  const place = slot < view.getUint16(members, true) ? view.getUint16(members + slot, true) : 0;
  return place === 0 ? 0 : Number(view.getBigInt64(table + place, true));
}

/** One message in the form of an IPC stream. */
export function encapsulated({ header, body }: IpcMessage): Uint8Array<ArrayBuffer> {
  const headerBytes = Math.ceil(header.length / 8) * 8;
  const bytes = new Uint8Array(PREFIX_BYTES + headerBytes + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, CONTINUATION, true);
  view.setUint32(4, headerBytes, true);
  bytes.set(header, PREFIX_BYTES);
  bytes.set(body, PREFIX_BYTES + headerBytes);
  return bytes;
}

/** The messages of a whole stream. */
export function splitWhole(bytes: Uint8Array): IpcMessage[] {
  const splitter = new IpcSplitter();
  const messages = [...splitter.push(bytes)];
  splitter.finish();
  return messages;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
