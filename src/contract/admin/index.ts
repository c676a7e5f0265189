import { audit } from './audit.ts'
import { benefits } from './benefits.ts'
import { campaigns } from './campaigns.ts'
import { channels } from './channels.ts'
import { clients } from './clients.ts'
import { demo } from './demo.ts'
import { entitlements } from './entitlements.ts'
import { events } from './events.ts'
import { follows } from './follows.ts'
import { games } from './games.ts'
import { mediaServers } from './media-servers.ts'
import { operators } from './operators.ts'
import { organizations } from './organizations.ts'
import { type AdminTable, GROUPS, type Noun, type Resource } from './resource.ts'
import { streamKeys } from './stream-keys.ts'
import { streams } from './streams.ts'
import { users } from './users.ts'
import { videos } from './videos.ts'
import { viewers } from './viewers.ts'

const resources: readonly Resource[] = [
  users,
  organizations,
  games,
  benefits,
  clients,
  campaigns,
  channels,
  streams,
  streamKeys,
  viewers,
  follows,
  entitlements,
  videos,
  mediaServers,
  events,
  operators,
  audit,
  demo,
]

/** The nouns of the command line, in the order of its help. A test fails for an operation of the control API without a command. */
export const nouns: readonly Noun[] = resources.flatMap(each => each.nouns)

/** The tables of the console, in the order of its navigation. */
export const tables: readonly AdminTable[] = GROUPS.flatMap(group =>
  resources.flatMap(each => each.tables ?? []).filter(table => table.group === group),
)

export const tableAt = (path: string): AdminTable | undefined => tables.find(each => each.path === path)
