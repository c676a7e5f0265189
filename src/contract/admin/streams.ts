import {
  endStream,
  getChannel,
  getStream,
  kickPublisher,
  listStreams,
  startStream,
} from '../control/channels.ts'
import { getStreams } from '../helix/get-streams.ts'
import { action, type Resource } from './resource.ts'

const columns = ['user_id', 'user_login', 'game_name', 'viewer_count', 'started_at', 'title']
const terminalColumns = ['user_login', 'game_name', 'viewer_count', 'started_at', 'title']

const start = action('start', startStream, ['lunar_otter --viewer-count 478', 'brave_newt'])
const show = action('show', getStream, ['lunar_otter'])
const list = action('list', listStreams, ['', '--game 33214 --all --json'], { columns, terminalColumns })
const top = action('top', getStreams, ['', '--game 33214 --language en --all --json'], {
  columns,
  terminalColumns,
})
const end = action('end', endStream, ['brave_newt'], {
  confirm: 'undoable',
  form: {
    path: 'end',
    title: 'End stream',
    done: 'The stream has ended.',
    inRow: true,
    removes: true,
  },
})
const kick = action('kick', kickPublisher, ['lunar_otter'], {
  confirm: 'undoable',
  form: {
    path: 'disconnect',
    title: 'Disconnect publisher',
    done: 'The publisher is being disconnected.',
  },
})

export const streams: Resource = {
  nouns: [{ words: 'stream', meaning: 'live streams', actions: [start, show, list, top, end, kick] }],
  tables: [
    {
      path: 'streams',
      title: 'Streams',
      one: 'stream',
      group: 'Live',
      list: getStreams,
      get: getStream,
      key: 'user_id',
      name: 'user_name',
      columns: ['user_id', 'viewer_count', 'title', 'game_id', 'language', 'started_at'],
      filters: ['user_login', 'game_id', 'language'],
      empty: 'No channel is live.',
      actions: [end, kick],
      parts: [{ title: 'Channel', operation: getChannel, by: 'user_id' }],
    },
  ],
}
