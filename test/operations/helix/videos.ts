/** Videos made for one proof, by the commands that make them in earnest: ids and times can be chosen. */
import { isoSeconds } from '../../../src/kit/time/clock.ts'
import type { TestServer } from '../../support/server.ts'
import type { Row } from './page-rules.ts'

export interface NewVideo {
  readonly user_id: string
  readonly id?: string
  /** Milliseconds. */
  readonly started?: number
  readonly seconds?: number
  readonly title?: string
  readonly language?: string
  readonly game_id?: string
  readonly view_count?: number
  readonly description?: string
  /** The stream has not ended. */
  readonly isLive?: boolean
}

let made = 0

/** Streams and, unless it stays live, ends. Gives the id of the video. */
export async function newVideo(server: TestServer, video: NewVideo): Promise<string> {
  const { store, clock } = server.strand.services
  const { user_id, title, language, game_id, view_count, description } = video
  const id = video.id ?? String(7_000_000_000 + ++made)
  const started = video.started ?? clock.now() - 3_600_000
  if (title !== undefined || language !== undefined || game_id !== undefined)
    await store.commands.changeChannel({ user_id, title, language, game_id, video_id: '0' })
  const stream_id = String(6_000_000_000 + ++made)
  await store.commands.startStream({ user_id, stream_id, video_id: id, started_at: isoSeconds(started) })
  if (!video.isLive) await store.commands.endStream({ user_id, now: started + (video.seconds ?? 60) * 1000 })
  await store.commands.changeVideo({ id, view_count, description })
  await server.settle()
  return id
}

/** A video as an operator sees it; undefined if there is none. */
export async function storedVideo(server: TestServer, id: string): Promise<Row> {
  const { world } = server
  const answer = await server.call({ path: `/control/videos/${id}`, token: world.operator_token })
  return answer.body.data?.[0]
}
