/** A video with markers of one's choice, imported for one proof. */
import type { TestServer } from '../support/server.ts'

export interface NewVideo {
  readonly id: string
  readonly user_id: string
  readonly login: string
}

export type Marks = readonly (readonly [position_seconds: number, description: string])[]

let made = 0

/** Of two hours, and over; or of a stream that is live. */
export async function newMarkedVideo(
  server: TestServer,
  marks: Marks,
  { title = '' }: { readonly title?: string } = {},
): Promise<NewVideo> {
  const number = ++made
  const [user] = await server.control('POST', '/users', { login: `marked_${number}` })
  await server.control('PATCH', `/channels/${user.id}`, { title })
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
  const answer = await server.call({
    method: 'POST',
    path: '/control/import',
    token: server.world.operator_token,
    rawBody: lines.map(line => `${JSON.stringify(line)}\n`).join(''),
  })
  if (answer.body.at(-1)?.summary?.lines !== lines.length) throw new Error(`not imported: ${answer.text}`)
  return { id, user_id: user.id, login: user.login }
}
