/** Asks a media server whether Strand can use its API, and Strand whether the media server can use its callbacks. Changes nothing. */
import { sha256Hex } from '../kit/crypto/digest.ts'
import type { MediaServerAddress } from '../store/queries/media-servers.ts'
import type { ApiCall, MediaServerApi } from './adapters/adapter.ts'
import { adapters } from './adapters/index.ts'
import { INGEST_APPLICATION, PLAYBACK_APPLICATION } from './adapters/nginx-rtmp.ts'
import { ApiFailure, type ApiResponse, apiAt } from './api-call.ts'
import { deriveApiSecret } from './api-secret.ts'

/** A clock that differs more makes sessions appear out of order. */
const CLOCK_SECONDS = 5
const CALLBACK_MILLISECONDS = 2000

export interface MediaServerState {
  readonly problems: readonly string[]
  /** Undefined: the API does not report them. */
  readonly publishers: number | undefined
}

/** `configuration`: the text of the configuration that the media server uses, with its secret. */
export async function checkMediaServer(
  server: MediaServerAddress,
  configuration?: string,
): Promise<MediaServerState> {
  const { api } = adapters[server.adapter]
  const problems: string[] = []
  const callbacks = configuration === undefined ? [] : callbacksIn(configuration, server)
  if (configuration !== undefined) problems.push(...(await checkCallbacks(callbacks)))
  if (api === undefined) return { problems, publishers: undefined }
  if (server.api_url === null) {
    problems.push('no API URL is given, so a lost callback is never noticed: give one with --api-url')
    return { problems, publishers: undefined }
  }
  const secrets = callbacks.map(({ secret }) => deriveApiSecret(sha256Hex(secret)))
  const found = await checkApi(server.adapter, api, server.api_url, secrets)
  return { problems: [...problems, ...found.problems], publishers: found.publishers }
}

async function checkApi(
  adapter: MediaServerAddress['adapter'],
  api: MediaServerApi,
  url: string,
  secrets: readonly string[],
): Promise<MediaServerState> {
  const problems: string[] = []
  let ahead = 0
  const noteResponse = ({ date }: ApiResponse) => {
    // The header Date has whole seconds.
    if (date !== null) ahead = (Date.now() - Date.parse(date) - 500) / 1000
  }
  try {
    const call = apiAt(url, { noteResponse, ...(api.hasSecret && { secrets }) })
    if (adapter === 'node-media-server') await call('/api/v1/health')
    const isOpen = !api.hasSecret || secrets.length > 0
    const publishers = isOpen ? (await api.publishers(call)).length : await expectLocked(api, call)
    if (adapter === 'nginx-rtmp') problems.push(...(await checkNginx(call)))
    if (Math.abs(ahead) > CLOCK_SECONDS)
      problems.push(`its clock differs by ${Math.abs(ahead).toFixed(0)} s: synchronize both clocks with NTP`)
    return { problems, publishers }
  } catch (error) {
    problems.push(`the API at ${url} cannot be used: ${explainError(error)}`)
    return { problems, publishers: undefined }
  }
}

/** Without its secret the API of a media server answers 401 if it is there. */
async function expectLocked(api: MediaServerApi, call: ApiCall): Promise<undefined> {
  try {
    await api.publishers(call)
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return undefined
    throw error
  }
  throw new ApiFailure('it answers without a token: use the configuration of strand media add')
}

function explainError(error: unknown): string {
  if (error instanceof SyntaxError) return 'the answer is not JSON'
  if (error instanceof ApiFailure && error.status === 401)
    return 'it refuses the token of Strand: use the secrets of strand media add'
  return (error as Error).message
}

interface CallbackUrl {
  readonly url: string
  readonly secret: string
}

/** The callback URLs of a media server in the text of its configuration. */
function callbacksIn(configuration: string, { adapter, name }: MediaServerAddress): CallbackUrl[] {
  const pattern = new RegExp(`https?://[^\\s"';<>]+/ingest/${adapter}/${name}/([^\\s"';<>?]+)`, 'g')
  const found = [...configuration.matchAll(pattern)].map(([url, secret = '']) => ({ url, secret }))
  return [...new Map(found.map(each => [each.url, each])).values()]
}

/** Strand cannot read the empty object, and answers 400 if the secret is right. */
async function checkCallbacks(callbacks: readonly CallbackUrl[]): Promise<string[]> {
  if (callbacks.length === 0)
    return ['the configuration has no callback URL of this media server: use the one of strand media add']
  const problems = await Promise.all(
    callbacks.map(async ({ url }) => {
      const { origin } = new URL(url)
      try {
        const signal = AbortSignal.timeout(CALLBACK_MILLISECONDS)
        const { status } = await fetch(url, { method: 'POST', body: '{}', redirect: 'manual', signal })
        if (status === 400) return []
        return status === 403
          ? ['Strand refuses the secret in the configuration: strand media add --rotate prints another one']
          : [
              `the callback URL at ${origin} was answered with status ${status}: that is not the operator listener`,
            ]
      } catch {
        return [`nothing answers the callback URL at ${origin}: correct it with --callback-url`]
      }
    }),
  )
  return problems.flat()
}

async function checkNginx(call: ApiCall): Promise<string[]> {
  const problems: string[] = []
  const statistics = await call('/stat')
  for (const application of [INGEST_APPLICATION, PLAYBACK_APPLICATION]) {
    if (!statistics.includes(`<name>${application}</name>`))
      problems.push(`it has no application "${application}": use the configuration of strand media add`)
  }
  // Drops nothing: a login has at least one letter or digit.
  const dropped = await call(`/control/drop/publisher?app=${INGEST_APPLICATION}&name=-`).catch(
    () => undefined,
  )
  if (dropped === undefined) problems.push('/control is not available, so publishers cannot be disconnected')
  return problems
}
