import type { MarkerFormat } from '../../contract/resources/marker-file.ts'
import { writeCsv } from './csv.ts'
import { writeEdl } from './edl.ts'
import { writeFcpxml } from './fcpxml.ts'
import { writeFfmetadata } from './ffmetadata.ts'
import { writeJson } from './json.ts'
import type { MarkerExport } from './marked-video.ts'
import { writeOtio } from './otio.ts'
import { writeWebvtt } from './webvtt.ts'
import { writeYoutube } from './youtube.ts'

const WRITERS: Readonly<Record<MarkerFormat, (given: MarkerExport) => string>> = {
  csv: writeCsv,
  edl: writeEdl,
  fcpxml: writeFcpxml,
  otio: writeOtio,
  ffmetadata: writeFfmetadata,
  vtt: writeWebvtt,
  youtube: writeYoutube,
  json: writeJson,
}

/** The text of a file with all markers. A video without markers gives a valid file without any. */
export function writeMarkers(format: MarkerFormat, given: MarkerExport): string {
  return WRITERS[format](given)
}
