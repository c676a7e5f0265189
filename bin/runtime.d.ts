/** The path of Bun's program, installed beside the file with this URL. */
export function findBun(from: string): string
/** Words for Bun before the program's own: nothing is taken from the current folder. */
export function bunWords(folder?: string): string[]
/** The program to run in Bun: the sources in a checkout, the bundle in the package. */
export function programFile(folder?: string): string
/** Settings of the allocator of Bun, in its environment. */
export const ALLOCATOR: Readonly<Record<string, string>>
