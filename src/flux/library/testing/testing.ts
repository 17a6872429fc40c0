// Packages `testing`, `internal/testing`, `internal/testutil` and `testing/expect`: assertions of scripts that test others.
import { gathered, type Tables } from "../../tables/stream.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { compileRegexp } from "../../values/regexp.ts";
import { Bytes, Dictionary, Duration, FluxArray, FluxFunction, FluxRecord, NULL, Time, UInt, type Value } from "../../values/value.ts";
import { difference } from "../experimental/diff.ts";
import type { LibraryPackage } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";

const assertEmpty = operator(
  () =>
    function* (input): Tables {
      let count = 0;
      for (const table of input) {
        if (table !== null && !table.isEmpty) count++;
        yield table;
      }
      if (count > 0) throw new UnplacedError(`found ${count} tables that were not empty`);
    },
);

export const TESTING: LibraryPackage = {
  path: "testing",
  name: "testing",
  source: `
import "array"
import "experimental"
option tags = []
option load = (tables=<-) => tables
builtin assertEquals : (name: string, <-got: stream[A], want: stream[A]) => stream[A]
builtin assertEmpty : (<-tables: stream[A]) => stream[A]
diff = (got=<-, want, verbose=false, epsilon=0.000001, nansEqual=false) =>
    experimental.diff(got: got, want: want) |> yield(name: "errorOutput")
assertEqualValues = (got, want) => {
    table = (value) => array.from(rows: [{v: value}])
    return diff(got: table(value: got), want: table(value: want))
}
shouldError = (fn, want) => {
    outcome = experimental.catch(fn: fn)
    return
        if exists outcome.msg then
            array.from(rows: [{v: outcome.msg}]) |> filter(fn: (r) => r.v !~ want) |> yield(name: "errorOutput")
        else
            die(msg: "shouldError expected an error")
}
`,
  natives: {
    assertEmpty,
    assertEquals: (call) => {
      const name = call.string("name");
      return streamOf(call, [call.stream("got"), call.stream("want")], function* ([got, want]): Tables {
        const gots = yield* gathered(got!);
        const wants = new Map((yield* gathered(want!)).map((table) => [table.key.text, table]));
        for (const table of gots) {
          const isEqual = difference(table.key, wants.get(table.key.text), table) === null;
          if (!isEqual || !wants.delete(table.key.text)) throw new FluxError(`test ${name}: tables not equal`);
        }
        if (wants.size > 0) throw new FluxError(`test ${name}: tables not equal`);
        yield* gots;
      });
    },
  },
};

export const INTERNAL_TESTING: LibraryPackage = {
  path: "internal/testing",
  name: "testing",
  source: `
import "array"
import "experimental"
import "regexp"
import "testing"
shouldErrorWithCode = (fn, want, code) => {
    outcome = experimental.catch(fn: fn)
    return
        if exists outcome.msg then
            testing.diff(
                got: array.from(rows: [{code: outcome.code, match: outcome.msg =~ want}]),
                want: array.from(rows: [{code: code, match: true}]),
            )
        else
            die(msg: "shouldErrorWithCode expected an error")
}
assertMatches = (got, want) =>
    if got =~ want then
        testing.assertEqualValues(got: "", want: "")
    else
        die(msg: "Regex \`\${regexp.getString(r: want)}\` does not match \`\${got}\`")
`,
  natives: {},
};

class One extends FluxFunction {
  constructor() {
    super("returnOne", []);
  }

  override get typeText(): string {
    return "() => int";
  }

  override call(): Value {
    return 1n;
  }
}

/** A value of each kind, by the name of the kind. */
const SAMPLES: Readonly<Record<string, () => Value>> = {
  string: () => "foo",
  bytes: () => new Bytes(new TextEncoder().encode("foo")),
  int: () => 10n,
  uint: () => new UInt(10n),
  float: () => 10,
  bool: () => false,
  time: () => new Time(100n),
  duration: () => new Duration(0n, 0n),
  regexp: () => compileRegexp("a"),
  array: () => new FluxArray([]),
  object: () => new FluxRecord(new Map()),
  function: () => new One(),
  dictionary: () => new Dictionary(new Map()),
};

export const TESTUTIL: LibraryPackage = {
  path: "internal/testutil",
  name: "testutil",
  source: `
builtin fail : () => bool
builtin yield : (<-v: A) => A
builtin makeRecord : (o: A) => B where A: Record, B: Record
builtin makeAny : (typ: string) => A
`,
  natives: {
    fail: () => {
      throw new FluxError("fail");
    },
    yield: (call) => call.value("v"),
    makeRecord: (call) => call.record("o"),
    makeAny: (call) => SAMPLES[call.string("typ")]?.() ?? NULL,
  },
};

/** The plan is the server's own: there are no rules to expect. */
export const EXPECT: LibraryPackage = {
  path: "testing/expect",
  name: "expect",
  source: "builtin planner : (rules: [string:int]) => {}",
  natives: { planner: () => new FluxRecord(new Map()) },
};
