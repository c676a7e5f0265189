/**
 * Whether a secret stayed behind where none may be: in the store or in the log. Secrets have a shape, so each of them is a
 * canary; in other encodings the last ones that were on the wire are looked for. Every test server asks when it stops.
 */
import { existsSync, readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { isWellFormed } from '../../../src/auth/tokens.ts'
import type { StorePlace } from '../server.ts'
import { occurring } from './occurring.ts'

const SECRET = /s(?:app|usr|ref|sec|opr|ses|cod|med|rst)_[A-Za-z0-9]{38}/g
const STREAM_KEY = /live_[0-9]+_[A-Za-z0-9]{30}/g
const DEVICE_CODE = /"device_code":"([A-Za-z0-9]{40})"/g
/** How many are looked for as they are and in other encodings. */
const LOOKED_FOR = 60

export class Canaries {
  readonly #seen = new Set<string>()

  /** Takes note of the secrets in what went over the wire. */
  note(text: string): void {
    for (const [secret] of text.matchAll(SECRET)) this.#add(secret)
    for (const [key] of text.matchAll(STREAM_KEY)) this.#add(key)
    for (const [, code = ''] of text.matchAll(DEVICE_CODE)) this.#add(code)
  }

  /** A secret without a shape, such as a password. */
  add(secret: string): void {
    this.#add(secret)
  }

  #add(secret: string): void {
    this.#seen.delete(secret)
    this.#seen.add(secret)
    if (this.#seen.size > LOOKED_FOR)
      for (const oldest of [...this.#seen].slice(0, 10)) this.#seen.delete(oldest)
  }

  /** The secrets found in a text, each with the form it was found in. */
  leaksIn(text: string): string[] {
    const leaks = [...text.matchAll(SECRET)].map(([secret]) => secret).filter(isWellFormed)
    const forms = [...this.#seen].flatMap(secret => [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      Buffer.from(secret).toString('base64url'),
    ])
    return [...leaks, ...occurring(forms, text)]
  }
}

/** Everything that the store holds, as text: the files of the embedded one, every row of every table of the other. */
export async function contentsOf({ folder, databaseUrl }: StorePlace): Promise<string> {
  if (databaseUrl === undefined) {
    return ['strand.db', 'strand.db-wal']
      .map(name => `${folder}/${name}`)
      .filter(existsSync)
      .map(file => readFileSync(file, 'latin1'))
      .join('\n')
  }
  const client = new SQL(databaseUrl, { max: 1 })
  // A table without a page has no row, and most have none.
  const tables: { name: string }[] = await client.unsafe(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0`,
  )
  const rows = tables.map(({ name }) => `select t::text as row from "${name}" t`).join(' union all ')
  const contents: { row: string }[] = tables.length === 0 ? [] : await client.unsafe(rows)
  await client.close()
  return contents.map(({ row }) => row).join('\n')
}
