import { deleteEditor, getChannel, listEditors, patchChannel, putEditor } from '../control/channels.ts'
import { USER_COLUMNS } from './fields.ts'
import { action, type Resource } from './resource.ts'

const show = action('show', getChannel, ['lunar_otter'])
export const editChannel = action(
  'edit',
  patchChannel,
  [
    'lunar_otter --title "First light over the reef" --game 33214 --tag Relaxed --tag English',
    'brave_newt --language de --is-mature --no-vod-enabled --no-game --no-tag',
    'brave_newt --delay 30 --content-classification-label Gambling --is-branded-content',
  ],
  { form: { path: 'channel', title: 'Edit channel', done: 'The channel was changed.', edits: getChannel } },
)

export const addEditor = action(
  'add',
  putEditor,
  ['lunar_otter brave_newt', 'lunar_otter brave_newt --created-at 2026-02-20T08:15:00Z'],
  {
    form: { path: 'add-editor', title: 'Add editor', done: 'The editor was added.', omit: ['created_at'] },
  },
)
const editorList = action('list', listEditors, ['lunar_otter'], { columns: USER_COLUMNS })
export const removeEditor = action('remove', deleteEditor, ['lunar_otter brave_newt'], {
  confirm: 'undoable',
  form: { path: 'remove-editor', title: 'Remove editor', done: 'The editor was removed.', hidden: true },
})

/** Channels. The console has them on the pages of their users. */
export const channels: Resource = {
  nouns: [
    { words: 'channel', meaning: 'channels of users', actions: [show, editChannel] },
    { words: 'editor', meaning: 'editors of a channel', actions: [addEditor, editorList, removeEditor] },
  ],
}
