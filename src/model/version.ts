// The server's version; equal to package.json's (test/build.long.test.ts).
export const VERSION = "3.9.0";
