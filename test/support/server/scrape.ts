/** What /metrics shows, as a monitoring system sees it. */
export interface Scrape {
  readonly text: string
  /** The value of each series, by its name with labels. */
  readonly series: ReadonlyMap<string, number>
  /** The names of families with their kind. */
  readonly kinds: ReadonlyMap<string, string>
}

export async function scrape(baseUrl: string): Promise<Scrape> {
  const answer = await fetch(`${baseUrl}/metrics`)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`/metrics answered ${answer.status}: ${text}`)
  const series = new Map<string, number>()
  const kinds = new Map<string, string>()
  for (const line of text.trimEnd().split('\n')) {
    const [, name, kind] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (name !== undefined && kind !== undefined) kinds.set(name, kind)
    if (line.startsWith('#')) continue
    const space = line.lastIndexOf(' ')
    const label = line.slice(0, space)
    if (series.has(label)) throw new Error(`${label} is there twice`)
    series.set(label, Number(line.slice(space + 1)))
  }
  return { text, series, kinds }
}
