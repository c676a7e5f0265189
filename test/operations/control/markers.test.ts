import { expect } from 'bun:test'
import { exportVideoMarkers } from '../../../src/contract/control/markers.ts'
import { readCsv, readEdl } from '../../domain/marker-export/readers.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { newMarkedVideo } from '../marked-video.ts'
import { asOperator, naming } from './operator.ts'

const of = (server: TestServer, id: string, query: Ask['query'] = { format: 'csv' }) =>
  asOperator(server, { path: `/control/videos/${id}/markers/export`, query })
const ask = (server: TestServer, id: string, query?: Ask['query']) =>
  send(server, exportVideoMarkers, of(server, id, query))
const valid = async (server: TestServer) => of(server, (await newMarkedVideo(server, [[1, 'one']])).id)

describeOperation(exportVideoMarkers, { valid }, ({ ok, fails }) => {
  ok("exports any user's video, as a file that pages of other sites cannot read", async server => {
    const { id, login } = await newMarkedVideo(server, [
      [10, 'one'],
      [20, 'two'],
    ])
    const { headers, text } = await ask(server, id)
    expect(readCsv(text).map(row => row[4])).toEqual(['description', 'one', 'two'])
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${login}-${id}-markers.csv"`)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  ok('with the timecode of fps', async server => {
    const { id } = await newMarkedVideo(server, [[244, 'the jump']])
    const [event] = readEdl((await ask(server, id, { format: 'edl', fps: '25' })).text).events
    expect(event).toMatchObject({ timecode: '01:04:04:00', name: 'the jump' })
  })

  fails('malformed_parameter', 'with a format that does not exist', async server =>
    ask(server, (await newMarkedVideo(server, [])).id, { format: 'pdf' }),
  )
  fails('not_found', 'when the video does not exist', server => naming('999', ask(server, '999')))
  fails('too_many_markers', 'with more than 10,000 markers', async server => {
    const marks = Array.from({ length: 10_001 }, (_, index) => [index, ''] as const)
    return ask(server, (await newMarkedVideo(server, marks)).id)
  })
})
