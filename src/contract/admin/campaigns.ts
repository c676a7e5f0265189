import {
  addWatchedMinutes,
  deleteCampaign,
  explainCampaign,
  getCampaign,
  getCampaignReport,
  listCampaigns,
  publishCampaign,
  putCampaign,
  stopCampaign,
} from '../control/campaigns.ts'
import { REEF } from './examples.ts'
import { action, createForm, editForm, type Resource, removeForm } from './resource.ts'

const WEEK = '0b6f5a1e-6f0a-4f38-8f9f-2f4f3f1e9c10'
const DRAFT = '0b6f5a1e-6f0a-4f38-8f9f-2f4f3f1e9c20'
const SAVED = 'The campaign was saved.'

const put = action(
  'put',
  putCampaign,
  [
    `${WEEK} --body campaign.json`,
    `${DRAFT} --name "Reef month" --org ${REEF} --game 33214 --starts-at 2099-03-01T12:00:00Z --ends-at 2099-03-08T12:00:00Z`,
  ],
  {
    takesBody: true,
    form: editForm(getCampaign, SAVED),
  },
)
/** The command creates campaigns with `put`, too. */
const create = {
  ...put,
  form: createForm('Create campaign', SAVED, {
    generates: 'campaign_id',
    required: ['name', 'organization_id', 'game_id', 'starts_at', 'ends_at'],
  }),
}
const list = action('list', listCampaigns, [`--org ${REEF} --state published`], {
  columns: ['id', 'name', 'game_id', 'state', 'ends_at'],
})
const show = action('show', getCampaign, [WEEK])
const publish = action('publish', publishCampaign, [WEEK], {
  form: { path: 'publish', title: 'Publish', done: 'The campaign is published.' },
})
const stop = action('stop', stopCampaign, [WEEK], {
  confirm: 'undoable',
  form: { path: 'stop', title: 'Stop', done: 'The campaign was stopped.' },
})
const explain = action('explain', explainCampaign, [`${WEEK} --user brave_newt --channel lunar_otter`], {
  form: { path: 'explain', title: 'Explain', done: '', shows: ['rule', 'holds', 'seen'] },
})
const report = action('report', getCampaignReport, [WEEK, `${WEEK} --format csv`])
const add = action('add-minutes', addWatchedMinutes, [`${WEEK} brave_newt --add 5`], {
  form: { path: 'add-minutes', title: 'Add minutes', done: 'The minutes were added.' },
})
const remove = action('delete', deleteCampaign, [`${DRAFT} --yes`], {
  confirm: 'final',
  form: removeForm('The campaign was deleted.'),
})

export const campaigns: Resource = {
  nouns: [
    {
      words: 'campaign',
      meaning: 'drops campaigns, in which viewers earn benefits by watching',
      actions: [put, list, show, publish, stop, explain, report, add, remove],
    },
  ],
  tables: [
    {
      path: 'campaigns',
      title: 'Campaigns',
      one: 'campaign',
      group: 'Drops',
      list: listCampaigns,
      get: getCampaign,
      key: 'id',
      name: 'name',
      columns: ['name', 'state', 'phase', 'game_id', 'organization_id', 'starts_at', 'ends_at', 'id'],
      glance: 'state',
      empty: 'There are no campaigns. They let viewers earn drops by watching.',
      create,
      actions: [publish, stop, put, explain, add, remove],
      parts: [
        {
          title: 'Funnel',
          operation: getCampaignReport,
          by: 'campaign_id',
          columns: ['name', 'required_minutes', 'reached', 'claimed'],
          shares: { of: 'viewers', fields: ['reached', 'claimed'] },
        },
      ],
    },
  ],
}
