/** Connections that each send requests around in a circle, the next when the last is answered, or at a fixed rate. */
import { HttpConnection, type RawAnswer } from '../load/http-connection.ts'
import { requestBytes } from '../load/request-bytes.ts'
import type { BenchRequest } from '../scenarios/scenario.ts'

export interface ConnectionsPlan {
  readonly url: string
  readonly seconds: number
  /** The requests of each connection. */
  readonly circles: readonly (readonly BenchRequest[])[]
  /** Of all connections; as many as are answered if left out. */
  readonly perSecond?: number
}

/** Sends until the time is over and gives how many were answered. An answer other than 2xx is an error. */
export async function sendAround(
  { url, seconds, circles, perSecond }: ConnectionsPlan,
  onAnswer: (answer: RawAnswer) => void = () => undefined,
): Promise<{ answered: number; seconds: number }> {
  const address = new URL(url)
  const began = performance.now()
  let answered = 0
  await Promise.all(
    circles.map(async (circle, index) => {
      const connection = await HttpConnection.open(address.hostname, Number(address.port), () => undefined)
      const requests = circle.map(each => requestBytes(address, each))
      for (let turn = 0; performance.now() - began < seconds * 1000; turn++) {
        const request = requests[turn % requests.length]
        if (request === undefined) throw new Error('a circle needs a request')
        if (perSecond !== undefined) {
          const due = began + ((turn * circles.length + index) * 1000) / perSecond
          await Bun.sleep(Math.max(0, due - performance.now()))
        }
        const { promise, resolve } = Promise.withResolvers<RawAnswer | 'broken'>()
        connection.ask(request, resolve)
        const answer = await promise
        if (answer === 'broken') throw new Error('the connection broke')
        if (answer.status > 299) throw new Error(`answered ${answer.status}: ${answer.body()}`)
        onAnswer(answer)
        answered += 1
      }
      connection.close()
    }),
  )
  return { answered, seconds: (performance.now() - began) / 1000 }
}
