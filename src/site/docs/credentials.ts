/** The token that a tried request carries. Pasted ones are kept in the memory of this page and nowhere else. */
import { useEffect, useState } from 'preact/hooks'
import { SITE_CLIENT_ID } from '../../contract/site-client.ts'
import { PageToken } from '../scripts/page-token.ts'
import type { OperationForm, Way } from './forms.ts'

export interface Pasted {
  readonly token: string
  readonly clientId: string
  readonly operatorToken: string
}

let pasted: Pasted = { token: '', clientId: '', operatorToken: '' }
const watchers = new Set<(pasted: Pasted) => void>()

/** What is pasted into one form is in all of them. */
export function usePasted(): [Pasted, (change: Partial<Pasted>) => void] {
  const [shown, setShown] = useState(pasted)
  useEffect(() => {
    watchers.add(setShown)
    return () => void watchers.delete(setShown)
  }, [])
  const change = (part: Partial<Pasted>) => {
    pasted = { ...pasted, ...part }
    for (const show of watchers) show(pasted)
  }
  return [shown, change]
}

const siteTokens = new Map<string, PageToken>()

/** The headers that carry the token. */
export async function credentialsFor(form: OperationForm, way: Way): Promise<Record<string, string>> {
  if (way === 'none') return {}
  if (way === 'paste') return pastedHeaders(form, pasted)
  const name = form.scopes.join(' ')
  const token = siteTokens.get(name) ?? new PageToken(form.scopes)
  siteTokens.set(name, token)
  return credentialHeaders(form, await token.get(), SITE_CLIENT_ID)
}

function pastedHeaders(form: OperationForm, { token, clientId, operatorToken }: Pasted) {
  return credentialHeaders(form, (form.family === 'control' ? operatorToken : token).trim(), clientId.trim())
}

/** The credentials as they are shown: without the secret. */
export function shownHeaders(form: OperationForm, way: Way, shown: Pasted): Record<string, string> {
  if (way === 'none') return {}
  if (way === 'site') return credentialHeaders(form, '<a token for this request>', SITE_CLIENT_ID)
  const { token, operatorToken } = shown
  const isGiven = (form.family === 'control' ? operatorToken : token).trim() !== ''
  const secret = isGiven ? '<the token that you pasted>' : ''
  return pastedHeaders(form, { ...shown, token: secret, operatorToken: secret })
}

function credentialHeaders(
  { family }: OperationForm,
  token: string,
  clientId: string,
): Record<string, string> {
  return {
    ...(token !== '' && { Authorization: `Bearer ${token}` }),
    ...(family === 'helix' && clientId !== '' && { 'Client-Id': clientId }),
  }
}
