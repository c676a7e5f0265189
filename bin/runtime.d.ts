/** The path of Bun's program, installed beside the file with this URL. */
export function findBun(from: string): string
/** Words for Bun before the program's own: nothing is taken from the current folder. */
export function bunWords(folder?: string): string[]
/** The program to run in Bun: the bundle, or in a checkout the sources if they have changed since it was built. */
export function programFile(folder?: string): string
/** Whether `dist` is built from the sources that are there. */
export function isBuiltFromSources(folder: string): boolean
/** What the bundle depends on, with the time of the last change of each file, and the text of package.json. */
export function stateOfSources(folder: string): string
/** The file with that of the bundle, in the folder of the package. */
export const SOURCES_FILE: string
/** Settings of the allocator of Bun, in its environment. */
export const ALLOCATOR: Readonly<Record<string, string>>
