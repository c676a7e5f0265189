/**
 * Planted bugs: responses are modified on their way to the checks, as if the server were broken. The fuzzer must detect
 * each of them.
 */
import type { RawAnswer, Silence } from './connection.ts'
import type { FuzzRequest } from './request.ts'

type Spoil = (answer: RawAnswer, request: FuzzRequest) => RawAnswer | Silence

const isSuccess = ({ status, body }: RawAnswer) => status === 200 && body.length > 0
const isFailure = ({ status }: RawAnswer) => status >= 400

export const PLANTED: Readonly<Record<string, Spoil>> = {
  'a required field is missing': answer =>
    isSuccess(answer) ? withBody(answer, value => dropLast(firstItem(value))) : answer,
  'a field has another type': answer =>
    isSuccess(answer)
      ? withBody(answer, value => {
          const item = firstItem(value)
          const [name] = Object.keys(item ?? {})
          if (item !== undefined && name !== undefined) item[name] = { was: item[name] }
        })
      : answer,
  'a field that is not listed': answer =>
    isSuccess(answer) ? withBody(answer, value => Object.assign(firstItem(value) ?? {}, { row: 7 })) : answer,
  'a 500 once in a while': answer => (answer.body.length % 50 === 0 ? { ...answer, status: 500 } : answer),
  'a status that is not declared': answer => (answer.status === 404 ? { ...answer, status: 410 } : answer),
  'a charset in the content type': answer =>
    isSuccess(answer)
      ? {
          ...answer,
          headers: new Map([...answer.headers, ['content-type', 'application/json; charset=utf-8']]),
        }
      : answer,
  'another status in the body of a failure': answer =>
    isFailure(answer) ? withBody(answer, value => Object.assign(value, { status: 400 + 18 })) : answer,
  'the token in the message of a failure': (answer, { headers }) =>
    isFailure(answer)
      ? withBody(answer, value =>
          Object.assign(value, { message: `no: ${headers.find(([name]) => name === 'Authorization')?.[1]}` }),
        )
      : answer,
  'the connection is closed instead of an answer': answer => (answer.status === 400 ? 'hung up' : answer),
}

type Json = Record<string, unknown>

function withBody(answer: RawAnswer, change: (value: Json) => void): RawAnswer {
  if (answer.headers.get('content-type') !== 'application/json') return answer
  const value = JSON.parse(answer.body.toString('utf8')) as Json
  change(value)
  return { ...answer, body: Buffer.from(JSON.stringify(value)) }
}

/** The first row of the data, or the body itself. */
function firstItem(value: Json): Json | undefined {
  return Array.isArray(value.data) ? (value.data[0] as Json | undefined) : value
}

function dropLast(item: Json | undefined): void {
  const name = Object.keys(item ?? {}).at(-1)
  if (item !== undefined && name !== undefined) delete item[name]
}
