/** The grammar of input (D-11, D-12), read straight from the reader that every operation is given. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { open } from '../../src/contract/access.ts'
import { patchChannel } from '../../src/contract/control/channels.ts'
import { grantEntitlements } from '../../src/contract/control/entitlements.ts'
import { createStreamMarker } from '../../src/contract/helix/create-stream-marker.ts'
import { getDropsEntitlements } from '../../src/contract/helix/get-drops-entitlements.ts'
import { getStreamMarkers } from '../../src/contract/helix/get-stream-markers.ts'
import { getStreams } from '../../src/contract/helix/get-streams.ts'
import { updateDropsEntitlements } from '../../src/contract/helix/update-drops-entitlements.ts'
import { defineOperation } from '../../src/contract/operation.ts'
import { Problem, type ProblemName } from '../../src/contract/problem.ts'
import { Type } from '../../src/contract/schema.ts'
import type { Fields } from '../../src/domain/input.ts'
import { createInputReader, parseJsonObject, parseQuery } from '../../src/http/endpoint/parse.ts'
import { anyCharacter, runs } from '../support/properties.ts'

const streams = createInputReader(getStreams)
const markers = createInputReader(getStreamMarkers)
const drops = createInputReader(getDropsEntitlements)
const marker = createInputReader(createStreamMarker)
const update = createInputReader(updateDropsEntitlements)

const query = (search: string): Fields => streams.query(search)

/** How the value of a parameter is decoded. */
const decode = (text: string): string => parseQuery(`x=${text}`)[0]?.[1] ?? ''

/** The problem that this ends in. */
function problemOf(work: () => unknown): { name: ProblemName; message: string } {
  try {
    work()
  } catch (thrown) {
    if (thrown instanceof Problem) return { name: thrown.name, message: thrown.message }
    throw thrown
  }
  throw new Error('it went well')
}

const AN_INTEGER = 'The parameter "first" was malformed: the value must be an integer'
const AT_LEAST_1 = 'The parameter "first" was malformed: the value must be greater than or equal to 1'
const AT_MOST_100 = 'The parameter "first" was malformed: the value must be less than or equal to 100'

describe('first', () => {
  for (const [text, value] of [
    ['1', 1],
    ['5', 5],
    ['20', 20],
    ['99', 99],
    ['100', 100],
    ['%31%30', 10],
    ['', undefined],
  ] as const) {
    test(`first=${text} is ${value ?? 'absent'}`, () => {
      expect(query(`first=${text}`).first).toBe(value)
    })
  }

  for (const [text, message] of [
    ['0', AT_LEAST_1],
    ['101', AT_MOST_100],
    ['1000', AT_MOST_100],
    ['999999999', AT_MOST_100],
    ['1e2', AN_INTEGER],
    ['0x10', AN_INTEGER],
    ['%2B5', AN_INTEGER],
    ['+5', AN_INTEGER],
    ['05', AN_INTEGER],
    ['00', AN_INTEGER],
    ['%205', AN_INTEGER],
    ['5%20', AN_INTEGER],
    ['5%0A', AN_INTEGER],
    ['5.0', AN_INTEGER],
    ['5,0', AN_INTEGER],
    ['-0', AN_INTEGER],
    ['-1', AN_INTEGER],
    ['%D9%A3', AN_INTEGER],
    ['%EF%BC%95', AN_INTEGER],
    ['%C2%B2', AN_INTEGER],
    ['9007199254740993', AN_INTEGER],
    ['1000000000', AN_INTEGER],
    ['Infinity', AN_INTEGER],
    ['NaN', AN_INTEGER],
    ['null', AN_INTEGER],
    ['true', AN_INTEGER],
    ['[5]', AN_INTEGER],
    ['5%00', AN_INTEGER],
    ['1_0', AN_INTEGER],
    ['%20', AN_INTEGER],
  ] as const) {
    test(`first=${text} is refused`, () => {
      expect(problemOf(() => query(`first=${text}`))).toEqual({ name: 'malformed_parameter', message })
    })
  }

  test('property: no text is ever taken for a number that it does not spell', () => {
    const texts = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 6 }).map(text => text.toWellFormed()),
      fc.stringMatching(/^[-+ 0-9.eExX_]{1,6}$/),
      fc.integer().map(String),
      fc.double().map(String),
    )
    fc.assert(
      fc.property(texts, text => {
        fc.pre(text !== '')
        const read = () => query(`first=${encodeURIComponent(text)}`).first
        const number = Number(text)
        if (/^[1-9][0-9]{0,2}$/.test(text) && number <= 100) expect(read()).toBe(number)
        else expect(problemOf(read).name).toBe('malformed_parameter')
      }),
      { numRuns: runs(3000) },
    )
  })
})

describe('scalars', () => {
  test('one given twice is refused, even with the same value', () => {
    for (const [reader, name] of [
      [streams, 'first'],
      [streams, 'after'],
      [streams, 'before'],
      [streams, 'type'],
      [markers, 'user_id'],
      [markers, 'video_id'],
      [drops, 'game_id'],
      [drops, 'fulfillment_status'],
    ] as const) {
      const problem = problemOf(() => reader.query(`${name}=1&${name}=1`))
      expect(problem).toMatchObject({ name: 'repeated_parameter' })
      expect(problem.message).toContain(`"${name}"`)
    }
  })

  test('an empty value counts as absent, also beside a full one', () => {
    expect(query('after=&before=&type=&first=&user_id=')).toEqual({})
    expect(query('first=&first=7&first=')).toEqual({ first: 7 })
    expect(query('first')).toEqual({})
    expect(problemOf(() => markers.query('user_id=&video_id=')).name).toBe('not_exactly_one')
    expect(markers.query('user_id=&video_id=5')).toEqual({ video_id: '5' })
  })

  test('an enumeration names what it takes', () => {
    expect(problemOf(() => query('type=vodcast')).message).toBe(
      'The parameter "type" was malformed: value must be one of "all", "live"',
    )
    expect(problemOf(() => query('type=LIVE')).name).toBe('malformed_parameter')
    expect(problemOf(() => drops.query('fulfillment_status=claimed')).name).toBe('malformed_parameter')
  })

  test('unknown names are ignored, however often and whatever they hold', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string())), pairs => {
        const known = new Set(Object.keys(query('')).concat(Object.keys(getStreams.query.properties)))
        const unknown = pairs.filter(
          ([name]) => !known.has(name) && !['first', 'after', 'before'].includes(name),
        )
        const search = unknown.map(pair => pair.map(encode).join('=')).join('&')
        expect(query(`${search}&first=3`)).toEqual({ first: 3 })
      }),
    )
    expect(query('__proto__=1&constructor=2&toString=3&hasOwnProperty=4')).toEqual({})
  })
})

describe('lists', () => {
  test('repeated keys in their order; commas and brackets are data', () => {
    expect(query('user_id=2&user_id=1&user_id=2')).toEqual({ user_id: ['2', '1', '2'] })
    expect(query('user_id=1,2,3')).toEqual({ user_id: ['1,2,3'] })
    expect(query('user_id[]=1&user_id%5B%5D=2')).toEqual({})
    expect(query('user_id=&user_id=1&user_id=')).toEqual({ user_id: ['1'] })
  })

  test('at most 100 values of a key', () => {
    for (const name of ['user_id', 'user_login', 'game_id', 'language']) {
      const values = (count: number) => Array.from({ length: count }, (_, n) => `${name}=${n}`).join('&')
      expect(query(values(100))[name]).toHaveLength(100)
      expect(problemOf(() => query(values(101)))).toEqual({
        name: 'malformed_parameter',
        message: `The parameter "${name}" was malformed: the value must be less than or equal to 100`,
      })
    }
  })

  test('the refusal of a list of the operator states how many entries it may have, and which is wrong', () => {
    const channel = createInputReader(patchChannel)
    const why = (tags: unknown) => problemOf(() => channel.body({ tags }, [])).message
    const tags = 'The parameter "tags" was malformed:'
    expect(why(Array(11).fill('Sea'))).toBe(`${tags} the value must have at most 10 entries`)
    expect(why(['Sea', ''])).toBe(`${tags} entry 2 must be at least 1 characters`)
    expect(why('Sea')).toBe(`${tags} the value must be an array`)
    const grants = problemOf(() => createInputReader(grantEntitlements).body({ grants: [] }, []))
    expect(grants.message).toBe(
      'The parameter "grants" was malformed: the value must have 1 to 1,000 entries',
    )
  })

  test('any list of texts comes out as it went in', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter(each => !each.includes('\0') && each.isWellFormed())
    const lists = fc.record({
      user_id: fc.array(text, { minLength: 1, maxLength: 100 }),
      user_login: fc.array(text, { minLength: 1, maxLength: 100 }),
    })
    fc.assert(
      fc.property(lists, fc.boolean(), (given, form) => {
        const search = Object.entries(given)
          .flatMap(([name, values]) => values.map(value => `${name}=${encode(value)}`))
          .join('&')
        expect(query(form ? search.replaceAll('%20', '+') : search)).toEqual(given)
      }),
    )
  })

  test('entitlement ids are UUIDs in either case, else refused', () => {
    const id = 'FB78259E-fb81-4d1b-8333-34a06ffc24c0'
    expect(drops.query(`id=${id}`)).toEqual({ id: [id] })
    for (const bad of ['x', `${id}0`, id.replaceAll('-', ''), `{${id}}`, `${id}%0A`]) {
      expect(problemOf(() => drops.query(`id=${id}&id=${bad}`)).name).toBe('malformed_parameter')
    }
  })
})

describe('decoding', () => {
  test('is that of forms: percent and plus, once', () => {
    expect(decode('a+b%20c%2Bd')).toBe('a b c+d')
    expect(decode('%2525')).toBe('%25')
    expect(decode('%f0%9f%98%80')).toBe('😀')
    expect(decode('')).toBe('')
  })

  test('property: any well-formed text survives it', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), text => {
        fc.pre(text.isWellFormed())
        expect(decode(encodeURIComponent(text))).toBe(text)
        expect(decode(encodeURIComponent(text).replaceAll('%20', '+'))).toBe(text)
      }),
      { numRuns: runs(1000) },
    )
  })

  test('property: any bytes decode exactly if they are UTF-8, and are refused if not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), bytes => {
        const text = [...bytes].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')
        let expected: string | undefined
        try {
          expected = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
        } catch {
          expected = undefined
        }
        if (expected === undefined) expect(problemOf(() => decode(text)).name).toBe('malformed_query')
        else expect(decode(text)).toBe(expected)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('%FF, cut-off sequences, surrogates and overlong forms are refused, in names too', () => {
    for (const bad of ['%FF', '%C3', '%', '%4', '%zz', '%ED%A0%80', '%C0%80', '%F5%80%80%80', '%u0041']) {
      for (const search of [`user_id=${bad}`, `unknown=${bad}`, `${bad}=1`, bad]) {
        expect(problemOf(() => query(search)).name).toBe('malformed_query')
      }
    }
  })

  test('U+0000 is refused where a value counts', () => {
    for (const search of ['user_id=%00', 'user_login=a%00b', 'after=%00']) {
      expect(problemOf(() => query(search)).name).toBe('malformed_parameter')
    }
  })

  test('pairs are split at & and at the first =', () => {
    expect(parseQuery('')).toEqual([])
    expect(parseQuery('&&')).toEqual([])
    expect(parseQuery('a=1&&b=2&')).toEqual([
      ['a', '1'],
      ['b', '2'],
    ])
    expect(parseQuery('a=b=c&d&=e')).toEqual([
      ['a', 'b=c'],
      ['d', ''],
      ['', 'e'],
    ])
    expect(parseQuery('a=1;b=2')).toEqual([['a', '1;b=2']])
    expect(parseQuery('?a=1')).toEqual([['?a', '1']])
  })

  test('property: a query string without encoding is read as the same one beside an encoded piece', () => {
    const piece = fc.oneof(
      fc
        .tuple(
          fc.constantFrom(
            'first',
            'after',
            'user_id',
            'user_logi',
            'user_logins',
            'user_login',
            'game_id',
            'x',
          ),
          fc.constantFrom('', '=', '==', '=5', '=5=', '=abc'),
        )
        .map(parts => parts.join('')),
      fc.stringMatching(/^[a-z_=.~!-]{0,8}$/),
    )
    const outcomeOf = (search: string) => {
      try {
        return query(search)
      } catch (thrown) {
        if (thrown instanceof Problem) return thrown.message
        throw thrown
      }
    }
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
        const search = pieces.join('&')
        expect(outcomeOf(search)).toEqual(outcomeOf(`${search}&%20`))
      }),
      { numRuns: runs(2000) },
    )
  })

  test('pairs of any names and values come back from their encoding', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 })
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), pairs => {
        fc.pre(pairs.every(([name, value]) => name.isWellFormed() && value.isWellFormed()))
        const search = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
        expect(parseQuery(search)).toEqual(pairs)
        expect(parseQuery(new URLSearchParams(pairs).toString())).toEqual(pairs)
      }),
    )
  })
})

describe('bodies', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  test('an object or nothing; everything else is malformed', () => {
    expect(parseJsonObject(new Uint8Array())).toEqual({})
    expect(parseJsonObject(bytes(' {"a":1} '))).toEqual({ a: 1 })
    for (const bad of ['[]', 'null', '1', '"a"', 'true', '{', '{}x', ' ', "{'a':1}", '{"a":1,}']) {
      expect(problemOf(() => parseJsonObject(bytes(bad))).name).toBe('malformed_json')
    }
    expect(problemOf(() => parseJsonObject(Uint8Array.of(0x7b, 0xff, 0x7d))).name).toBe('malformed_json')
  })

  test('property: any JSON value is read as JSON reads it, or refused', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = JSON.stringify(value)
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        if (isObject) expect(parseJsonObject(bytes(text))).toEqual(JSON.parse(text))
        else expect(problemOf(() => parseJsonObject(bytes(text))).name).toBe('malformed_json')
      }),
      { numRuns: runs(500) },
    )
  })

  test('known keys are picked, all others leave no trace', () => {
    const json = JSON.parse(
      '{"__proto__":{"entitlement_ids":["x"]},"constructor":1,"id":"1","entitlement_ids":["a"],"fulfillment_status":"CLAIMED"}',
    )
    expect(update.body(json, [])).toEqual({ entitlement_ids: ['a'], fulfillment_status: 'CLAIMED' })
    expect(problemOf(() => update.body(JSON.parse('{"__proto__":{"entitlement_ids":["x"]}}'), [])).name).toBe(
      'missing_parameter',
    )
  })

  test('1 to 100 ids, of strings, and one of two statuses', () => {
    const body = (entitlement_ids: unknown, fulfillment_status: unknown = 'CLAIMED') =>
      update.body({ entitlement_ids, fulfillment_status }, [])
    const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n))
    expect(body(ids(1)).entitlement_ids).toHaveLength(1)
    expect(body(ids(100)).entitlement_ids).toHaveLength(100)
    for (const bad of [[], ids(101), 'a', [1], [null], [['a']], [{}], {}, null, 5, ['a\0'], ['\ud800']]) {
      expect(problemOf(() => body(bad)).name).toBe('malformed_parameter')
    }
    for (const bad of ['claimed', '', null, 1, ['CLAIMED'], true]) {
      expect(problemOf(() => body(ids(1), bad)).name).toBe('malformed_parameter')
    }
  })

  test('a marker: id as text or number, description of 140 code points, absent in three ways', () => {
    expect(marker.body({ user_id: 141981764 }, [])).toEqual({ user_id: '141981764' })
    expect(marker.body({ user_id: '1', description: null }, [])).toEqual({ user_id: '1' })
    expect(marker.body({ user_id: '1', description: '' }, [])).toEqual({ user_id: '1' })
    const smile = '😀'.repeat(140)
    expect(marker.body({ user_id: '1', description: smile }, [])).toEqual({
      user_id: '1',
      description: smile,
    })
    expect(problemOf(() => marker.body({ user_id: '1', description: `${smile}x` }, [])).message).toBe(
      'The parameter "description" was malformed: the value must be at most 140 characters',
    )
    for (const bad of [1.5, 2 ** 53, Number.POSITIVE_INFINITY, true, {}, ['1']]) {
      expect(problemOf(() => marker.body({ user_id: bad }, [])).name).toBe('malformed_parameter')
    }
  })

  test('a marker from the query, from the body, or mixed; two different values of one field are refused', () => {
    const both = { user_id: '1', description: 'hello you' }
    expect(marker.body({}, parseQuery('user_id=1&description=hello+you'))).toEqual(both)
    expect(marker.body({ description: 'hello you' }, parseQuery('user_id=1'))).toEqual(both)
    expect(marker.body({ user_id: '1' }, parseQuery('user_id=1&description=hello%20you'))).toEqual(both)
    expect(problemOf(() => marker.body({ user_id: '1' }, parseQuery('user_id=2'))).name).toBe(
      'repeated_parameter',
    )
    expect(problemOf(() => marker.body({}, parseQuery('user_id=1&user_id=2'))).name).toBe(
      'repeated_parameter',
    )
    expect(problemOf(() => marker.body({ user_id: '' }, [])).message).toBe(
      'Missing required parameter "user_id"',
    )
  })
})

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

describe('parameters that name rows (D-62)', () => {
  const named = createInputReader(
    defineOperation('GET /helix/users', {
      id: 'Named',
      summary: '',
      access: open,
      query: Type.Object({
        id: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
        login: Type.Optional(Type.Array(Type.String(), { maxItems: 100, emptyIsValue: true })),
        description: Type.Optional(Type.String({ emptyIsValue: true })),
      }),
      lookUpBy: ['id', 'login'],
      problems: [],
      example: {},
    }),
  )
  const read = (search: string) => named.query(search)
  const many = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}=${n}`)
  const tooMany = (name: string) =>
    `The parameter "${name}" was malformed: the value must be less than or equal to 100`

  test('a hundred values are accepted, over all of them together', () => {
    expect(read(many('id', 100).join('&')).id).toHaveLength(100)
    const mixed = read([...many('login', 40), ...many('id', 60)].join('&'))
    expect([(mixed.id as string[]).length, (mixed.login as string[]).length]).toEqual([60, 40])
  })

  test('one more is refused, and the message names the first that was sent', () => {
    const messageOf = (...pairs: string[]) => problemOf(() => read(pairs.join('&'))).message
    expect(messageOf(...many('id', 101))).toBe(tooMany('id'))
    expect(messageOf(...many('login', 101))).toBe(tooMany('login'))
    expect(messageOf('login=x', ...many('id', 100))).toBe(tooMany('login'))
    expect(messageOf('id=1', ...many('login', 100))).toBe(tooMany('id'))
    expect(messageOf('description=x', 'login=x', ...many('id', 200))).toBe(tooMany('login'))
  })

  test('an empty value counts only where that is declared', () => {
    expect(read('id=&id=')).toEqual({})
    expect(read('id=&login=&login=x&description=')).toEqual({ login: ['x'], description: '' })
    expect(read('login=&login=')).toEqual({ login: [] })
    expect(read(`${'login=&'.repeat(150)}${many('id', 100).join('&')}`)).toMatchObject({ login: [] })
    expect(problemOf(() => read('description=&description=')).name).toBe('repeated_parameter')
  })
})
