// The version, as package.json says it (test/build.long.test.ts) and the server tells it.
export const VERSION = "3.9.0";
