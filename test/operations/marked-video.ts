/** A video with markers of one's choice, imported for one proof. */
import type { TestServer } from '../support/server.ts'

export interface NewVideo {
  readonly id: string
  readonly user_id: string
  readonly login: string
}

export type Marks = readonly (readonly [position_seconds: number, description: string])[]

const STEP = 500
let made = 0

/** A video of two hours, of a stream that has ended. */
export async function newMarkedVideo(server: TestServer, marks: Marks): Promise<NewVideo> {
  const number = ++made
  const [user] = await server.control('POST', '/users', { login: `marked_${number}` })
  const id = `77${user.id}`
  const lines = [
    {
      type: 'video',
      id,
      user_id: user.id,
      created_at: '2026-03-01T12:00:00Z',
      ended_at: '2026-03-01T14:00:00Z',
    },
    ...marks.map(([position_seconds, description], index) => ({
      type: 'marker',
      id: `${user.id.padStart(20, '0')}${index.toString(16).padStart(12, '0')}`,
      video_id: id,
      position_seconds,
      description,
      created_at: '2026-03-01T12:04:04Z',
    })),
  ]
  for (let at = 0; at < lines.length; at += STEP) await importLines(server, lines.slice(at, at + STEP))
  return { id, user_id: user.id, login: user.login }
}

/** Again, while the store has too much to do: importing the same lines twice is harmless. */
async function importLines(server: TestServer, lines: readonly object[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const answer = await server.call({
      method: 'POST',
      path: '/control/import',
      token: server.world.operator_token,
      rawBody: lines.map(line => `${JSON.stringify(line)}\n`).join(''),
    })
    if (answer.status === 200 && answer.body.at(-1).summary?.lines === lines.length) return
    if (attempt === 10) throw new Error(`not imported: ${answer.text}`)
    await Bun.sleep(1000)
  }
}
