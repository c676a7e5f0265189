import {
  deleteMediaServer,
  getMediaServer,
  listMediaServers,
  putMediaServer,
  rotateMediaServerSecret,
} from '../control/media-servers.ts'
import { action, createForm, editForm, type Resource, removeForm } from './resource.ts'

const set = action('set', putMediaServer, ['edge-1 --adapter nginx-rtmp --api-url http://127.0.0.1:8088'], {
  form: editForm(getMediaServer, 'The media server was changed.'),
})
const list = action('list', listMediaServers, [''])
const show = action('show', getMediaServer, ['edge-1'])
const rotate = action('rotate', rotateMediaServerSecret, ['edge-1 --grace-seconds 600'], {
  confirm: 'undoable',
  form: { path: 'rotate-secret', title: 'Rotate secret', done: 'The secret was replaced.' },
})
const remove = action('remove', deleteMediaServer, ['edge-1 --yes'], {
  confirm: 'by-name',
  form: removeForm('The media server was removed.', { title: 'Remove' }),
})

export const mediaServers: Resource = {
  nouns: [
    {
      words: 'media',
      meaning: 'media servers that report their publishers',
      actions: [set, list, show, rotate, remove],
    },
  ],
  tables: [
    {
      path: 'media-servers',
      title: 'Media servers',
      one: 'media server',
      group: 'Live',
      list: listMediaServers,
      get: getMediaServer,
      key: 'name',
      name: 'name',
      columns: ['name', 'adapter', 'api_url', 'playback_url', 'user_id', 'created_at'],
      empty: 'No media server reports here. The embedded one needs no entry.',
      create: { ...set, form: createForm('Add media server', 'The media server was added.') },
      actions: [set, rotate, remove],
    },
  ],
}
