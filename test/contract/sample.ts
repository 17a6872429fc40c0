// Which operations `npm test` sends bad requests to; `full-rounds.long.test.ts` sets ALL_STATES=1 for all of them.
const IS_WHOLE = process.env["ALL_STATES"] === "1";
const EVERY = 3;

/** Whether the operation with this number in its list gets bad and random requests. */
export const isAskedBadly = (number: number): boolean => IS_WHOLE || number % EVERY === 0;

/** Whether its refused requests are followed by a look at everything there is. */
export const looksAfter = (key: string): boolean => IS_WHOLE || !/^(GET|HEAD) /.test(key);
