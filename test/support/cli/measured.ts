/** A program run to its end, with what it took. */
export interface Measured {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** The most memory that it had at once, in bytes. */
  readonly memory: number
  readonly cpuSeconds: number
}

/**
 * Starts the program and reports what it used. It is a small separate process: Linux counts into the peak of a child what
 * the process had that started it, and a process that runs tests may have hundreds of megabytes.
 */
const STARTER = `const child = Bun.spawn(process.argv.slice(1), { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
const [stdout, stderr, code] = await Promise.all([
  new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited,
])
const { maxRSS = 0, cpuTime } = child.resourceUsage() ?? {}
console.log(JSON.stringify({ code, stdout, stderr, memory: maxRSS, cpuSeconds: Number(cpuTime?.total ?? 0) / 1e6 }))`

export async function measured(
  words: readonly string[],
  { cwd, env = process.env }: { cwd: string; env?: Record<string, string | undefined> },
): Promise<Measured> {
  const starter = Bun.spawn([process.execPath, '-e', STARTER, ...words], {
    cwd,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(starter.stdout).text()) as Measured
}
