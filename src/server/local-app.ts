import { NO_PEER } from '../http/request-context.ts'
import { Lifetime } from '../kit/lifetime.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { Services } from '../operations/implement.ts'
import { Unavailable } from '../store/errors.ts'
import { createApp } from './app.ts'
import type { AppOptions } from './app-options.ts'

/** An app without listeners: requests are answered inside this process. */
export interface LocalApp {
  readonly services: Services
  readonly operatorToken: string
  answer(request: Request): Promise<Response>
  close(): Promise<void>
}

/** For the command line, which works on a store whether or not a server is running on it. */
export async function openLocalApp(options: AppOptions): Promise<LocalApp> {
  const lifetime = new Lifetime()
  try {
    const { application, services, operatorToken, catchUp } = await createApp(options, lifetime, {
      role: 'command',
      isDraining: () => false,
    })
    return {
      services,
      operatorToken,
      answer: async request => {
        if (needsMemory(request)) await catchUp()
        return application.handle(request, NO_PEER, ['helix', 'drops', 'oauth', 'playback', 'control'])
      },
      close: () => lifetime.close(),
    }
  } catch (error) {
    // An error on close has the same cause; the first one explains it best.
    await lifetime.close().catch(() => undefined)
    throw error instanceof Unavailable
      ? new OperatorError(
          `the store cannot be read: ${error.message}; run strand verify or strand doctor for details`,
        )
      : error
  }
}

/** Operations of the control API read the store, except the list of what is live; all others read what is in memory. */
function needsMemory({ url }: Request): boolean {
  const { pathname } = new URL(url)
  return !pathname.startsWith('/control/') || pathname === '/control/streams'
}
