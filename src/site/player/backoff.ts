const FIRST_MILLISECONDS = 500
const MAX_MILLISECONDS = 10_000

/** How long to wait before the next attempt: twice as long each time, and spread so that viewers do not return all at once. */
export function waitBefore(attempt: number, random: number): number {
  const wait = Math.min(MAX_MILLISECONDS, FIRST_MILLISECONDS * 2 ** attempt)
  return wait * (0.75 + random / 2)
}

const AWAY_MILLISECONDS = 2000

/** How long to wait before asking again whether a publisher has returned: many viewers of a broadcast ask at the same time. */
export const waitForPublisher = (random = Math.random()): number => AWAY_MILLISECONDS * (0.75 + random / 2)
