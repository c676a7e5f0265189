/** Sends a form of the page without leaving it. The server answers a script with JSON where it would redirect a browser. */

/** The input was refused; the message is for the person. */
export class FormRefused extends Error {
  override readonly name = 'FormRefused'
}

const EXPIRED = 'The page has expired. Reload it and try again.'

export async function sendForm(action: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(action, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: Object.entries(fields)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&'),
    redirect: 'manual',
  })
  if (response.ok) return
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const { message = EXPIRED } = isJson ? ((await response.json()) as { message?: string }) : {}
  throw new FormRefused(message)
}

/** The values of a form by name. */
export function fieldsOf(form: HTMLFormElement): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const each of form.elements)
    if ((each instanceof HTMLInputElement || each instanceof HTMLSelectElement) && each.name !== '')
      fields[each.name] = each.value
  return fields
}
