import { rotateStreamKey } from '../control/channels.ts'
import { createStreamKey, deleteStreamKey, listStreamKeys, readStreamKey } from '../control/stream-keys.ts'
import { action, type Resource } from './resource.ts'

const add = action(
  'add',
  createStreamKey,
  ['lunar_otter guest --valid-until 2099-03-08T12:00:00Z', 'lunar_otter second-encoder'],
  { arguments: ['name'] },
)
const list = action('list', listStreamKeys, ['lunar_otter'])
const show = action('show', readStreamKey, ['lunar_otter', 'lunar_otter --name guest'], {
  reveals: 'anyone who sees the key can broadcast to this channel',
})
const remove = action('remove', deleteStreamKey, ['lunar_otter second-encoder --yes'], { confirm: 'final' })
export const rotateKey = action(
  'rotate',
  rotateStreamKey,
  ['lunar_otter --grace-seconds 3600', 'brave_newt --yes'],
  {
    confirm: 'final',
    confirmWithout: 'grace_seconds',
    form: { path: 'rotate-key', title: 'Rotate stream key', done: 'The stream key was replaced.' },
  },
)

export const streamKeys: Resource = {
  nouns: [
    {
      words: 'key',
      meaning: 'stream keys: the main key of a channel, and extra ones',
      actions: [add, list, show, remove, rotateKey],
    },
  ],
}
