/**
 * One request to the callback of a webhook. The receiver is not trusted: its address is checked, its answer is bounded in
 * time and size, and nothing of it is interpreted but the status.
 */
import { lookup } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { ReceiverAnswer } from '../domain/delivery-outcome.ts'
import type { CallbackRule } from '../domain/event-subscription.ts'
import { lazily } from '../kit/lazily.ts'
import type { AddressShares } from './address-shares.ts'
import { isPublicAddress } from './callback-address.ts'

const MAX_ANSWER_BYTES = 8 * 1024
/** Answers 1xx before the final one; a flood of them would keep this process busy until the time is over. */
const MAX_INFORMATIONAL = 10
const MAX_HEADER_BYTES = 16 * 1024
/** Time for the rest of an answer that is not needed, so that the receiver does not see a broken connection. */
const REST_MILLISECONDS = 1000
const MAX_FAILURE_LENGTH = 200
/** A host may have addresses in networks that this machine does not reach. */
const MAX_ADDRESSES_TRIED = 2
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])

export interface Resolved {
  readonly address: string
  readonly family: number
}

/** Where requests may be sent to. */
export interface SendRule {
  /** The rule for callbacks may have become stricter since the subscription was created. */
  allowsUrl(url: URL): boolean
  allowsAddress(address: string): boolean
}

export const SEND_RULES: Readonly<Record<CallbackRule, SendRule>> = {
  public: {
    allowsUrl: ({ protocol, port }) => protocol === 'https:' && port === '',
    allowsAddress: isPublicAddress,
  },
  any: { allowsUrl: () => true, allowsAddress: () => true },
}

export interface Poster {
  readonly rule: SendRule
  /** Trusted besides the well-known certificate authorities, in PEM. */
  readonly authority?: string | undefined
  readonly milliseconds: number
  /** Default: the resolver of the system. */
  resolve?(host: string): Promise<readonly Resolved[]>
}

export interface Posted {
  readonly callback: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the body of the answer is needed, or only its status. */
  readonly readsAnswer: boolean
  /** If requests of this kind to one address are limited. */
  readonly shares?: AddressShares | undefined
}

/** Nothing was sent: the request can be repeated soon. */
export const ADDRESS_BUSY = 'too many verifications at this address at the same time'

/** Sends the request. Never throws: a failure is an answer, too. */
export async function post(poster: Poster, posted: Posted): Promise<ReceiverAnswer> {
  const deadline = new AbortController()
  const { promise: late, resolve } = Promise.withResolvers<ReceiverAnswer>()
  const timer = setTimeout(() => {
    resolve({ failure: `no answer within ${poster.milliseconds / 1000} s` })
    deadline.abort()
  }, poster.milliseconds)
  try {
    return await Promise.race([late, postInTime(poster, posted, deadline.signal)])
  } finally {
    clearTimeout(timer)
  }
}

async function postInTime(poster: Poster, posted: Posted, deadline: AbortSignal): Promise<ReceiverAnswer> {
  try {
    const url = new URL(posted.callback)
    const addresses = await allowedAddresses(poster, url)
    if (typeof addresses === 'string') return { failure: addresses }
    const leave = posted.shares?.take(addresses.map(({ address }) => address))
    if (posted.shares !== undefined && leave === undefined) return { failure: ADDRESS_BUSY }
    deadline.addEventListener('abort', () => leave?.(), { once: true })
    try {
      return await exchangeWithAny(poster, posted, url, addresses, deadline)
    } finally {
      leave?.()
    }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

async function exchangeWithAny(
  poster: Poster,
  posted: Posted,
  url: URL,
  addresses: readonly Resolved[],
  deadline: AbortSignal,
): Promise<ReceiverAnswer> {
  for (const [index, address] of addresses.entries()) {
    const answer = await exchange(poster, posted, url, address, deadline)
    const isLast = index === addresses.length - 1
    if (isLast || answer.status !== undefined || !UNREACHABLE.has(answer.failure)) return answer
  }
  return { failure: 'the name of the host has no address' }
}

/** The addresses to connect to, all checked; or why there are none. */
async function allowedAddresses(
  { rule, resolve = resolveBySystem }: Poster,
  url: URL,
): Promise<readonly Resolved[] | string> {
  if (!rule.allowsUrl(url)) return 'the callback is not https on port 443'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }]
  // A name with one address inside and one outside is either a mistake or an attack.
  if (!addresses.every(({ address }) => rule.allowsAddress(address)))
    return 'the address of the callback is not public'
  return addresses.slice(0, MAX_ADDRESSES_TRIED)
}

async function resolveBySystem(host: string): Promise<readonly Resolved[]> {
  return lookup(host, { all: true })
}

/**
 * The request to one address. `fetch` is no alternative: it resolves the name a second time, and obeys the proxy settings of
 * the environment.
 */
function exchange(
  poster: Poster,
  { headers, body, readsAnswer }: Posted,
  url: URL,
  { address, family }: Resolved,
  deadline: AbortSignal,
): Promise<ReceiverAnswer> {
  const { promise, resolve } = Promise.withResolvers<ReceiverAnswer>()
  const bytes = Buffer.from(body)
  const options: RequestOptions & { ca?: string[]; rejectUnauthorized: boolean } = {
    method: 'POST',
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    rejectUnauthorized: true,
    headers: {
      ...headers,
      'Content-Length': bytes.length,
      'User-Agent': 'Strand',
      'Accept-Encoding': 'identity',
      Connection: 'close',
    },
    // The name was resolved and checked: it is not resolved again.
    lookup: (_host, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family)),
    ...(poster.authority !== undefined && { ca: [...publicAuthorities(), poster.authority] }),
  }
  const request: ClientRequest = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options)
  const settle = (answer: ReceiverAnswer) => {
    resolve(answer)
    request.destroy()
  }
  deadline.addEventListener('abort', () => request.destroy(), { once: true })
  request.on('error', error => settle({ failure: failureOf(error) }))
  request.on('close', () => settle({ failure: 'the connection was closed without an answer' }))
  let informational = 0
  request.on('information', () => {
    informational += 1
    if (informational > MAX_INFORMATIONAL) settle({ failure: 'too many informational answers' })
  })
  request.on('response', response => {
    const status = response.statusCode ?? 0
    const pieces: Buffer[] = []
    let received = 0
    const finish = () => settle({ status, body: Buffer.concat(pieces).toString() })
    const unneeded = readsAnswer ? undefined : setTimeout(finish, REST_MILLISECONDS)
    response.on('data', (piece: Buffer) => {
      received += piece.length
      if (received > MAX_ANSWER_BYTES) return readsAnswer ? settle({ failure: TOO_LONG }) : finish()
      if (readsAnswer) pieces.push(piece)
    })
    response.on('end', finish)
    response.on('error', error => (readsAnswer ? settle({ failure: failureOf(error) }) : finish()))
    response.on('close', () => clearTimeout(unneeded))
  })
  request.end(bytes)
  return promise
}

const TOO_LONG = `the answer has more than ${MAX_ANSWER_BYTES} bytes`

/** The code if there is one: messages may contain addresses. */
function failureOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return String(code ?? message ?? error).slice(0, MAX_FAILURE_LENGTH)
}

/** Parsed on first use: an import would parse them at every start of a command. */
const publicAuthorities = lazily(() => process.getBuiltinModule('node:tls').rootCertificates)
