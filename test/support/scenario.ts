// Runs a random test step by step: a failure is reported with its seed and the last steps.

const TOLD_STEPS = 12;

/** `next` executes a step and returns its description; `check` verifies the state. @throws Error with the steps so far */
export async function tellSteps(
  { seed, steps }: { readonly seed: number; readonly steps: number },
  next: () => Promise<string>,
  check: (step: number) => Promise<void>,
): Promise<void> {
  const done: string[] = [];
  for (let step = 0; step < steps; step++) {
    try {
      done.push(await next());
      await check(step);
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step} (${done.slice(-TOLD_STEPS).join(", ")}): ${(error as Error).message}`, { cause: error });
    }
  }
}
