// MessagePack of the v1 API byte for byte, as InfluxDB 1.6.7 (Debian) answered for the same data.
import { describe, expect, test } from "bun:test";
import type { Plain } from "../../../test/support/rows/result-batch.ts";
import { BOOLEAN, FLOAT, INTEGER, ONLY, S, series, TEXT, TIME, V } from "../../../test/support/sql/v1-pieces.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { V1Answer } from "../../model/query/v1-answer.ts";
import { pieceBytes } from "../encoder.ts";
import { createV1Encoder, v1Bytes, v1Failure, v1Refusal } from "./encode.ts";

describe("MessagePack", () => {
  const MSGPACK: V1Answer = { ...ONLY, form: "msgpack" };
  const hex = (answer: V1Answer, pieces: readonly SeriesPiece[]) => {
    const encoder = createV1Encoder(answer);
    const parts = [...pieces.map(pieceBytes(encoder)), encoder.end()];
    return Buffer.concat(parts.filter((part) => part !== null)).toString("hex");
  };
  const BY = [series("g", [["host", "a"]], V, [[1n, 1]]), series("g", [["host", "b"]], V, [[2n, 2]])];

  test("series by tags", () => {
    expect(hex(MSGPACK, BY)).toBe(
      "81a7726573756c74739182ac73746174656d656e745f696400a67365726965739284a46e616d65a167a47461677381a4686f7374a161a7636f" +
        "6c756d6e7392a4746" +
        "96d65a176a676616c7565739192c70c05000000000000000000000001cb3ff000000000000084a46e616d65a167a47461677381a4686f737" +
        "4a162a7636f6c756d" +
        "6e7392a474696d65a176a676616c7565739192c70c05000000000000000000000002cb4000000000000000",
    );
  });

  test("integers in the smallest size that holds them with a sign", () => {
    const rows: Plain[][] = [
      [1n, -5n, 70000n, -200n, 9223372036854775807n],
      [2n, 300n, -40000n, -3000000000n, -33n],
      [3n, 127n, 128n, 255n, 256n],
      [4n, 65535n, 65536n, 4294967295n, 4294967296n],
      [5n, -32n, -128n, -129n, -32768n],
      [6n, -32769n, -2147483648n, -2147483649n, 32767n],
    ];
    expect(hex(MSGPACK, [series("g", null, { time: TIME, w: INTEGER, x: INTEGER, y: INTEGER, z: INTEGER }, rows)])).toBe(
      "81a7726573756c74739182ac73746174656d656e745f696400a67365726965739183a46e616d65a167a7636f6c756d6e7395a474696d65a177" +
        "a178a179a17aa67661" +
        "6c7565739695c70c05000000000000000000000001fbd200011170d1ff38d37fffffffffffffff95c70c05000000000000000000000002d1" +
        "012cd2ffff63c0d3ff" +
        "ffffff4d2fa200d0df95c70c050000000000000000000000037fd10080d100ffd1010095c70c05000000000000000000000004d20000ffff" +
        "d200010000d3000000" +
        "00ffffffffd3000000010000000095c70c05000000000000000000000005e0d080d1ff7fd1800095c70c05000000000000000000000006d2" +
        "ffff7fffd280000000" +
        "d3ffffffff7fffffffd17fff",
    );
  });

  test("no rows, NULL, text of more than 255 bytes, times before 1970", () => {
    expect(hex(MSGPACK, [])).toBe("81a7726573756c74739182ac73746174656d656e745f696400a673657269657390");
    const long = hex(MSGPACK, [series("n", null, { time: TIME, s: TEXT }, [[1n, "x".repeat(300)]])]);
    expect(long).toStartWith(
      "81a7726573756c74739182ac73746174656d656e745f696400a67365726965739183a46e616d65a16ea7636f6c756d6e7392a474696d65a173" +
        "a676616c7565739192c7" +
        "0c05000000000000000000000001da012c787878",
    );
    expect(hex(MSGPACK, [series("neg", null, V, [[-1_500_000_001n, 1]])])).toEndWith("92c70c05fffffffffffffffe1dcd64ffcb3ff0000000000000");
    expect(
      hex(MSGPACK, [
        series("m", null, { b: BOOLEAN, v: FLOAT, w: INTEGER }, [
          [false, Number.NaN, null],
          [true, -0, 3n],
        ]),
      ]),
    ).toEndWith("9293c2c0c093c3cb800000000000000003");
  });

  test("in chunks, with times as numbers", () => {
    const rows: Plain[][] = [
      [S, 1],
      [2n * S, 2],
      [3n * S, 3],
    ];
    const head =
      "81a7726573756c74739183ac73746174656d656e745f696400a67365726965739184a46e616d65a16da7636f6c756d6e7392a474696d65a176a676616c756573";
    const last =
      "81a7726573756c74739182ac73746174656d656e745f696400a67365726965739183a46e616d65a16da7636f6c756d6e7392a474696d65a176a676616c756573";
    expect(hex({ ...MSGPACK, chunkRows: 2, epochNs: 1e9 }, [series("m", null, V, rows)])).toBe(
      `${head}929201cb3ff00000000000009202cb4000000000000000a77061727469616cc3a77061727469616cc3${last}919203cb4008000000000000`,
    );
  });

  test("several statements, warnings and errors", () => {
    const of = (statementId: number): V1Answer => ({
      ...MSGPACK,
      ...{ statementId, isFirst: statementId === 0, isLast: statementId === 1, statementCount: 2 },
    });
    const text = "deprecated use of 'CREATE DATABASE foo' in a read only context, please use a POST request instead";
    expect(
      Buffer.concat([v1Bytes(of(0), [], [{ level: "warning", text }]), v1Failure(of(1), "database not found: db2")]).toString("hex"),
    ).toBe(
      "81a7726573756c74739283ac73746174656d656e745f696400a86d657373616765739182a56c6576656ca77761726e696e67a474657874d961" +
        "646570726563617465" +
        "6420757365206f66202743524541544520444154414241534520666f6f2720696e20612072656164206f6e6c7920636f6e746578742c2070" +
        "6c65617365207573652061" +
        "20504f5354207265717565737420696e7374656164a67365726965739081a56572726f72b76461746162617365206e6f7420666f756e643a2064623" +
        "2",
    );
    expect(Buffer.from(v1Refusal({ form: "msgpack", isPretty: false }, null)).toString("hex")).toBe("81a7726573756c747390");
  });
});
