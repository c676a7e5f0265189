/**
 * The metrics of one scrape. Code that counts keeps plain numbers and reports them here on request, so that counting needs no
 * look-up and no allocation. A family is plain data and can be sent between processes.
 */

import { assertDefined } from '../assert-defined.ts'
import type { Histogram } from './histogram.ts'

/** Values come from fixed lists and never from a request, which bounds their number. */
export type Labels = Readonly<Record<string, string>>

interface Sample {
  /** Appended to the name of the family: nothing, `_bucket`, `_sum` or `_count`. */
  readonly suffix: string
  readonly labels: Labels
  readonly value: number
}

export interface MetricFamily {
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

type Rows<T> = T | Iterable<readonly [Labels, T]>

/** A source of metrics. */
export interface Measured {
  measure(metrics: Metrics): void
}

export class Metrics {
  readonly families: MetricFamily[] = []

  /** A value that only grows; its name ends in `_total`. */
  counter(name: string, help: string, rows: Rows<number>): void {
    this.#add('counter', name, help, plain(rows))
  }

  /** A value that goes up and down. */
  gauge(name: string, help: string, rows: Rows<number>): void {
    this.#add('gauge', name, help, plain(rows))
  }

  histogram(name: string, help: string, rows: Rows<Histogram>): void {
    const samples = [...labelled(rows)].flatMap(([labels, histogram]) => spread(labels, histogram))
    this.#add('histogram', name, help, samples)
  }

  #add(kind: MetricFamily['kind'], name: string, help: string, samples: readonly Sample[]): void {
    this.families.push({ name, kind, help, samples })
  }
}

function labelled<T>(rows: Rows<T>): Iterable<readonly [Labels, T]> {
  const isMany = typeof rows === 'object' && rows !== null && Symbol.iterator in rows
  return isMany ? rows : [[{}, rows as T]]
}

function plain(rows: Rows<number>): Sample[] {
  return Array.from(labelled(rows), ([labels, value]) => ({ suffix: '', labels, value }))
}

function spread(labels: Labels, histogram: Histogram): Sample[] {
  const upTo = histogram.upTo()
  const buckets = upTo.map((value, place) => {
    const le = String(histogram.steps[place] ?? '+Inf')
    return { suffix: '_bucket', labels: { ...labels, le }, value }
  })
  return [
    ...buckets,
    { suffix: '_sum', labels, value: histogram.sum },
    { suffix: '_count', labels, value: assertDefined(upTo.at(-1), 'the last step of a histogram') },
  ]
}

/** The metrics of several processes, with the label `worker`. */
export function byWorker(workers: ReadonlyMap<string, readonly MetricFamily[]>): MetricFamily[] {
  const merged = new Map<string, MetricFamily>()
  for (const [worker, families] of workers) {
    for (const family of families) {
      const samples = family.samples.map(each => ({ ...each, labels: { worker, ...each.labels } }))
      const known = merged.get(family.name)?.samples ?? []
      merged.set(family.name, { ...family, samples: [...known, ...samples] })
    }
  }
  return [...merged.values()]
}

/** The media type of the Prometheus text format. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function exposition(families: readonly MetricFamily[]): string {
  const lines: string[] = []
  for (const { name, kind, help, samples } of families) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`)
    for (const { suffix, labels, value } of samples) lines.push(`${name}${suffix}${written(labels)} ${value}`)
  }
  return `${lines.join('\n')}\n`
}

function written(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
