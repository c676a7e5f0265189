/** The pages of a studio, which its tabs lead to. */
import { studioPath } from './studio-context.ts'

export type StudioSection = 'live' | 'videos' | 'channel' | 'editors'

interface SectionTab {
  readonly section: StudioSection
  readonly title: string
  /** Whether editors have it too. */
  readonly forEditors: boolean
}

export const SECTIONS: readonly SectionTab[] = [
  { section: 'live', title: 'Live', forEditors: true },
  { section: 'videos', title: 'Videos', forEditors: true },
  { section: 'channel', title: 'Channel', forEditors: false },
  { section: 'editors', title: 'Editors', forEditors: false },
]

export const sectionPath = (login: string, section: StudioSection): string =>
  section === 'live' ? studioPath(login) : `${studioPath(login)}/${section}`
