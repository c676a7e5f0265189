import { expect } from 'bun:test'
import { exportStreamMarkers } from '../../../src/contract/helix/export-stream-markers.ts'
import { type MarkerFormat, markerFormats } from '../../../src/contract/resources/marker-file.ts'
import { checkOtio, readCsv, readEdl, readWebvtt, readXml } from '../../domain/marker-export/readers.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { latestVideo } from '../control/operator.ts'
import { type Marks, newMarkedVideo } from '../marked-video.ts'
import { tokenOf } from './callers.ts'
import { goOffline, newLiveChannel } from './channels.ts'

const ask = (server: TestServer, changes: Ask = {}) => send(server, exportStreamMarkers, changes)

/** The broadcaster's latest video has 25 markers. */
const valid = async (server: TestServer) => {
  const { id, token } = server.world.broadcaster
  return { token, query: { video_id: await latestVideo(server, id), format: 'csv' } }
}

/** Exports a new video with these markers, as its owner. */
async function exported(server: TestServer, marks: Marks, format: MarkerFormat, fps?: string) {
  const video = await newMarkedVideo(server, marks)
  const token = await tokenOf(server, {
    client_id: server.world.client.id,
    user_id: video.user_id,
    scopes: ['user:read:broadcast'],
  })
  const answer = await ask(server, { token, query: { video_id: video.id, format, fps } })
  expect(answer.status).toBe(200)
  return { answer, video }
}

const numbered = (count: number): Marks =>
  Array.from({ length: count }, (_, index) => [index, `number ${index}`])

describeOperation(exportStreamMarkers, { valid }, ({ ok, fails }) => {
  ok('every format is a file with its type and a safe name, which nothing may keep', async server => {
    const { login } = server.world.broadcaster
    for (const [format, { mediaType, ending }] of Object.entries(markerFormats)) {
      const { token, query } = await valid(server)
      const { status, headers, text } = await ask(server, { token, query: { ...query, format } })
      expect([format, status, headers.get('content-type')]).toEqual([format, 200, mediaType])
      const name = `${login}-${query.video_id}${ending}`
      expect(name).toMatch(/^[\w.-]+$/)
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('access-control-expose-headers')).toContain('Content-Disposition')
      expect(headers.get('access-control-expose-headers')).toContain('Ratelimit-Remaining')
      expect(text.length).toBeGreaterThan(300)
    }
  })

  ok('has all markers that GetStreamMarkers lists, in its order', async server => {
    const { token, query } = await valid(server)
    const listed = await server.call({
      path: '/helix/streams/markers',
      token,
      query: { video_id: query.video_id, first: 100 },
    })
    const { markers } = listed.body.data[0].videos[0]
    expect(markers).toHaveLength(25)
    const { body } = await ask(server, { token, query: { ...query, format: 'json' } })
    expect(body.markers).toEqual(
      markers.map(({ URL: _, ...marker }: { URL: string }) => ({
        ...marker,
        frame: expect.any(Number),
        timecode: expect.stringMatching(/^\d\d:\d\d:\d\d:\d\d$/),
      })),
    )
    const [, ...rows] = readCsv((await ask(server, { token, query })).text)
    expect(rows.map(([id]) => id)).toEqual(markers.map(({ id }: { id: string }) => id))
  })

  ok('reads as many pages as there are markers', async server => {
    const marks = numbered(1200)
    const { answer } = await exported(server, marks, 'csv')
    const [, ...rows] = readCsv(answer.text)
    expect(rows.map(([, seconds]) => Number(seconds))).toEqual(marks.map(([seconds]) => seconds))
  })

  ok('10,000 markers fit into a file', async server => {
    const { answer } = await exported(server, numbered(10_000), 'json')
    expect(answer.body.markers).toHaveLength(10_000)
    expect(answer.body.markers.at(-1).description).toBe('number 9999')
  })

  ok('a video without markers is a valid empty file in every format', async server => {
    const textOf = async (format: MarkerFormat) => (await exported(server, [], format)).answer.text
    expect(readCsv(await textOf('csv'))).toHaveLength(1)
    expect(readEdl(await textOf('edl')).events).toEqual([])
    expect(JSON.stringify(readXml(await textOf('fcpxml')))).not.toContain('"marker"')
    const timeline = JSON.parse(await textOf('otio'))
    checkOtio(timeline)
    expect(timeline.tracks.markers).toEqual([])
    expect(await textOf('ffmetadata')).toStartWith(';FFMETADATA1\n')
    expect(await textOf('ffmetadata')).not.toContain('CHAPTER')
    expect(readWebvtt(await textOf('vtt'))).toEqual([])
    expect(await textOf('youtube')).toContain('# The video has no markers.\n')
    expect(JSON.parse(await textOf('json')).markers).toEqual([])
  })

  ok('fps sets the timecode: 30 without it, drop-frame at 29.97 and 59.94', async server => {
    const codes: string[] = []
    for (const fps of [undefined, '23.976', '24', '25', '29.97', '30', '50', '59.94', '60']) {
      const { answer } = await exported(server, [[3600, 'after an hour']], 'json', fps)
      codes.push(answer.body.markers[0].timecode)
    }
    expect(codes).toEqual([
      '01:00:00:00',
      '00:59:56:10',
      '01:00:00:00',
      '01:00:00:00',
      '01:00:00;00',
      '01:00:00:00',
      '01:00:00:00',
      '01:00:00;00',
      '01:00:00:00',
    ])
  })

  ok('odd descriptions stay inside their field', async server => {
    const marks: Marks = [
      [1, "=cmd|' /C calc'!A0"],
      [2, '"quoted", \r\n\r\n00:00 --> 00:01\u001b[31m'],
      [3, '</marker>]]>&"'],
    ]
    expect(readCsv((await exported(server, marks, 'csv')).answer.text).map(row => row[4])).toEqual([
      'description',
      "'=cmd|' /C calc'!A0",
      '"quoted", \r\n\r\n00:00 --> 00:01[31m',
      '</marker>]]>&"',
    ])
    expect(readWebvtt((await exported(server, marks, 'vtt')).answer.text).map(({ text }) => text)).toEqual([
      "=cmd|' /C calc'!A0",
      '"quoted", 00:00 --> 00:01 [31m',
      '</marker>]]>&"',
    ])
    expect(readEdl((await exported(server, marks, 'edl')).answer.text).events).toHaveLength(3)
    expect(() => readXml('')).toThrow()
    readXml((await exported(server, marks, 'fcpxml')).answer.text)
  })

  ok('a live video can be exported; its duration is the one so far', async server => {
    const channel = await newLiveChannel(server)
    const { token } = channel
    await server.control('PATCH', `/channels/${channel.id}`, { title: 'Reef at dawn' })
    await server.control('POST', '/clock', { advance_seconds: 90 })
    await server.call({
      method: 'POST',
      path: '/helix/streams/markers',
      token,
      body: { user_id: channel.id, description: 'now' },
    })
    const listed = await server.call({
      path: '/helix/streams/markers',
      token,
      query: { user_id: channel.id },
    })
    const { video_id } = listed.body.data[0].videos[0]
    const now = await ask(server, { token, query: { video_id, format: 'json' } })
    expect(now.body.video).toMatchObject({ id: video_id, user_login: channel.login, is_live: true })
    expect(now.body.video.duration_seconds).toBeWithin(90, 110)
    expect(now.body.video.url).toBe(`${server.url}/videos/${video_id}`)
    await goOffline(server, channel.id)
    const over = await ask(server, { token, query: { video_id, format: 'json' } })
    expect(over.body.video).toMatchObject({ is_live: false, title: 'Reef at dawn' })
    expect(over.body.markers).toEqual(now.body.markers)
  })

  ok('an editor may export, with either scope', async server => {
    const { client, editor } = server.world
    for (const scope of ['user:read:broadcast', 'channel:manage:broadcast']) {
      const token = await tokenOf(server, { client_id: client.id, user_id: editor.id, scopes: [scope] })
      const { query } = await valid(server)
      expect((await ask(server, { token, query })).status).toBe(200)
    }
  })

  fails('malformed_parameter', 'with a format that does not exist', async server => {
    const { token, query } = await valid(server)
    const answer = await ask(server, { token, query: { ...query, format: 'xlsx' } })
    expect(answer.body.message).toContain('"csv", "edl", "fcpxml", "otio"')
    return answer
  })
  for (const fps of ['0', '12', '29.970', '1e1', '-30', 'NaN', '30000/1001']) {
    fails('malformed_parameter', `with ${fps} frames per second`, async server => {
      const { token, query } = await valid(server)
      return ask(server, { token, query: { ...query, fps } })
    })
  }
  fails('video_not_found', 'when the video does not exist', async server =>
    ask(server, { ...(await valid(server)), query: { video_id: '999', format: 'csv' } }),
  )
  fails('video_not_found', 'when the id is not a number', async server =>
    ask(server, { ...(await valid(server)), query: { video_id: '../x', format: 'csv' } }),
  )
  fails('channel_forbidden', 'when the caller is neither broadcaster nor editor', async server =>
    ask(server, { ...(await valid(server)), token: server.world.viewer.token }),
  )
  fails('too_many_markers', 'with more than 10,000 markers', async server => {
    const video = await newMarkedVideo(server, numbered(10_001))
    const token = await tokenOf(server, {
      client_id: server.world.client.id,
      user_id: video.user_id,
      scopes: ['user:read:broadcast'],
    })
    return ask(server, { token, query: { video_id: video.id, format: 'youtube' } })
  })
})
