import { type MarkerExport, timelineSeconds } from './marked-video.ts'
import { markerName } from './text.ts'

/** The rules of YouTube for chapters in a description. */
const MIN_CHAPTER_SECONDS = 10
const MIN_CHAPTERS = 3
const MAX_DESCRIPTION = 5000

interface Start {
  readonly seconds: number
  readonly name: string
}

/**
 * Chapters for the description of a YouTube video. Below them is what was changed to meet YouTube's rules, and what is still
 * missing; those lines contain no timestamps, so that YouTube ignores them if they are pasted too.
 */
export function writeYoutube(given: MarkerExport): string {
  const { starts, changes } = planChapters(given)
  const chapters = starts.map(({ seconds, name }) => `${timestamp(seconds)} ${name}\n`).join('')
  const notes = [...changes, ...shortcomings(given, starts.length, chapters)]
  if (notes.length === 0) return chapters
  const lines = ['Remove these lines before you paste the chapters.', ...notes].map(note => `# ${note}\n`)
  return `${chapters}${chapters && '\n'}${lines.join('')}`
}

function planChapters(given: MarkerExport): { starts: Start[]; changes: string[] } {
  const { video, markers } = given
  const end = video.is_live ? Number.POSITIVE_INFINITY : timelineSeconds(given)
  const starts: Start[] = []
  const changes: string[] = []
  for (const [index, marker] of markers.entries()) {
    const seconds = marker.position_seconds
    const name = asDescription(markerName(marker, index))
    if (starts.length === 0 && seconds < MIN_CHAPTER_SECONDS) {
      if (seconds > 0) changes.push(`"${name}" moved to the start: the first chapter has to begin there.`)
      starts.push({ seconds: 0, name })
      continue
    }
    if (starts.length === 0) {
      changes.push('"Start" added: the first chapter has to begin at the start.')
      starts.push({ seconds: 0, name: 'Start' })
    }
    const before = seconds - (starts.at(-1)?.seconds ?? 0)
    if (before < MIN_CHAPTER_SECONDS)
      changes.push(`"${name}" left out: ${before} s after the chapter before it, at least 10 s are required.`)
    else if (end - seconds < MIN_CHAPTER_SECONDS)
      changes.push(`"${name}" left out: ${end - seconds} s before the end, at least 10 s are required.`)
    else starts.push({ seconds, name })
  }
  return { starts, changes }
}

function shortcomings({ markers }: MarkerExport, count: number, chapters: string): string[] {
  const notes: string[] = []
  if (markers.length === 0) notes.push('The video has no markers.')
  if (count < MIN_CHAPTERS)
    notes.push(`YouTube shows chapters if there are at least ${MIN_CHAPTERS}; there are ${count}.`)
  if (chapters.length > MAX_DESCRIPTION)
    notes.push(
      `A description has at most ${MAX_DESCRIPTION} characters; the chapters have ${chapters.length}.`,
    )
  return notes
}

/** `4:04`, `1:02:03`. */
function timestamp(seconds: number): string {
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map(part => String(part).padStart(2, '0'))
  const hours = Math.floor(seconds / 3600)
  return hours > 0 ? [hours, ...parts].join(':') : parts.join(':').replace(/^0/, '')
}

/** YouTube refuses angle brackets, and would take `12:30` in a name for another timestamp. */
function asDescription(name: string): string {
  return name
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/(?<=\p{Nd}):(?=\p{Nd})/gu, '꞉')
}
