import type { Static } from 'typebox'
import { resource } from '../schema.ts'
import { Name, ReturnedUuid } from './id.ts'

export const Organization = resource('Organization', 'The owner of games, benefits and entitlements.', {
  id: ReturnedUuid,
  name: Name,
})
export type Organization = Static<typeof Organization>

export const exampleOrganization: Organization = {
  id: '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1',
  name: 'Reef Interactive',
}
