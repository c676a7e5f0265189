/** Values of the text of /metrics. */

/** The largest value of a metric, whatever its labels: of several workers, that of the one that has seen most. */
export function metricIn(text: string, name: string): number | undefined {
  const values = parseSamples(text, name).map(({ value }) => value)
  return values.length === 0 ? undefined : Math.max(...values)
}

/** The sum over all labels. */
export function sumIn(text: string, name: string): number {
  return parseSamples(text, name).reduce((sum, { value }) => sum + value, 0)
}

/** A label of a metric. */
export function labelIn(text: string, name: string, label: string): string | undefined {
  const [first] = parseSamples(text, name)
  return first && new RegExp(`\\b${label}="([^"]*)"`).exec(first.labels)?.[1]
}

function parseSamples(text: string, name: string): { readonly labels: string; readonly value: number }[] {
  return text
    .split('\n')
    .filter(line => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map(line => {
      const at = line.lastIndexOf(' ')
      return { labels: line.slice(name.length, at), value: Number(line.slice(at + 1)) }
    })
}
