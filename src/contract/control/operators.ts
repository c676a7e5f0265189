import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { exampleOperatorToken, OperatorToken, OperatorTokenWithSecret } from '../resources/operator.ts'
import { Type } from '../schema.ts'

/** Named operator tokens: each can be revoked without affecting the others. */
export const createOperator = controlOperation('POST /control/operators', {
  id: 'CreateOperator',
  summary: 'Create a named operator token; only this answer contains the token.',
  body: Type.Object({
    name: Type.String({
      pattern: '^[a-z0-9-]{1,40}$',
      hint: '1 to 40 lower-case letters, digits or hyphens',
    }),
  }),
  returns: singleSchema(OperatorTokenWithSecret),
  problems: ['taken'],
  example: {
    body: { name: exampleOperatorToken.name },
    answer: { data: [{ ...exampleOperatorToken, token: '<OPERATOR_TOKEN>' }] },
  },
})

export const listOperators = controlOperation('GET /control/operators', {
  id: 'ListOperators',
  summary: 'List the named operator tokens by name, without the tokens.',
  ...listing(OperatorToken),
  example: { answer: { data: [exampleOperatorToken], pagination: {} } },
})

export const deleteOperator = controlOperation('DELETE /control/operators/{name}', {
  id: 'DeleteOperator',
  summary: 'Revoke a named operator token immediately.',
  problems: ['name_not_found'],
  example: { params: { name: exampleOperatorToken.name } },
})
