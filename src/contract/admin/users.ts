import { getChannel, getStream, listEditors } from '../control/channels.ts'
import { listEntitlements } from '../control/entitlements.ts'
import { listFollows } from '../control/follows.ts'
import {
  createPasswordReset,
  createUser,
  deleteUser,
  exportUser,
  getUser,
  listUsers,
  putUser,
  suspendUser,
  unsuspendUser,
} from '../control/users.ts'
import { listVideos } from '../control/videos.ts'
import { searchChannels } from '../helix/search-channels.ts'
import { addEditor, editChannel, removeEditor } from './channels.ts'
import { USER_COLUMNS } from './fields.ts'
import { action, createForm, editForm, type Resource, removeForm } from './resource.ts'
import { rotateKey } from './stream-keys.ts'

const create = action('create', createUser, ['plucky_jackal', 'quiet_heron --display-name Quiet_Heron'], {
  arguments: ['login'],
  secret: 'password',
  form: createForm('Create user', 'The user was created.'),
})
const set = action(
  'set',
  putUser,
  [
    '141981764 --login lunar_otter --display-name Lunar_Otter',
    '25009227 --login brave_newt',
    'brave_newt --description "Night dives" --broadcaster-type affiliate --email newt@example.com',
    '25009300 --login spare_crab',
  ],
  { secret: 'password', form: editForm(getUser, 'The user was changed.') },
)
const list = action('list', listUsers, ['--first 50', '--all --json'], {
  columns: [...USER_COLUMNS, 'suspended_at'],
})
const show = action('show', getUser, ['141981764', 'lunar_otter --json'])
const suspend = action('suspend', suspendUser, ['quiet_heron --reason "Sells accounts"', 'quiet_heron'], {
  confirm: 'undoable',
  form: {
    path: 'suspend',
    title: 'Suspend',
    done: 'The user is suspended.',
    offeredFor: row => row.suspended_at === null,
  },
})
const unsuspend = action('unsuspend', unsuspendUser, ['quiet_heron'], {
  confirm: 'undoable',
  form: {
    path: 'unsuspend',
    title: 'End suspension',
    done: 'The user is no longer suspended.',
    offeredFor: row => row.suspended_at !== null,
  },
})
const resetPassword = action('reset-password', createPasswordReset, ['brave_newt', 'lunar_otter --json'], {
  reveals: 'anyone who has the link can set the password',
  form: {
    path: 'reset-password',
    title: 'Reset password',
    done: 'The link was made.',
    offeredFor: row => row.suspended_at === null,
  },
})
const exportData = action('export', exportUser, ['lunar_otter --output lunar_otter.ndjson', 'brave_newt'], {
  form: {
    path: 'export',
    title: 'Export data',
    done: 'The data was exported.',
    downloads: 'ndjson',
  },
})
const remove = action('delete', deleteUser, ['spare_crab --yes'], {
  confirm: 'by-name',
  isReport: true,
  form: removeForm('The user was deleted.', { reports: ['data', 'result', 'rows', 'reason'] }),
})

/** User accounts. The page of a user also has the channel. */
export const users: Resource = {
  nouns: [
    {
      words: 'user',
      meaning: 'user accounts',
      actions: [create, set, list, show, resetPassword, suspend, unsuspend, exportData, remove],
    },
  ],
  tables: [
    {
      path: 'users',
      title: 'Users',
      one: 'user',
      group: 'People',
      list: listUsers,
      get: getUser,
      key: 'id',
      name: 'display_name',
      columns: ['display_name', 'login', 'broadcaster_type', 'email', 'created_at', 'suspended_at'],
      findBy: 'login',
      search: { operation: searchChannels, key: 'id', name: 'display_name' },
      empty: 'There are no users yet.',
      create,
      actions: [
        set,
        resetPassword,
        editChannel,
        rotateKey,
        addEditor,
        removeEditor,
        suspend,
        unsuspend,
        exportData,
        remove,
      ],
      parts: [
        { title: 'Live now', operation: getStream, by: 'user_id' },
        { title: 'Channel', operation: getChannel, by: 'user_id' },
        { title: 'Entitlements', operation: listEntitlements, by: 'user_id', of: 'entitlements' },
        { title: 'Videos', operation: listVideos, by: 'user_id', of: 'videos' },
        {
          title: 'Editors',
          operation: listEditors,
          by: 'user_id',
          of: 'users',
          columns: ['display_name', 'login'],
          remove: { action: removeEditor, by: 'editor_id' },
        },
        {
          title: 'Follows',
          operation: listFollows,
          by: 'user_id',
          of: 'users',
          columns: ['display_name', 'login'],
        },
      ],
    },
  ],
}
