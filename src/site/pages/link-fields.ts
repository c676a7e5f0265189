import type { MAX_LINKS } from '../../contract/resources/user.ts'

/** The fields of the links of a profile, in its form. */
export const LINK_FIELDS = [
  ['label1', 'url1'],
  ['label2', 'url2'],
  ['label3', 'url3'],
  ['label4', 'url4'],
  ['label5', 'url5'],
] as const satisfies { length: typeof MAX_LINKS }
