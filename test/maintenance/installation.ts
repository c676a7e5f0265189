/** A real `strand serve` in a separate process, with a small world made over HTTP, for tests of what looks after it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, StrandProcess } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const SCOPES = ['channel:manage:broadcast', 'user:read:broadcast', 'channel:read:stream_key']

// biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent
type Body = any

export class Installation {
  readonly folder: string
  readonly url: string
  readonly process: StrandProcess

  private constructor(folder: string, url: string, process: StrandProcess) {
    this.folder = folder
    this.url = url
    this.process = process
  }

  static async start(
    folder: string,
    environment: Environment = {},
    words: readonly string[] = [],
  ): Promise<Installation> {
    const port = await freePort()
    const process = new StrandProcess(
      ['serve', '--listen', `localhost:${port}`, '--data', folder, ...words],
      {
        environment: { STRAND_RATE_USER: '0', STRAND_RATE_APP: '0', ...environment },
      },
    )
    await process.serving()
    return new Installation(folder, `http://localhost:${port}`, process)
  }

  /** A call that must succeed; gives the body. */
  async call(token: string, method: string, path: string, body?: unknown): Promise<Body> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  control(method: string, path: string, body?: unknown): Promise<Body> {
    const token = readFileSync(join(this.folder, 'operator-token'), 'utf8').trim()
    return this.call(token, method, `/control${path}`, body)
  }

  /** Everything that a walk through the pages of a list gives. */
  async all(token: string, path: string): Promise<Body[]> {
    const rows: Body[] = []
    for (let after = ''; ; ) {
      const page = await this.call(
        token,
        'GET',
        `${path}first=100${after && `&after=${encodeURIComponent(after)}`}`,
      )
      rows.push(...page.data)
      after = page.pagination.cursor ?? ''
      if (after === '') return rows
    }
  }
}

export interface SmallWorld {
  readonly organization: string
  readonly game: string
  readonly benefit: string
  readonly client: string
  readonly appToken: string
  /** Whose channels are live, each with a token for itself. */
  readonly users: readonly { readonly id: string; readonly token: string }[]
}

export async function makeSmallWorld(strand: Installation, users: number): Promise<SmallWorld> {
  const organization = (await strand.control('POST', '/organizations', { name: 'Harbor' })).data[0].id
  const game = '4711'
  await strand.control('PUT', `/games/${game}`, { name: 'Tides', organization_id: organization })
  const benefit = (
    await strand.control('POST', '/benefits', { name: 'Hat', organization_id: organization, game_id: game })
  ).data[0].id
  const client = (
    await strand.control('POST', '/clients', { name: 'Back end', organization_id: organization })
  ).data[0].id
  const mint = async (user_id?: string): Promise<string> => {
    const person = user_id === undefined ? {} : { user_id, scopes: SCOPES }
    return (await strand.control('POST', '/tokens', { client_id: client, ...person })).data[0].access_token
  }
  const people: { id: string; token: string }[] = []
  for (let n = 0; n < users; n++) {
    const id = String(1001 + n)
    await strand.control('PUT', `/users/${id}`, { login: `user_${id}` })
    await strand.control('PUT', `/channels/${id}/stream`, {})
    people.push({ id, token: await mint(id) })
  }
  return { organization, game, benefit, client, appToken: await mint(), users: people }
}

/** Runs `strand` with these words to its end. */
export async function runStrand(
  words: readonly string[],
  environment: Environment = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const strand = new StrandProcess(words, { environment })
  const code = await strand.exit()
  return { code, stdout: strand.stdout, stderr: strand.stderr }
}
