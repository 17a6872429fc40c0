// FlightData as it is written by hand is what a reader of the format reads.
import { expect, test } from "bun:test";
import { encodeFlightData } from "./flight-data.ts";
import { FlightData } from "./flight-messages.ts";

// around the lengths at which a varint grows
const LENGTHS = [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152];

test.each(LENGTHS.flatMap((header) => LENGTHS.map((body) => [header, body])))("a header of %d bytes and a body of %d", (header, body) => {
  const message = { header: new Uint8Array(header!).fill(1), body: new Uint8Array(body!).fill(2) };
  const { descriptor, ...found } = FlightData.decode(encodeFlightData(message));
  expect(descriptor).toBeUndefined();
  expect(found.appMetadata.length).toBe(0);
  expect(Buffer.from(found.header).equals(message.header)).toBe(true);
  expect(Buffer.from(found.body).equals(message.body)).toBe(true);
});

test("FlightData has header in field 2 and body in field 1000", () => {
  const data = encodeFlightData({ header: new Uint8Array([0xaa, 0xbb]), body: new Uint8Array([0xcc]) });
  // field 2: data_header, field 1000: data_body
  expect(data.toString("hex")).toBe("1202aabbc23e01cc");
});
