/**
 * Sends calls of this process to the hosts of the real API to a test server instead, for libraries whose URLs cannot be
 * changed. The paths are the same on both, so nothing of a request or an answer is rewritten: only connections are
 * redirected. In Node `fetch`, `WebSocket`, node:http, node:https and what is built on them all connect with `tls.connect`
 * or a socket of node:net. The `fetch` and the `WebSocket` of Bun do not, so there they are wrapped.
 *
 * The state is shared by all copies of this module: a package can be loaded as an ES module and as CommonJS.
 */
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import tls from 'node:tls'
import { KNOWN_HOSTS } from '../demo/known-hosts.ts'

interface Target {
  /** Such as `http://localhost:8080`. */
  readonly url: string
  readonly host: string
  readonly port: number
}

interface State {
  /** Where calls are sent to; undefined: where they are meant for. */
  target: Target | undefined
  /** Whether `strand-server/intercept` was imported: functions stay wrapped, and every server that starts is a target. */
  isImported: boolean
  /** Restores the wrapped functions. */
  restore: (() => void) | undefined
}

const STATE = Symbol.for('strand.intercept')
const shared = globalThis as { [STATE]?: State }
shared[STATE] ??= { target: undefined, isImported: false, restore: undefined }
const state: State = shared[STATE]

/** For the import of `strand-server/intercept`: libraries that are loaded later may keep the functions that they find. */
export function wrapFromNowOn(): void {
  state.isImported = true
  state.restore ??= wrapAll()
}

/** Whether a server that starts is a target, unless its options choose. */
export function interceptsByDefault(): boolean {
  return state.isImported
}

/**
 * Sends calls for api.twitch.tv, id.twitch.tv and eventsub.wss.twitch.tv to the server at this URL, such as
 * `http://localhost:8080`. Returns a function that ends it.
 */
export function intercept(url: string): () => void {
  const target = parseTarget(url)
  if (state.target !== undefined)
    throw new Error(
      `calls are intercepted for ${state.target.url} already: stop that server first, or start this one with intercept: false`,
    )
  state.restore ??= wrapAll()
  state.target = target
  return () => {
    if (state.target !== target) return
    state.target = undefined
    if (state.isImported) return
    state.restore?.()
    state.restore = undefined
  }
}

function parseTarget(url: string): Target {
  const [, host = '', port = '80'] = /^http:\/\/(\[[0-9a-f:]+\]|[^:/[\]]+)(?::([0-9]+))?\/?$/.exec(url) ?? []
  if (host === '')
    throw new TypeError(`intercept: invalid url: must be like http://localhost:8080, not "${url}"`)
  // A demo listens on both addresses of localhost.
  const address = host === 'localhost' ? '127.0.0.1' : host.replace(/^\[|\]$/g, '')
  return { url: url.replace(/\/$/, ''), host: address, port: Number(port) }
}

/** The target of a connection to this host. */
function targetFor(host: unknown, port: unknown, expectedPort: number): Target | undefined {
  if (state.target === undefined || typeof host !== 'string' || Number(port) !== expectedPort)
    return undefined
  return KNOWN_HOSTS.includes(host.toLowerCase()) ? state.target : undefined
}

function wrapAll(): () => void {
  const restores = [
    replace(tls, 'connect', wrapTlsConnect),
    replace(net.Socket.prototype, 'connect', wrapSocketConnect),
    ...(process.versions.bun === undefined
      ? []
      : [replace(globalThis, 'fetch', wrapFetch), replace(globalThis, 'WebSocket', wrapWebSocket)]),
  ]
  // For modules that import the functions by name.
  syncBuiltinESMExports()
  return () => {
    for (const restore of restores) restore()
    syncBuiltinESMExports()
  }
}

/** Replaces a function. It is restored only if nothing else has replaced it since; without a target both do the same. */
function replace<Owner, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  wrap: (original: Owner[Name]) => Owner[Name],
): () => void {
  const original = owner[name]
  const wrapped = wrap(original)
  owner[name] = wrapped
  return () => {
    if (owner[name] === wrapped) owner[name] = original
  }
}

interface ConnectOptions {
  readonly host?: unknown
  readonly port?: unknown
  readonly socket?: unknown
  readonly timeout?: number
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

/** `tls.connect(options)`, `tls.connect(port, host, options)` and `tls.connect(port, options)`, each with a callback. */
function wrapTlsConnect(original: typeof tls.connect): typeof tls.connect {
  const connect: AnyFunction = function (...args) {
    const options: ConnectOptions = Object.assign(
      {},
      typeof args[0] === 'object' ? {} : { port: args[0], host: args[1] },
      ...args.filter(each => typeof each === 'object'),
    )
    // One that exists already is a tunnel through a proxy.
    const target = options.socket ? undefined : targetFor(options.host, options.port, 443)
    if (target === undefined) return Reflect.apply(original, this, args)
    const listener = args.find(each => typeof each === 'function')
    return connectWithoutTls(target, options, listener as (() => void) | undefined)
  }
  return connect as typeof tls.connect
}

/** A plain connection with the members of a `TLSSocket` that clients use. */
function connectWithoutTls(
  { host, port }: Target,
  { timeout }: ConnectOptions,
  listener: (() => void) | undefined,
): net.Socket {
  const socket = net.connect({ host, port, ...(timeout !== undefined && { timeout }) })
  Object.assign(socket, {
    encrypted: true,
    authorized: true,
    authorizationError: null,
    alpnProtocol: false,
    getPeerCertificate: () => ({}),
    getProtocol: () => 'TLSv1.3',
    getSession: () => undefined,
    isSessionReused: () => false,
  })
  if (listener !== undefined) socket.once('secureConnect', listener)
  socket.once('connect', () => socket.emit('secureConnect'))
  return socket
}

/** Calls of `http:` URLs. node:net passes its normalized arguments as one array, of which the first are the options. */
function wrapSocketConnect(
  original: typeof net.Socket.prototype.connect,
): typeof net.Socket.prototype.connect {
  const connect: AnyFunction = function (...args) {
    const [first] = args
    const options: ConnectOptions = Array.isArray(first)
      ? first[0]
      : typeof first === 'object'
        ? first
        : { port: first, host: args[1] }
    const target = targetFor(options?.host, options?.port, 80)
    if (target === undefined) return Reflect.apply(original, this, args)
    const { host, port } = target
    const redirected = { ...options, host, port }
    if (!Array.isArray(first)) {
      const listener = args.find(each => typeof each === 'function')
      return Reflect.apply(original, this, [redirected, ...(listener === undefined ? [] : [listener])])
    }
    // The array has a mark of node:net, so it is changed, not copied.
    first[0] = redirected
    return Reflect.apply(original, this, args)
  }
  return connect as typeof net.Socket.prototype.connect
}

/** The same path and query on the target, if this is a URL of one of the hosts. */
function redirectUrl(given: string | URL, scheme: 'http' | 'ws'): { url: string; host: string } | undefined {
  if (state.target === undefined || !URL.canParse(given)) return undefined
  const { protocol, hostname, port, pathname, search } = new URL(given)
  if (!['http:', 'https:', 'ws:', 'wss:'].includes(protocol) || port !== '') return undefined
  if (!KNOWN_HOSTS.includes(hostname)) return undefined
  return { url: `${state.target.url.replace(/^http/, scheme)}${pathname}${search}`, host: hostname }
}

function wrapFetch(original: typeof fetch): typeof fetch {
  const wrapped: AnyFunction = function (...args) {
    const [input, init] = args as [RequestInfo | URL, RequestInit | undefined]
    const redirected = redirectUrl(input instanceof Request ? input.url : String(input), 'http')
    if (redirected === undefined) return Reflect.apply(original, this, args)
    const given = input instanceof Request ? new Request(input, init) : undefined
    const headers = new Headers(given?.headers ?? init?.headers)
    headers.set('Host', redirected.host)
    return given === undefined
      ? original(redirected.url, { ...init, headers })
      : original(new Request(redirected.url, given), { headers })
  }
  return Object.assign(wrapped, { preconnect: original.preconnect }) as typeof fetch
}

function wrapWebSocket(original: typeof WebSocket): typeof WebSocket {
  const wrapped: typeof WebSocket = new Proxy(original, {
    construct: (target, [url, ...rest], newTarget) =>
      Reflect.construct(
        target,
        [redirectUrl(url, 'ws')?.url ?? url, ...rest],
        newTarget === wrapped ? target : newTarget,
      ),
  })
  return wrapped
}
