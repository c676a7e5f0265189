/** @jsxRuntime automatic @jsxImportSource preact */
/** Pages that report what went wrong, and lead somewhere. */
import type { StrandError } from '../../client/index.ts'
import type { Problem } from '../../contract/problem.ts'
import type { Page } from './page.ts'

interface Way {
  readonly href: string
  readonly title: string
}

const HOME: Way = { href: '/', title: 'See who is live' }

/** `ways`: where to go from here, the best one first. */
export function problemPage(
  status: number,
  title: string,
  sentence: string,
  ways: readonly Way[] = [HOME],
): Page {
  return {
    title,
    status,
    body: (
      <div class="panel problem">
        <p class="code">{status}</p>
        <h1>{title}</h1>
        <p>{sentence}</p>
        <div class="actions">
          {ways.map(({ href, title: name }, index) => (
            <a key={href} class={index === 0 ? 'button primary' : 'button'} href={href}>
              {name}
            </a>
          ))}
        </div>
      </div>
    ),
  }
}

const FAILURES: ReadonlyMap<number, string> = new Map([
  [400, 'Invalid request'],
  [404, 'Page not found'],
  [413, 'Form too large'],
  [429, 'Too many requests'],
  [500, 'Something went wrong'],
  [503, 'Temporarily unavailable'],
])

/** The page for a call of the API that failed while a page was rendered. */
export function apiFailurePage({ status, message, requestId }: StrandError): Page {
  return failurePage({ status: status === 0 ? 503 : status, message }, requestId ?? '')
}

/** The error page for a problem. */
export function failurePage(
  { status, message }: Pick<Problem, 'status' | 'message'>,
  requestId: string,
  ways: readonly Way[] = [HOME],
): Page {
  const title = FAILURES.get(status) ?? 'Request failed'
  if (status === 404)
    return problemPage(status, title, 'There is no page at this address. The link may be wrong or outdated.')
  if (status === 429) {
    const sentence = 'Too many requests from your network. Wait a minute and try again.'
    return problemPage(status, title, sentence, ways)
  }
  if (status < 500) {
    const advice = 'Go back and try again. If an application sent you here, its link may be wrong.'
    return problemPage(status, title, `${message.replace(/\.?$/, '.')} ${advice}`, ways)
  }
  const sentence =
    status === 503
      ? 'The server cannot handle the request right now. Try again in a moment.'
      : `The server encountered an error. If it happens again, report the request ID ${requestId} to the operator of this server.`
  return problemPage(status, title, sentence, ways)
}

/** The form failed the CSRF check. */
export function expiredFormPage(): Page {
  return problemPage(
    403,
    'Invalid or expired form',
    'The form came from another site, it has expired, or your browser does not store cookies for this site (over plain HTTP, browsers store them only for localhost). Reload the page and try again.',
    [{ href: '/login', title: 'Log in' }, HOME],
  )
}
