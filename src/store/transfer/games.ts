import { putBenefit } from '../commands/benefits.ts'
import { putGame } from '../commands/games.ts'
import { defineResource } from './resource.ts'

export const game = defineResource('game', {
  table: 'games',
  putEach: (tx, { line }) => putGame(tx, line),
})

export const benefit = defineResource('benefit', {
  table: 'benefits',
  fixed: { fields: ['organization_id'], why: 'belongs to another organization, and cannot move' },
  putEach: (tx, { line }) => putBenefit(tx, line),
})
