/** The path of Bun's program, installed beside the file with this URL. */
export function findBun(from: string): string
/** Words for Bun before the program's own: nothing is taken from the current folder. */
export function bunWords(folder?: string): string[]
