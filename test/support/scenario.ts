// A random test step by step: what fails is told with its seed and with what was done last.

const TOLD_STEPS = 12;

/** `next` does a step and says what it was; `check` looks at what has become of it. @throws Error with the story so far */
export async function tellSteps(
  { seed, steps }: { readonly seed: number; readonly steps: number },
  next: () => Promise<string>,
  check: (step: number) => Promise<void>,
): Promise<void> {
  const story: string[] = [];
  for (let step = 0; step < steps; step++) {
    try {
      story.push(await next());
      await check(step);
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step} (${story.slice(-TOLD_STEPS).join(", ")}): ${(error as Error).message}`, { cause: error });
    }
  }
}
