import type { DeliveriesResult } from './deliveries.ts'
import type { SocketsResult } from './sockets.ts'

/** Which subscriptions the store has: none, a hundred about others, or a hundred of which one is about each change. */
export const SUBSCRIBED = ['none', 'others', 'one'] as const
export type Subscribed = (typeof SUBSCRIBED)[number]

interface Cost {
  readonly perSecond: number
  /** Processor time of the server for a change, with what it sends meanwhile. */
  readonly milliseconds: number
  /** To the rate without subscriptions, of the same rounds. */
  readonly ratio: number
}

export interface CostLine {
  readonly engine: string
  readonly work: string
  readonly cost: Readonly<Record<Subscribed, Cost>>
}

export interface DeliveryLine extends DeliveriesResult {
  readonly engine: string
  readonly transport: string
  /** Processor time of the server for an event, with the change. */
  readonly milliseconds: number
}

export interface SocketsLine extends SocketsResult {
  readonly count: number
  /** Resident memory of one. */
  readonly kilobytes: number
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

const costText = ({ perSecond, milliseconds }: Cost) => `${whole(perSecond)} (${milliseconds.toFixed(2)} ms)`

const compared = (cost: Cost) => `**${cost.ratio.toFixed(2)}**: ${costText(cost)}`

export function toTables(found: {
  costs: readonly CostLine[]
  deliveries: readonly DeliveryLine[]
  sockets: readonly SocketsLine[]
}): string {
  return [
    '| Changes/s (processor time of one), 32 connections | without subscriptions | 100, none matches (goal 0.9) | 100, one matches |',
    '| --- | --- | --- | --- |',
    ...found.costs.map(
      ({ engine, work, cost }) =>
        `| ${work}, ${engine} | ${costText(cost.none)} | ${compared(cost.others)} | ${compared(cost.one)} |`,
    ),
    '',
    '| Events | Received/s | p50 | p99 | Processor time of one, with its change |',
    '| --- | --- | --- | --- | --- |',
    ...found.deliveries.map(
      ({ engine, transport, perSecond, p50, p99, milliseconds }) =>
        `| ${transport}, ${engine} | ${whole(perSecond)} | ${p50.toFixed(1)} ms | ${p99.toFixed(1)} ms | ${milliseconds.toFixed(2)} ms |`,
    ),
    '',
    '| WebSockets of one node | To open | To subscribe | Resident memory of each |',
    '| --- | --- | --- | --- |',
    ...found.sockets.map(
      ({ count, openSeconds, subscribeSeconds, kilobytes }) =>
        `| ${whole(count)} | ${openSeconds.toFixed(1)} s | ${subscribeSeconds.toFixed(1)} s | ${kilobytes.toFixed(1)} KB |`,
    ),
    '',
  ].join('\n')
}
