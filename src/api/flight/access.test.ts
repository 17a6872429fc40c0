// Credentials as clients write them; the table is the one of HTTP's header.
import { expect, test } from "bun:test";
import { tokenOf } from "./access.ts";

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

const HEADERS: [header: string | undefined, token: string | null][] = [
  ["Bearer apiv3_abc", "apiv3_abc"],
  ["Token apiv3_abc", "apiv3_abc"],
  [basic("user:apiv3_abc"), "apiv3_abc"],
  [basic(":apiv3_abc"), "apiv3_abc"],
  [basic("user:"), ""],
  // two parts, one space, schemes with their capitals
  [undefined, null],
  ["", null],
  ["apiv3_abc", null],
  ["Bearer", null],
  ["Bearer ", null],
  ["Bearer  apiv3_abc", null],
  ["Bearer apiv3 abc", null],
  ["bearer apiv3_abc", null],
  ["BASIC dTpw", null],
  ["Digest apiv3_abc", null],
  [basic("no colon"), null],
  // a user name with a colon in it
  [basic("us:er:apiv3_abc"), null],
];

test.each(HEADERS)("token in header %p: %p", (header, token) => expect(tokenOf(header)).toBe(token));
