import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { Bucket, objectKey, toBucketOptions } from '../media/bucket.ts'
import { Recordings } from '../media/recording/recordings.ts'
import type { Services } from '../operations/implement.ts'
import type { RecordingFile } from '../store/queries/recording-files.ts'

/** Looks into the folder of this node and into object storage. What does not answer has no size. */
export function createRecordingSizes({
  dataFolder,
  objectStorage,
}: Pick<Config, 'dataFolder' | 'objectStorage'>): Services['recordingSizes'] {
  const recordings = new Recordings({ folder: join(dataFolder, 'recordings'), maxBytes: 0 })
  const bucketOptions = toBucketOptions(objectStorage)
  const bucket = bucketOptions && new Bucket(bucketOptions)
  const isHere = async ({ folder }: RecordingFile) => folder === (await recordings.folderId())
  const sizeOnDisk = (path: string) =>
    stat(path).then(
      ({ size }) => size,
      () => undefined,
    )
  return {
    async recording(file) {
      if (file.state === 'stored') return bucket?.size(objectKey(file)).catch(() => undefined)
      return (await isHere(file)) ? sizeOnDisk(recordings.filePath(file.video_id)) : undefined
    },
    async thumbnail(file) {
      return (await isHere(file)) ? sizeOnDisk(recordings.thumbnailPath(file.video_id)) : undefined
    },
  }
}
