// Profiles in the format of pprof, which `go tool pprof` and many viewers read: profile.proto, compressed.
// Source: github.com/google/pprof, proto/profile.proto (field numbers).
import { gzipSync } from "node:zlib";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

export interface Frame {
  readonly name: string;
  readonly file: string;
  /** From 1; 0 = unknown. */
  readonly line: number;
}

export interface Sample {
  /** The innermost first. */
  readonly stack: readonly Frame[];
  /** One for each of the profile's kinds. */
  readonly values: readonly number[];
}

export interface Profile {
  /** What a sample counts: `["cpu", "nanoseconds"]`. */
  readonly kinds: readonly (readonly [type: string, unit: string])[];
  readonly samples: readonly Sample[];
  /** Nanoseconds since 1970. */
  readonly startNs: bigint;
  readonly durationNs?: bigint;
  /** Shown by viewers. */
  readonly comment?: string;
}

const PROFILE = { sampleType: 1, sample: 2, location: 4, function: 5, strings: 6, time: 9, duration: 10, comment: 13 } as const;
const VALUE_TYPE = { type: 1, unit: 2 } as const;
const SAMPLE = { locations: 1, values: 2 } as const;
const LOCATION = { id: 1, line: 4 } as const;
const LINE = { function: 1, line: 2 } as const;
const FUNCTION = { id: 1, name: 2, systemName: 3, file: 4 } as const;

/** The bytes of a profile, compressed. */
export function profileBytes(profile: Profile): Uint8Array<ArrayBuffer> {
  const strings = new Numbers<string>();
  strings.of(""); // the first is always the empty one
  const functions = new Numbers<string>();
  const locations = new Numbers<string>();
  const writer = new BinaryWriter();
  const inner = (field: number, write: (inner: BinaryWriter) => void) => {
    writer.tag(field, WireType.LengthDelimited).fork();
    write(writer);
    writer.join();
  };
  for (const [type, unit] of profile.kinds) {
    inner(PROFILE.sampleType, () => {
      writer.tag(VALUE_TYPE.type, WireType.Varint).int64(strings.of(type));
      writer.tag(VALUE_TYPE.unit, WireType.Varint).int64(strings.of(unit));
    });
  }
  const frames: { readonly frame: Frame; readonly functionId: number }[] = [];
  const locationOf = (frame: Frame) => {
    const functionId = functions.of(`${frame.name}\n${frame.file}`) + 1;
    const id = locations.of(`${functionId}:${frame.line}`) + 1;
    if (id > frames.length) frames.push({ frame, functionId });
    return id;
  };
  for (const { stack, values } of profile.samples) {
    const ids = stack.map(locationOf);
    inner(PROFILE.sample, () => {
      for (const id of ids) writer.tag(SAMPLE.locations, WireType.Varint).uint64(id);
      for (const value of values) writer.tag(SAMPLE.values, WireType.Varint).int64(value);
    });
  }
  for (const [i, { frame, functionId }] of frames.entries()) {
    inner(PROFILE.location, () => {
      writer.tag(LOCATION.id, WireType.Varint).uint64(i + 1);
      writer.tag(LOCATION.line, WireType.LengthDelimited).fork();
      writer.tag(LINE.function, WireType.Varint).uint64(functionId);
      writer.tag(LINE.line, WireType.Varint).int64(frame.line);
      writer.join();
    });
  }
  const written = new Set<number>();
  for (const { frame, functionId } of frames) {
    if (written.has(functionId)) continue;
    written.add(functionId);
    inner(PROFILE.function, () => {
      writer.tag(FUNCTION.id, WireType.Varint).uint64(functionId);
      writer.tag(FUNCTION.name, WireType.Varint).int64(strings.of(frame.name));
      writer.tag(FUNCTION.systemName, WireType.Varint).int64(strings.of(frame.name));
      writer.tag(FUNCTION.file, WireType.Varint).int64(strings.of(frame.file));
    });
  }
  writer.tag(PROFILE.time, WireType.Varint).int64(profile.startNs);
  if (profile.durationNs !== undefined) writer.tag(PROFILE.duration, WireType.Varint).int64(profile.durationNs);
  if (profile.comment !== undefined) writer.tag(PROFILE.comment, WireType.Varint).int64(strings.of(profile.comment));
  for (const text of strings.all) writer.tag(PROFILE.strings, WireType.LengthDelimited).string(text);
  return new Uint8Array(gzipSync(writer.finish()));
}

/** Numbers things from 0, in order of appearance. */
class Numbers<T> {
  private readonly numbers = new Map<T, number>();

  of(thing: T): number {
    const known = this.numbers.get(thing);
    if (known !== undefined) return known;
    this.numbers.set(thing, this.numbers.size);
    return this.numbers.size - 1;
  }

  get all(): Iterable<T> {
    return this.numbers.keys();
  }
}
