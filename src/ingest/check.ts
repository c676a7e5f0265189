/** Asks a media server whether Strand can use its API. Changes nothing. */
import type { AdapterName } from '../contract/resources/media-server.ts'
import type { ApiCall } from './adapters/adapter.ts'
import { adapters } from './adapters/index.ts'
import { INGEST_APPLICATION, PLAYBACK_APPLICATION } from './adapters/nginx-rtmp.ts'
import { apiAt } from './api-call.ts'

/** A clock that differs more makes sessions appear out of order. */
const CLOCK_SECONDS = 5

export interface MediaServerState {
  readonly problems: readonly string[]
  /** Undefined: the API does not report them. */
  readonly publishers: number | undefined
}

export async function checkMediaServer(server: {
  readonly adapter: AdapterName
  readonly api_url: string | null
  readonly user_id: string | null
}): Promise<MediaServerState> {
  const { api } = adapters[server.adapter]
  const problems: string[] = []
  if (server.adapter === 'owncast' && server.user_id === null)
    problems.push('no channel is given, so broadcasts of this server are ignored: give one with --user')
  if (api === undefined) return { problems, publishers: undefined }
  if (server.api_url === null) {
    problems.push('no API URL is given, so a lost callback is never noticed: give one with --api-url')
    return { problems, publishers: undefined }
  }
  let ahead = 0
  const call = apiAt(server.api_url, ({ date }) => {
    // The header Date has whole seconds.
    if (date !== null) ahead = (Date.now() - Date.parse(date) - 500) / 1000
  })
  try {
    const publishers = await api.publishers(call)
    if (server.adapter === 'nginx-rtmp') problems.push(...(await checkNginx(call)))
    if (Math.abs(ahead) > CLOCK_SECONDS)
      problems.push(`its clock differs by ${Math.abs(ahead).toFixed(0)} s: synchronize both clocks with NTP`)
    return { problems, publishers: publishers.length }
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'the answer is not JSON' : (error as Error).message
    problems.push(`the API at ${server.api_url} cannot be used: ${reason}`)
    return { problems, publishers: undefined }
  }
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
