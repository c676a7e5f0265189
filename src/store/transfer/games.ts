import { putBenefit } from '../commands/benefits.ts'
import { putGame } from '../commands/games.ts'
import { asGiven, type CommandLines, fixedFields, oneByOne } from './line-type.ts'
import { storedRows } from './stored-rows.ts'

export const game: CommandLines<'game'> = {
  ...storedRows('game', { table: 'games' }),
  writes: 'commands',
  asStored: asGiven,
  put: oneByOne((tx, { line }) => putGame(tx, line)),
}

export const benefit: CommandLines<'benefit'> = {
  ...storedRows('benefit', { table: 'benefits' }),
  writes: 'commands',
  checks: [fixedFields(['organization_id'], 'belongs to another organization, and cannot move')],
  asStored: asGiven,
  put: oneByOne((tx, { line }) => putBenefit(tx, line)),
}
