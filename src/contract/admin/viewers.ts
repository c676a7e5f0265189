import { reportViewers } from '../control/viewers.ts'
import { action, type Resource } from './resource.ts'

const set = action('set', reportViewers, ['lunar_otter=1204 brave_newt=7', '--body viewers.json'], {
  bulk: 'counts',
})

export const viewers: Resource = {
  nouns: [{ words: 'viewer', meaning: 'viewer counts of live streams', actions: [set] }],
}
