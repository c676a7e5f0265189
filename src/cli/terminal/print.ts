/** Writes to standard output and waits until a pipe has taken all of it: the process may end right after. */
export async function print(text: string): Promise<void> {
  await Bun.write(Bun.stdout, text)
}

/** Prints the result of a command as one line: JSON, or a sentence for people. */
export function printResult(
  flags: { readonly json?: boolean },
  result: object,
  sentence: string,
): Promise<void> {
  return print(`${flags.json ? JSON.stringify(result) : sentence}\n`)
}

/** `1 row`, `1,204 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}
