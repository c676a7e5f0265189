/** Writes to standard output and waits until a pipe has taken all of it: the process may end right behind. */
export async function print(text: string): Promise<void> {
  await Bun.write(Bun.stdout, text)
}
