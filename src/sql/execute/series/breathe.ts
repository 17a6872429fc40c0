// How long work in the query worker lets other statements run.

/** Called between steps: returns null, or a pause in which other statements run. @throws if the statement was stopped */
export type Breathe = () => Promise<void> | null;
