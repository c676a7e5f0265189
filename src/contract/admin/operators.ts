import { createOperator, deleteOperator, listOperators } from '../control/operators.ts'
import { action, createForm, type Resource, removeForm } from './resource.ts'

const create = action('create', createOperator, ['night-shift'], {
  arguments: ['name'],
  form: createForm('Create operator', 'The operator was created.'),
})
const list = action('list', listOperators, [''])
const remove = action('delete', deleteOperator, ['night-shift --yes'], {
  confirm: 'by-name',
  form: removeForm('The operator token was revoked.', { title: 'Revoke', inRow: true }),
})

export const operators: Resource = {
  nouns: [{ words: 'operator', meaning: 'named operator tokens', actions: [create, list, remove] }],
  tables: [
    {
      path: 'operators',
      title: 'Operators',
      one: 'operator',
      group: 'People',
      list: listOperators,
      key: 'name',
      name: 'name',
      columns: ['name', 'created_at'],
      empty: 'Only the initial operator token exists. Named tokens show who changed what.',
      create,
      actions: [remove],
    },
  ],
}
