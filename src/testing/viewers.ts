import type { ListWatchingAnswer } from '../client/api.ts'
import type { World } from '../demo/described-world.ts'
import type { Control } from './control.ts'

/** A simulated viewer. `reason` is why the last heartbeat earned nothing. */
export type WatchingViewer = ListWatchingAnswer['data'][number]

/**
 * Simulated viewers, who earn drops. Users are named as in a scenario: a user of the scenario, `broadcaster`, `editor`,
 * `offline` or `viewer` of the demo; or by their id.
 */
export interface Viewers {
  /**
   * Lets a user watch a channel, instead of another one: a heartbeat now and every 30 s of the clock, also while it is moved.
   * They are not counted in the viewers of the stream.
   */
  watch(user: string, channel: string, options?: { readonly forSeconds?: number }): Promise<WatchingViewer>
  /** Stops a user who watches. */
  stop(user: string): Promise<void>
  list(): Promise<WatchingViewer[]>
}

const ROLES = ['broadcaster', 'editor', 'offline', 'viewer'] as const

export function createViewers(control: Control, world: World): Viewers {
  const findId = (user: string): string => {
    const role = ROLES.find(each => each === user)
    const known = world.scenario?.[user]
    const id = known?.login === undefined ? role && world[role].id : known.id
    if (id !== undefined) return id
    if (/^[0-9]+$/.test(user)) return user
    throw new TypeError(
      `viewers: unknown user "${user}"; must be ${ROLES.join(', ')}, a user of the scenario or an id`,
    )
  }
  return {
    watch: async (user, channel, { forSeconds } = {}) => {
      const body = {
        channel_id: findId(channel),
        ...(forSeconds !== undefined && { for_seconds: forSeconds }),
      }
      const { data } = await control<{ data: [WatchingViewer] }>('PUT', `/watching/${findId(user)}`, body)
      return data[0]
    },
    stop: async user => void (await control('DELETE', `/watching/${findId(user)}`)),
    list: async () => (await control<ListWatchingAnswer>('GET', '/watching')).data,
  }
}
