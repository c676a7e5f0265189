/**
 * Every parameter and form field of the pages, with its maximum number of characters. Query strings, forms and the query
 * string inside a consent form are all validated here, so no page validates text: the rules of the API (D-11, D-12) apply,
 * and every value that is looked up, counted or displayed is bounded.
 */
import { raise } from '../../contract/problem.ts'
import { decodeUtf8, isStorable, type Pairs, splitPairs } from '../../kit/text.ts'

/** Names, ids, codes, proofs and choices. */
const SHORT = 200
/** Above the maximum password length, so that the page can report a password that is too long. */
const PASSWORD = 10_000
/** A whole query string, which the runtime's limit on request heads bounds. */
const QUERY = 32 * 1024

export const FIELDS = {
  csrf: SHORT,
  next: QUERY,
  login: SHORT,
  password: PASSWORD,
  current: PASSWORD,
  reset: SHORT,
  display_name: SHORT,
  theme: SHORT,
  label1: SHORT,
  label2: SHORT,
  label3: SHORT,
  label4: SHORT,
  label5: SHORT,
  url1: 2000,
  url2: 2000,
  url3: 2000,
  url4: 2000,
  url5: 2000,
  username: SHORT,
  done: SHORT,
  'device-code': SHORT,
  user_code: SHORT,
  device: SHORT,
  proof: SHORT,
  user_id: SHORT,
  decision: SHORT,
  session_id: SHORT,
  request: QUERY,
  client_id: SHORT,
  redirect_uri: 2000,
  response_type: SHORT,
  scope: 8192,
  state: 8192,
  force_verify: SHORT,
  code_challenge: SHORT,
  code_challenge_method: SHORT,
  nonce: 1000,
  prompt: SHORT,
  max_age: SHORT,
  t: SHORT,
  grant: 4000,
  q: SHORT,
  game: SHORT,
  language: SHORT,
  after: 4000,
  title: 1000,
  tags: 1000,
  game_id: SHORT,
  grace: SHORT,
  description: 1000,
  marker_id: SHORT,
  video_id: SHORT,
  format: SHORT,
  drop_id: SHORT,
  claimed: SHORT,
  drops: SHORT,
  user_ids: 4000,
} as const satisfies Record<string, number>

export type FieldName = keyof typeof FIELDS

/** The validated values of known fields. An empty value counts as absent. */
export class PageFields {
  readonly #values = new Map<string, string>()

  constructor(pairs: Pairs) {
    for (const [name, value] of pairs) {
      if (value === '' || !isField(name)) continue
      if (this.#values.has(name)) raise('repeated_parameter', name)
      requireText(name, value)
      this.#values.set(name, value)
    }
  }

  get(name: FieldName): string | undefined {
    return this.#values.get(name)
  }

  static ofQuery(search: string): PageFields {
    return new PageFields(readQuery(search))
  }
}

export const readQuery = (search: string): Pairs => splitPairs(search) ?? raise('malformed_query')

export function readPairs(form: Uint8Array): Pairs {
  const text = decodeUtf8(form)
  return (text === undefined ? undefined : splitPairs(text)) ?? raise('malformed_form')
}

function isField(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name)
}

function requireText(name: FieldName, value: string): void {
  if (!isStorable(value))
    raise('malformed_parameter', name, 'the value must be well-formed Unicode without U+0000')
  const longest = FIELDS[name]
  if (value.length > longest && [...value].length > longest)
    raise('malformed_parameter', name, `the value must have at most ${longest} characters`)
}
