import type { Caller } from '../domain/caller.ts'
import { sameSecret } from '../kit/digest.ts'
import { type Callers, tokenIn } from './callers.ts'

/** Who a request's credentials stand for; `invalid` if they stand for nobody. */
export type Resolution = Caller | 'invalid'

/** The caller behind `Authorization: Bearer <token>` (D-2). */
export async function resolveCaller(
  callers: Callers,
  header: string | null,
  now: number,
): Promise<Resolution> {
  const token = tokenIn(header, ['bearer'])
  if (token === undefined) return { kind: 'anonymous' }
  if (token === 'invalid') return 'invalid'
  return (await callers.find(token, now))?.caller ?? 'invalid'
}

/** The operator, if the header carries the operator's token. */
export function resolveOperator(operatorToken: string, header: string | null): Resolution {
  const [, token] = /^bearer +([^\s]+)$/i.exec(header ?? '') ?? []
  if (token === undefined) return { kind: 'anonymous' }
  return sameSecret(token, operatorToken) ? { kind: 'operator' } : 'invalid'
}
