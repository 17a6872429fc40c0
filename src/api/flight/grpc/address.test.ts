// Which addresses only this machine reaches.
import { expect, test } from "bun:test";
import { isLoopback } from "./address.ts";

test.each(["127.0.0.1", "127.8.0.1", "localhost", "::1", "[::1]", "[0:0:0:0:0:0:0:1]", "::ffff:127.0.0.1"])("%s is this machine", (name) =>
  expect(isLoopback(name)).toBe(true),
);

test.each(["0.0.0.0", "::", "[::]", "10.0.0.1", "192.168.127.1", "127.example.com", "localhost.example.com", "::ffff:10.0.0.1"])(
  "%s is reached by others",
  (name) => expect(isLoopback(name)).toBe(false),
);
