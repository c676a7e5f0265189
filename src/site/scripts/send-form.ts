/** Sends a form of the page without leaving it. The server answers a script with JSON where it would redirect a browser. */
import { postedForm } from '../format/with-query.ts'

/** The input was refused; the message is for the person. */
export class FormRefused extends Error {
  override readonly name = 'FormRefused'
}

const EXPIRED = 'The page has expired. Reload it and try again.'

export async function sendForm(form: HTMLFormElement): Promise<void> {
  const response = await postForm(form, 'application/json')
  if (response.ok) return
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const { message = EXPIRED } = isJson ? ((await response.json()) as { message?: string }) : {}
  throw new FormRefused(message)
}

export const postForm = (form: HTMLFormElement, accept: string): Promise<Response> =>
  fetch(form.action, {
    ...postedForm(Object.fromEntries(new FormData(form)) as Record<string, string>, accept),
    redirect: 'manual',
  })
