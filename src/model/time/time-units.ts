// Time units of constant length in nanoseconds: on the scale of i64 times since 1970 a day has 24 hours.

export const SECOND_NS = 1_000_000_000n;
export const MINUTE_NS = 60n * SECOND_NS;
export const HOUR_NS = 60n * MINUTE_NS;
export const DAY_NS = 24n * HOUR_NS;
