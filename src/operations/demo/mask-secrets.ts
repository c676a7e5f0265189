/** Replaces secrets by asterisks: by the name of their field, and by their form wherever they are. */

const MASK = '***'

const SECRET_FIELDS =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|password|secret|token|code|id_token_hint|stream_key|.*_(?:token|secret|code|key|verifier|assertion))$/i

/** Fields whose names look like the name of a secret, but which hold none. */
const HARMLESS_FIELDS = /^(?:user_code|status_code)$/i

/** Tokens and secrets that Strand issues, stream keys, and JSON Web Tokens. */
const SECRET_FORMS =
  /\b(?:s(?:app|usr|ref|sec|opr|ses|cod|med|rst)_[A-Za-z0-9]{38}|live_[0-9]+_[A-Za-z0-9]{10,}|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)/g

/** `name=value` and `"name":"value"` in text that could not be parsed, such as a form or JSON that was cut. */
const SECRET_PAIRS =
  /((?:^|[?&;\s])(?:password|secret|token|code|[a-z_]+_(?:token|secret|code|key|verifier|assertion))=)[^&\s]+|("(?:password|secret|token|code|[a-z_]+_(?:token|secret|code|key|verifier|assertion))"\s*:\s*")(?:[^"\\]|\\.?)*/gis

export function maskText(text: string): string {
  return text.replace(SECRET_FORMS, MASK).replace(SECRET_PAIRS, (_, pair, json) => `${pair ?? json}${MASK}`)
}

/** A value with the same shape. */
export function maskFields(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value)
  if (Array.isArray(value)) return value.map(maskFields)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, isSecret(name) ? mask(field) : maskFields(field)]),
  )
}

const isSecret = (name: string): boolean => SECRET_FIELDS.test(name) && !HARMLESS_FIELDS.test(name)

/** `Bearer` stays, because a wrong scheme is a common mistake. */
function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask)
  if (typeof value !== 'string') return value === null ? null : MASK
  const [, scheme = ''] = /^(Bearer |OAuth |Basic )/i.exec(value) ?? []
  return value === '' ? '' : `${scheme}${MASK}`
}
