/** Writes to standard output and waits until a pipe has accepted everything, because the process may exit right after. */
export async function print(text: string): Promise<void> {
  // An empty write would truncate a file, with everything that other programs have written to it.
  if (text !== '') await Bun.write(Bun.stdout, text)
}

/** Prints the result of a command: with `--json` as one line of JSON, otherwise as text. */
export function printResult(flags: { readonly json?: boolean }, result: object, text: string): Promise<void> {
  return print(`${flags.json ? JSON.stringify(result) : text}\n`)
}

/** `1 row`, `1,204 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}
