import { imageUrl } from '../contract/image-urls.ts'
import type { PersonalLine, PersonalMedia } from '../contract/resources/personal-data.ts'
import { isoMillis } from '../kit/time/clock.ts'
import { OTHER_TABLES, PERSONAL_TABLES, personalRows } from '../store/queries/personal-data.ts'
import type { RecordingFile } from '../store/queries/recording-files.ts'
import type { Store } from '../store/store.ts'

/** Rows per read, which bounds how long other requests of this process wait, and the memory of an export. */
const BATCH_SIZE = 500
/** Sizes of files that are asked for at once. */
const CONCURRENCY = 8

/** Sizes of the files of recordings, as far as they can be reached from here; undefined: they cannot, or there is none. */
export interface RecordingSizes {
  recording(file: RecordingFile): Promise<number | undefined>
  /** Of the picture beside the recording, on this node. */
  thumbnail(file: RecordingFile): Promise<number | undefined>
}

interface ExportServices {
  readonly store: Store
  readonly publicUrl: string
  readonly recordingSizes: RecordingSizes
}

/** Writes everything about a person as lines. Each batch is written before the next is read. */
export async function exportPerson(
  { store, publicUrl, recordingSizes }: ExportServices,
  { id, login }: { readonly id: string; readonly login: string },
  now: number,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const rows: Record<string, number> = {}
  const media = { files: 0, bytes: 0 }
  const writeLines = (lines: readonly PersonalLine[]) =>
    write(lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  await writeLines([{ person: { id, login, exported_at: isoMillis(now) } }])
  await store.snapshot(async db => {
    for (const table of PERSONAL_TABLES) {
      const name = table.table
      for await (const batch of personalRows(db, table, id, BATCH_SIZE)) {
        rows[name] = (rows[name] ?? 0) + batch.length
        await writeLines(batch.map(row => ({ table: name, row })))
      }
    }
  })
  // Object storage may take its time: no snapshot of the store waits for it.
  for (let after = { video_id: '', part: 0 }; ; ) {
    const files = await store.recordingFiles.ofUser(id, after, CONCURRENCY)
    const found = (
      await Promise.all(files.map(file => describeMedia(file, publicUrl, recordingSizes)))
    ).flat()
    for (const { bytes } of found) {
      media.files += 1
      media.bytes += bytes ?? 0
    }
    await writeLines(found.map(each => ({ media: each })))
    const last = files.at(-1)
    if (last === undefined || files.length < CONCURRENCY) break
    after = last
  }
  const left_out = Object.entries(OTHER_TABLES).map(([table, { reason }]) => ({ table, reason }))
  await writeLines([{ summary: { rows, media_files: media.files, media_bytes: media.bytes, left_out } }])
}

async function describeMedia(
  file: RecordingFile,
  publicUrl: string,
  sizes: RecordingSizes,
): Promise<PersonalMedia[]> {
  const { video_id, state } = file
  const [bytes, thumbnail] = await Promise.all([sizes.recording(file), sizes.thumbnail(file)])
  const base = file.url === '' ? publicUrl : file.url
  const place = state === 'stored' ? 'object storage' : bytes === undefined ? 'another node' : 'disk'
  const media: PersonalMedia[] = [
    { video_id, kind: 'recording', url: `${base}/videos/${video_id}.mp4`, place, bytes: bytes ?? null },
  ]
  if (thumbnail !== undefined)
    media.push({
      video_id,
      kind: 'thumbnail',
      url: imageUrl(base, 'videos', video_id),
      place: 'disk',
      bytes: thumbnail,
    })
  return media
}
