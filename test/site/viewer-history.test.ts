import { expect, test } from 'bun:test'
import { addPoint, readHistory } from '../../src/site/charts/viewer-history.ts'

const START = Date.parse('2026-03-01T12:00:00Z')
const stream = (viewer_count: number, id = '1') => ({ id, viewer_count })

test('a point per call, in order of time, and none if the clock was set back', () => {
  let history = readHistory(stream(3), START)
  history = addPoint(history, stream(5), START + 3000)
  history = addPoint(history, stream(7), START + 2000)
  history = addPoint(history, stream(9), START + 6000)
  expect(history.viewers).toEqual([3, 5, 9])
  expect(history.times).toEqual([0, 3, 6].map(seconds => START / 1000 + seconds))
})

test('another stream starts over; without a stream there is nothing', () => {
  expect(readHistory(undefined, START)).toEqual({ stream_id: '', times: [], viewers: [] })
  expect(addPoint(readHistory(stream(3), START), stream(1, '2'), START + 3000).viewers).toEqual([1])
})

test('two hours are kept', () => {
  let history = readHistory(stream(0), START)
  for (let point = 1; point < 3000; point++) history = addPoint(history, stream(point), START + point * 3000)
  expect([history.times.length, history.viewers[0], history.viewers.at(-1)]).toEqual([2400, 600, 2999])
})
