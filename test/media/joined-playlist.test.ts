/** Playlists as the store has them, which a node may have written badly. */
import { expect, test } from 'bun:test'
import { joinPlaylists } from '../../src/media/recording/joined-playlist.ts'

const entry = (seconds: string, range: string) => `#EXTINF:${seconds},\n#EXT-X-BYTERANGE:${range}\n1.mp4`
const playlist = (...entries: readonly string[]) =>
  ['#EXTM3U', '#EXT-X-MAP:URI="1.mp4",BYTERANGE="700@28"', ...entries, ''].join('\n')
const timesIn = (text: string) => [...text.matchAll(/^#EXTINF:(.*),$/gm)].map(([, time]) => time)
const join = (text: string) => joinPlaylists([{ uri: '1.mp4', text }], false)

test('an entry without a time is left out', () => {
  for (const time of ['NaN', 'x', '', '-6.00000', '1e9', 'Infinity'])
    expect([time, timesIn(join(playlist(entry(time, '1@0'), entry('6.00000', '2@1'))))]).toEqual([
      time,
      ['6.00000'],
    ])
})

test('gaps are listed, all together for at most a day', () => {
  const gap = (seconds: string) => `#EXT-X-GAP\n${entry(seconds, '1@0')}`
  expect(timesIn(join(playlist(gap('20.00000'), entry('6.00000', '1@0'))))).toEqual([
    '10.00000',
    '10.00000',
    '6.00000',
  ])
  const absurd = Array.from({ length: 20 }, () => [gap('999999999'), entry('6.00000', '1@0')]).flat()
  const times = timesIn(join(playlist(...absurd)))
  expect(times).toHaveLength(8640 + 20)
  expect(times.every(time => Number(time) <= 10)).toBe(true)
})
